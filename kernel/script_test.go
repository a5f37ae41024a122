package kernel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// TestRunScript: whether this program or a kernel starts a script, its result says how it ended and
// what it printed last.
func TestRunScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Spec: PythonSpec(pyenvtest.Python(t)), Dir: dir, Scratch: filepath.Join(dir, "files"),
		Env: append(os.Environ(), "PYTHONHASHSEED=0"), Outputs: Outputs{Secrets: []string{`pass"word`}}}
	k, err := Start(t.Context(), o)
	ok(t, err)
	defer k.Close()
	for name, c := range map[string]struct {
		code        string
		limit       time.Duration
		status      notebook.Status
		out, stderr string
	}{
		"ends": {"import os\nprint('é', os.environ['MPLBACKEND'], 'PYTHONHASHSEED' in os.environ)",
			time.Minute, notebook.OK, "é agg False\n", ""},
		"raises": {"print(1)\nraise KeyError('x')", time.Minute, notebook.Raised, "1\n",
			"KeyError: 'x'\n"},
		"hides": {"print('it is pass\"word')\nraise KeyError('of pass\"word')", time.Minute,
			notebook.Raised, "it is xxxxx\n", "KeyError: 'of xxxxx'\n"},
		"is cut":   {"print('x' * (3 << 20))\nprint('end')", time.Minute, notebook.OK, "x\nend\n", ""},
		"too long": {"import time\ntime.sleep(60)", time.Millisecond, notebook.TimedOut, "", ""},
	} {
		path := filepath.Join(dir, "solution.py")
		ok(t, os.WriteFile(path, []byte(c.code), 0o600))
		for _, byKernel := range []bool{false, true} {
			var x notebook.Execution
			if byKernel {
				x, err = k.RunScript(t.Context(), path, c.limit)
			} else {
				x, err = RunScript(t.Context(), o, path, c.limit)
			}
			out, words := x.Stdout(), x.Stream("stderr")
			if err != nil || x.Status != c.status || !strings.HasSuffix(out, c.out) ||
				!strings.HasSuffix(words, c.stderr) || len(out) > scriptKept {
				last := out[max(0, len(out)-100):]
				t.Errorf("%s, by a kernel %v: %v, %s %q %q", name, byKernel, err, x.Status, last, words)
			}
		}
	}
	launched := Options{Spec: Spec{Name: "odd", Argv: []string{"kernel.sh", "{connection_file}"}}}
	_, err = RunScript(t.Context(), launched, "x.py", time.Minute)
	fails(t, err, errors.ErrUnsupported)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = RunScript(ctx, o, filepath.Join(dir, "solution.py"), time.Minute)
	fails(t, err, context.Canceled)
}
