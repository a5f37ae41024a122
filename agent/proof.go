package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dsstar/notebook"
)

// openProof begins to open the private session of the proof. Its folder lies
// beside the run folder, so that a relative data folder is the same from both.
func (r *run) openProof(ctx context.Context) *later {
	dir, err := os.MkdirTemp(filepath.Dir(r.cfg.Dir), "."+filepath.Base(r.cfg.Dir)+".proof-")
	if err != nil {
		l := &later{done: make(chan struct{}), err: err}
		close(l.done)
		return l
	}
	l := r.openLater(ctx, Prove, dir)
	l.dir = dir
	return l
}

// prove runs the accepted cells from nothing in a fresh session, then the
// script in plain Python, and compares what they print with the answer.
func (r *run) prove(ctx context.Context, fresh *later) error {
	if r.t.Answer() == "" {
		return nil
	}
	if err := r.observe(Event{Kind: Proving}); err != nil {
		return err
	}
	begin := time.Now()
	session, err := fresh.wait()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// There is an answer all the same: it is not proved.
		r.t.Proof = &Proof{Reason: "a fresh session could not be opened: " + err.Error()}
		return r.observe(Event{Kind: Proved, Text: r.t.Proof.Reason})
	}
	defer r.kernel.start()()
	reason, err := r.proveCells(ctx, session)
	if reason == "" && err == nil {
		reason, err = r.proveScript(ctx, session, fresh.dir)
	}
	if err != nil {
		return err
	}
	r.t.Proof = &Proof{Same: reason == "", Reason: reason, Seconds: time.Since(begin).Seconds()}
	return r.observe(Event{Kind: Proved, Text: reason})
}

// proveCells returns what went otherwise than in the run, or "".
func (r *run) proveCells(ctx context.Context, s Session) (reason string, err error) {
	var last notebook.Execution
	cells := r.t.Cells()
	for i, code := range cells {
		if last, err = s.Execute(ctx, code); err != nil {
			return "", err
		}
		if last.Status != notebook.OK {
			return fmt.Sprintf("cell %d of %d failed in the fresh session: %s", i+1, len(cells), oneLine(last)), nil
		}
	}
	if answer := strings.TrimSpace(last.Stdout()); answer != r.t.Answer() {
		return "the fresh session printed another answer: " + clip(answer, 300), nil
	}
	return "", nil
}

// proveScript runs the script as a process of plain Python, with the
// interpreter of the session, in an empty working folder.
func (r *run) proveScript(ctx context.Context, s Session, dir string) (reason string, err error) {
	path := filepath.Join(dir, "solution.py")
	if err := os.RemoveAll(filepath.Join(dir, "files")); err != nil {
		return "", err
	}
	if err := notebook.WriteFile(path, []byte(r.t.Script())); err != nil {
		return "", err
	}
	e, err := s.Execute(ctx, fmt.Sprintf(runScript, pyString(path)))
	if err != nil {
		return "", err
	}
	var result struct {
		Code        int
		Out, Stderr string
	}
	if e.Status != notebook.OK {
		return "the script could not be run: " + oneLine(e), nil
	}
	if err := json.Unmarshal([]byte(e.Stdout()), &result); err != nil {
		return "the script could not be run: its result is not readable", nil
	}
	if result.Code != 0 {
		lines := strings.Split(strings.TrimSpace(result.Stderr), "\n")
		return "the script failed in plain Python: " + clip(lines[len(lines)-1], 300), nil
	}
	before, same := strings.CutSuffix(strings.TrimSpace(result.Out), r.t.Answer())
	if before = strings.TrimRight(before, " \t"); !same || (before != "" && !strings.HasSuffix(before, "\n")) {
		return "the script printed another answer", nil
	}
	return "", nil
}

const runScript = `import json, os, subprocess, sys
_p = subprocess.run([sys.executable, %s], env={**os.environ, "MPLBACKEND": "agg", "PYTHONIOENCODING": "utf-8"},
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", errors="replace")
print(json.dumps({"code": _p.returncode, "out": _p.stdout[-100_000:], "stderr": _p.stderr[-4_000:]}))`
