package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"dsstar/kernel/internal/process"
	"dsstar/notebook"
)

// scriptKept is how much of the end of a script's standard output is kept.
const scriptKept = 1 << 20

// RunScript runs the Python script at path in o.Dir, in a new process of the interpreter of o.Spec.
// It is confined as a kernel would be, but with a private folder of its own. It can write to
// o.Scratch, which is emptied first. RunScript returns when the process and, in a sandbox,
// everything that it started have ended; after limit they are killed and the status is TimedOut. If
// the exit code is not 0, the status is Raised. The outputs are the ends of stdout and stderr. The
// error is [errors.ErrUnsupported] if o.Spec is not started as python -m ipykernel_launcher.
func RunScript(ctx context.Context, o Options, path string,
	limit time.Duration) (x notebook.Execution, err error) {
	began := time.Now()
	python := o.Spec.Python()
	if python == nil {
		return x, fmt.Errorf("the interpreter of kernel %s is not known: %w", o.Spec.Name,
			errors.ErrUnsupported)
	}
	if err := o.emptyScratch(); err != nil {
		return x, fmt.Errorf("run %s: %w", path, err)
	}
	l := &local{spec: o.Spec}
	defer func() { err = errors.Join(err, l.end(&session{waits: defaultWaits()}, false)) }()
	if l.dir, err = privateDir(); err != nil {
		return x, err
	}
	l.spec.Argv = append(slices.Clone(python), path)
	cmd, err := l.plain(o)
	if err != nil {
		return x, fmt.Errorf("run %s: %w", path, err)
	}
	stdout := &process.Tail{Most: scriptKept}
	cmd.Stdout = stdout
	if l.Process, err = process.Start(cmd, o.confined()); err != nil {
		return x, fmt.Errorf("run %s: %w", path, err)
	}
	enough := time.NewTimer(limit)
	defer enough.Stop()
	select {
	case <-l.Exited:
	case <-enough.C:
		x.Status = notebook.TimedOut
	case <-ctx.Done():
		return x, ctx.Err()
	}
	switch {
	case x.Status != "":
	case cmd.ProcessState.Success():
		x.Status = notebook.OK
	default:
		x.Status, x.Reason = notebook.Raised, l.Death()
	}
	x.Outputs = o.Outputs.streams(stdout.String(), l.Stderr.String())
	x.Seconds = time.Since(began).Seconds()
	return x, nil
}

// plain returns the command of a script.
func (l *local) plain(o Options) (*exec.Cmd, error) {
	cmd, err := l.spec.command("", o.Dir, o.Env)
	if err != nil {
		return nil, err
	}
	cmd.Env = slices.DeleteFunc(cmd.Env, func(kv string) bool {
		// without a hash seed the order of sets differs on every run, and answers that depend on it are
		// noticed
		return strings.HasPrefix(kv, "PYTHONHASHSEED=") || strings.HasPrefix(kv, parentPID)
	})
	cmd.Env = append(cmd.Env, "MPLBACKEND=agg", "PYTHONIOENCODING=utf-8")
	if !o.confined() {
		return cmd, nil
	}
	share := l.share(o)
	share.Env, share.Listens, share.Facts = append(share.Env, "MPLBACKEND"), false, false
	return o.Sandbox.Command(cmd, share)
}

// RunScript is like the function [RunScript], but the kernel itself starts the script, with its
// interpreter. Use it for a kernel on another machine, in which nothing has run yet.
func (k *Kernel) RunScript(ctx context.Context, path string,
	limit time.Duration) (x notebook.Execution, err error) {
	literal, _ := json.Marshal(path) // a JSON string is also a Python literal
	told, err := k.ExecuteCell(ctx, Cell{Code: fmt.Sprintf(startScript, literal, limit.Seconds()),
		Timeout: limit + time.Minute})
	if err != nil {
		return x, err
	}
	var state struct {
		Code        *int // nil if it took too long
		Out, Stderr string
	}
	if told.Status != notebook.OK || json.Unmarshal([]byte(told.Stdout()), &state) != nil {
		return x, fmt.Errorf("run %s: %s", path, told.PlainText())
	}
	switch {
	case state.Code == nil:
		x.Status = notebook.TimedOut
	case *state.Code == 0:
		x.Status = notebook.OK
	default:
		x.Status, x.Reason = notebook.Raised, fmt.Sprintf("exit status %d", *state.Code)
	}
	x.Outputs = k.options.Outputs.streams(state.Out, state.Stderr)
	return x, nil
}

// streams returns the outputs of a script, which show no secrets.
func (o Outputs) streams(stdout, stderr string) (all []notebook.Output) {
	for i, text := range []string{stdout, stderr} {
		for _, secret := range o.Secrets {
			text = strings.ReplaceAll(text, secret, "xxxxx")
		}
		if text != "" {
			all = append(all, notebook.Output{Type: notebook.Stream,
				Name: []string{"stdout", "stderr"}[i], Text: text})
		}
	}
	return all
}

// startScript runs a script and prints how it ended and the ends of its output.
const startScript = `import json, os, subprocess, sys, tempfile
_out, _err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
_env = {k: v for k, v in os.environ.items() if k != "PYTHONHASHSEED"}
try:
    _code = subprocess.run([sys.executable, %s], stdin=subprocess.DEVNULL, stdout=_out, stderr=_err, timeout=%g,
                           env={**_env, "MPLBACKEND": "agg", "PYTHONIOENCODING": "utf-8"}).returncode
except subprocess.TimeoutExpired:
    _code = None

def _end(file, size):
    file.seek(max(0, os.fstat(file.fileno()).st_size - size))
    return file.read().decode("utf-8", "replace")

print(json.dumps({"code": _code, "out": _end(_out, 100_000), "stderr": _end(_err, 4_000)}))`
