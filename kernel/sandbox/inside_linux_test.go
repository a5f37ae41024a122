package sandbox_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
)

// A Box can be the sandbox of a kernel, and explains what it causes.
var _ interface {
	kernel.Sandbox
	kernel.Advisor
} = sandbox.Box{}

// TestInside runs programs that try what processes of a box can do, and what not, and end with "all
// is well": read the files of /proc about their session, if the guard opens files for them; send
// signals to their session; and find, in full, a file system and a network of their own.
func TestInside(t *testing.T) {
	t.Parallel()
	python := userPython(t)
	base := must(filepath.EvalSymlinks(t.TempDir()))
	own := base + "/read/runs/own"
	folders(t, own+"/files")
	v := newVictims(t)
	for _, c := range []struct {
		program  string
		tier     sandbox.Tier
		landlock int // up to 5, the guard is asked about signals
	}{
		{"facts", sandbox.Builtin, 0}, {"facts", sandbox.Builtin, 5}, {"signals", sandbox.Builtin, 0},
		{"signals", sandbox.Builtin, 5}, {"view", sandbox.Full, 0},
	} {
		t.Run(fmt.Sprint(c.program, c.landlock), func(t *testing.T) {
			code := must(os.ReadFile("testdata/" + c.program + ".py"))
			box := boxIn(t, c.tier, base+"/read")
			box.Limits.Memory, box.Own, box.Multiprocessing = 1<<30, []string{own}, c.program == "signals"
			work := t.TempDir()
			s := session(t, work, own+"/files")
			s.Facts = c.program == "facts"
			cmd := command(t, box, s, work, os.Environ(), python, "-c",
				fmt.Sprintf("OUTSIDE, OLD, OWN = %d, %d, %q\n%s", v.targets["victim"], c.landlock, own, code))
			withStage(t, cmd, "ABI", c.landlock)
			if words := strings.TrimSpace(run(cmd)); words != "all is well" {
				t.Error(words)
			}
		})
	}
	v.unharmed(t)
}

// TestCompatibility: what cells of an analysis do works without a sandbox and in full, and in
// builtin except for what the documentation names.
func TestCompatibility(t *testing.T) {
	pyenvtest.Long(t)
	var cells [][3]string
	ok(t, json.Unmarshal([]byte(outputOf(t, "python3", "testdata/compat.py")), &cells))
	if len(cells) != 29 {
		t.Errorf("%d cells", len(cells))
	}
	v := newVictims(t)
	for _, box := range append(boxes(t, v.data), sandbox.Box{Tier: sandbox.Off}) {
		t.Run(string(box.Tier), func(t *testing.T) {
			k, err := kernel.Start(t.Context(), kernel.Options{
				Spec: kernel.PythonSpec(pyenvtest.Python(t)), Dir: v.work, Scratch: v.work, Env: os.Environ(),
				Sandbox: box,
			})
			ok(t, err)
			defer func() { _ = k.Close() }()
			failed := map[string]string{}
			for _, cell := range append([][3]string{{"targets", v.python(), "^$"}}, cells...) {
				name, code, expected := cell[0], cell[1], cell[2]
				if out := output(t, k, code); !regexp.MustCompile(expected).MatchString(out) {
					failed[name] = out
				}
			}
			if !slices.Equal(slices.Sorted(maps.Keys(failed)), incompatibleWith[box.Tier]) {
				t.Errorf("these do not work: %q", failed)
			}
			v.unharmed(t)
		})
	}
}

// incompatibleWith is what docs/sandbox.md names.
var incompatibleWith = map[sandbox.Tier][]string{sandbox.Builtin: {
	"multiprocessing manager", "multiprocessing pool", "multiprocessing queue", "print in a child",
	"scikit-learn with n_jobs", // one after the other, with a warning
	"shared memory",
}}

// output runs a cell and returns all its outputs as text.
func output(t testing.TB, k *kernel.Kernel, code string) string {
	t.Helper()
	e, err := k.ExecuteCell(t.Context(), kernel.Cell{Code: code, Timeout: time.Minute})
	ok(t, err)
	return strings.TrimSpace(e.PlainText())
}
