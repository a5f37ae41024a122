package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A Process is a Python process that runs code, one piece after another, in one namespace. It
// starts when the first code runs, and restarts after code that ended or hung it. Its methods
// may be called concurrently.
type Process struct {
	Path  func(context.Context) (string, error) // of the interpreter
	Env   []string                              // nil: this program's
	Limit time.Duration                         // of one piece of code; 0: a minute

	mu    sync.Mutex
	cmd   *exec.Cmd // nil: not running
	in    io.WriteCloser
	lines *bufio.Reader
}

// serve runs the code in each input line (a JSON string), and replies with a line that holds
// what the code printed, and its traceback.
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

// Run implements [Python].
func (p *Process) Run(ctx context.Context, code string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line, err := json.Marshal(code)
	if err != nil {
		return "", err
	}
	if p.cmd == nil {
		if err := p.start(ctx); err != nil {
			return "", fmt.Errorf("start Python: %w", err)
		}
	}
	limit := p.Limit
	if limit == 0 {
		limit = time.Minute
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	process := p.cmd.Process
	defer context.AfterFunc(bounded, func() { _ = process.Kill() })()
	reply, err := p.exchange(append(line, '\n'))
	switch {
	case ctx.Err() != nil:
		p.close()
		return "", ctx.Err()
	case bounded.Err() != nil:
		p.close()
		return "", &CodeError{"it took longer than " + limit.String()}
	case err != nil:
		p.close()
		return "", &CodeError{"it ended Python"}
	case reply[1] != "":
		lines := strings.Split(strings.TrimSpace(reply[1]), "\n")
		return reply[0], &CodeError{lines[len(lines)-1]}
	}
	return reply[0], nil
}

func (p *Process) exchange(line []byte) (reply [2]string, err error) {
	if _, err = p.in.Write(line); err != nil {
		return reply, err
	}
	answer, err := p.lines.ReadBytes('\n')
	if err != nil {
		return reply, err
	}
	return reply, json.Unmarshal(answer, &reply)
}

func (p *Process) start(ctx context.Context) error {
	path, err := p.Path(ctx)
	if err != nil {
		return err
	}
	cmd := exec.Command(path, "-I", "-X", "utf8", "-c", serve)
	cmd.Env = p.Env
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.in, p.lines = cmd, in, bufio.NewReader(out)
	return nil
}

// Close ends the process. A later Run starts another one.
func (p *Process) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close()
}

func (p *Process) close() {
	if p.cmd == nil {
		return
	}
	_ = p.in.Close()
	_ = p.cmd.Process.Kill() // it has nothing to save
	_ = p.cmd.Wait()
	p.cmd = nil
}
