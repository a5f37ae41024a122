package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
)

// TestProofApart: nothing that has run a cell can influence the proof. For channels.py the run
// folder is in the data.
func TestProofApart(t *testing.T) {
	t.Parallel()
	for file, reason := range map[string]string{
		// no cell can change how the script is read
		"forgery.py": "the script printed another answer",
		// nothing outlives a session to reach the proof
		"channels.py": "the fresh session printed another answer",
		// to a cell, the fresh session looks like the run's
		"surroundings.py": "the script printed another answer",
	} {
		for _, tier := range []string{"builtin", "full"} {
			t.Run(file+" "+tier, func(t *testing.T) {
				t.Parallel()
				if tier == "builtin" || file == "surroundings.py" {
					pyenvtest.Long(t)
				}
				if _, _, err := sandbox.Choose(tier); err != nil {
					t.Skip(err)
				}
				code := must(os.ReadFile("testdata/" + file))
				m := counting()
				m["cell"] = say(cell(string(code)))
				m["arbiter"] = say("Ruling: same\nReason: nothing but the proof finds a difference.")
				data := dataFolder(t,
					map[string]string{"numbers.csv": numbers["numbers.csv"], "dsstar-runs/.gitignore": "*\n"})
				out := filepath.Join(t.TempDir(), "run")
				if file == "channels.py" {
					out = filepath.Join(data, "dsstar-runs/run")
				}
				runNB(t, []string{live}, out, "--data", data, "--base-url", m.serve(t).URL, "--python",
					pyenvtest.Python(t), "--sandbox", tier).expect(exitNotVerified, reason)
			})
		}
	}
}

func TestHidePasswords(t *testing.T) {
	const address = "--data=postgresql://reader:secret@host/sales"
	args := []string{strings.Clone("nb"), strings.Clone(address)}
	if copies := hidePasswords(args); copies[0] != "nb" || copies[1] != address {
		t.Errorf("copies %q", copies)
	}
	if args[0] != "nb" || strings.Contains(args[1], "secret") || !strings.Contains(args[1], "host/sales") {
		t.Errorf("originals %q", args)
	}
}
