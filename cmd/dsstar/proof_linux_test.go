package main

import (
	"os"
	"testing"

	"dsstar/kernel/sandbox"
)

// TestProofApart: nothing that has run a cell has a part in the proof.
func TestProofApart(t *testing.T) {
	for file, reason := range map[string]string{
		"forgery.py":      "the script printed another answer",        // no cell has a hand in what is read of the script
		"channels.py":     "the fresh session printed another answer", // nothing outlives a session that could tell the proof
		"surroundings.py": "the script printed another answer",        // not the session: to a cell it is the run's own
	} {
		for _, tier := range []string{"builtin", "full"} {
			t.Run(file+" "+tier, func(t *testing.T) {
				t.Parallel()
				if _, _, err := sandbox.Choose(tier); err != nil {
					t.Skip(err)
				}
				code, err := os.ReadFile("testdata/" + file)
				if err != nil {
					t.Fatal(err)
				}
				m := counting()
				m["coder"] = say(cell(string(code)))
				ask(t, dataFolder(t, numbers), m.serve(t).URL, "--sandbox", tier).expect(exitNotVerified, reason)
			})
		}
	}
}
