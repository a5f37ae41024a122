package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"sync"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
)

// serve runs one line of JSON text at a time and prints what it printed.
const serve = `
import contextlib, io, json, sys, traceback
real = sys.stdout
space = {"__name__": "__main__"}
for line in sys.stdin:
    out, error = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(json.loads(line), space)
        except BaseException:
            error = traceback.format_exc()
    print(json.dumps([out.getvalue(), error]), file=real, flush=True)
`

// python is a Python session with the managed packages, one for all tests.
func python(t *testing.T) Python {
	t.Helper()
	if testing.Short() {
		t.Skip("needs Python")
	}
	onePython.Do(func() { onePython.run, onePython.err = startPython(pyenvtest.Python(t)) })
	if onePython.err != nil {
		t.Fatal(onePython.err)
	}
	return onePython.run
}

var onePython struct {
	sync.Once
	run Python
	err error
}

// startPython starts a session which ends with the test program, whose closing
// of the pipe it sees.
func startPython(path string) (Python, error) {
	cmd := exec.Command(path, "-c", serve)
	cmd.Env = append(cmd.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "PYTHONHASHSEED=0", "MPLBACKEND=Agg")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	return func(ctx context.Context, code string) (string, error) {
		stop := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
		defer stop.Stop()
		text, err := json.Marshal(code)
		if err != nil {
			return "", err
		}
		if _, err := in.Write(append(text, '\n')); err != nil {
			return "", err
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return "", err
		}
		var answer [2]string
		if err := json.Unmarshal(line, &answer); err != nil {
			return "", err
		}
		if answer[1] != "" {
			return answer[0], errors.New(answer[1])
		}
		return answer[0], nil
	}, nil
}
