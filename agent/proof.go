package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"dsstar/notebook"
)

// openProof begins to open the private session of the proof, in a temporary
// folder of its own.
func (r *run) openProof(ctx context.Context) *later {
	dir, err := notebook.TempFolder("", "dsstar-proof-")
	if err != nil {
		l := &later{done: make(chan struct{}), err: err}
		close(l.done)
		return l
	}
	l := r.openLater(ctx, Prove, dir)
	l.dir = dir
	return l
}

// elsewhere is the trajectory as it is proved: in another folder, from which
// the data folder has its full name. Nothing else differs.
func (r *run) elsewhere() *Trajectory {
	t := *r.t
	t.Task.Data = r.dataPath()
	return &t
}

// proveAlone gives a run that has its answer the proof that it may lack.
func (r *run) proveAlone(ctx context.Context) error {
	if p := r.t.Proof; p != nil && !p.Unable {
		return nil
	}
	r.recall()
	ctx, cancel := context.WithCancel(ctx)
	proof := r.openProof(ctx)
	defer proof.close()
	defer cancel() // first, so that a session still opening gives up
	return r.prove(ctx, proof)
}

// prove runs the accepted cells from nothing in a fresh session, then the
// script in plain Python, and compares what they print with the answer.
func (r *run) prove(ctx context.Context, fresh *later) error {
	if r.t.Answer() == "" {
		return nil
	}
	if err := r.checkData(true); err != nil {
		return err
	}
	if err := Folder(r.cfg.Dir).Lend(fresh.dir); err != nil {
		return err
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
		r.t.Proof = &Proof{Reason: "a fresh session could not be opened: " + err.Error(), Unable: true}
		return r.observe(Event{Kind: Proved, Text: r.t.Proof.Reason})
	}
	defer r.kernel.start()()
	reason, printed, err := r.proveCells(ctx, session)
	if reason == "" && err == nil {
		patience := 10*time.Since(begin) + time.Minute
		reason, err = r.proveScript(ctx, session, fresh.dir, printed, patience)
	}
	if err != nil {
		return err
	}
	if err := r.checkData(true); err != nil {
		return err
	}
	if reason == "" && r.changedFile != "" {
		reason = fmt.Sprintf("the data file %s was changed during the run", r.changedFile)
	}
	r.t.Proof = &Proof{Same: reason == "", Reason: reason, Seconds: time.Since(begin).Seconds()}
	return r.observe(Event{Kind: Proved, Text: reason})
}

// proveCells returns what went otherwise than in the run, or "", and what the
// cells before the last one printed.
func (r *run) proveCells(ctx context.Context, s Session) (reason, printed string, err error) {
	var last notebook.Execution
	cells := r.elsewhere().Cells()
	for i, code := range cells {
		printed += last.Stdout()
		if last, err = s.Execute(ctx, code); err != nil {
			return "", "", err
		}
		last.Outputs = notebook.Steady(last.Outputs)
		if last.Status != notebook.OK {
			return r.t.uncarried(code, last, fmt.Sprintf("cell %d of %d failed in the fresh session: %s", i+1, len(cells), oneLine(last))), "", nil
		}
	}
	if answer := strings.TrimSpace(last.Stdout()); answer != r.t.Answer() {
		return "the fresh session printed another answer: " + clip(answer, 300), "", nil
	}
	return "", printed, nil
}

// proveScript runs the script as a process of plain Python, with the
// interpreter of the session, in an empty working folder.
func (r *run) proveScript(ctx context.Context, s Session, dir, printed string, patience time.Duration) (reason string, err error) {
	path := filepath.Join(dir, "solution.py")
	if err := notebook.EmptyFolder(filepath.Join(dir, "files")); err != nil {
		return "", err
	}
	if err := notebook.WriteFile(path, []byte(r.elsewhere().Script())); err != nil {
		return "", err
	}
	result, problem, err := runPlain(ctx, s, path, patience)
	if err != nil || problem != "" {
		return problem, err
	}
	if *result.Code != 0 {
		lines := strings.Split(strings.TrimSpace(result.Stderr), "\n")
		return "the script failed in plain Python: " + clip(lines[len(lines)-1], 300), nil
	}
	if out := strings.TrimSpace(notebook.SteadyText(result.Out)); !endsWith(out, r.t.Answer(), printed) {
		return "the script printed another answer, at the end of: " + clip(out[strings.LastIndexByte(out, '\n')+1:], 300), nil
	}
	return "", nil
}

// endsWith reports whether the answer is the last lines of what a script
// printed: "1" is not what "11" says. Only what the cells before have printed
// without an end of line may stand before it in its line.
func endsWith(out, answer, printed string) bool {
	before, same := strings.CutSuffix(out, answer)
	begun := strings.TrimSpace(printed[strings.LastIndexByte(printed, '\n')+1:])
	before = strings.TrimRight(before, " \t\r")
	return same && (before == "" || strings.HasSuffix(before, "\n") || begun != "" && strings.HasSuffix(before, begun))
}

// plainResult is how a script's process ended.
type plainResult struct {
	Code        *int // nil while it runs
	Out, Stderr string
}

// runPlain runs a script as a process that the session starts and then asks
// for again and again: one cell may not run for as long as all of them.
func runPlain(ctx context.Context, s Session, path string, patience time.Duration) (result plainResult, problem string, err error) {
	deadline := time.Now().Add(patience)
	for code := fmt.Sprintf(startScript, pyString(path)); ; code = pollScript {
		e, err := s.Execute(ctx, code)
		if err != nil {
			return result, "", err
		}
		if e.Status != notebook.OK {
			return result, "the script could not be run: " + oneLine(e), nil
		}
		if err := json.Unmarshal([]byte(e.Stdout()), &result); err != nil {
			return result, "the script could not be run: its result is not readable", nil
		}
		if result.Code != nil {
			return result, "", nil
		}
		if time.Now().After(deadline) {
			return result, fmt.Sprintf("the script ran for more than %.0f s, far longer than the cells", patience.Seconds()), nil
		}
	}
}

const startScript = `import json, os, subprocess, sys, tempfile
_out, _err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
_p = subprocess.Popen([sys.executable, %s], stdin=subprocess.DEVNULL, stdout=_out, stderr=_err,
                      env={**os.environ, "MPLBACKEND": "agg", "PYTHONIOENCODING": "utf-8"})

def _end(file, size):
    file.seek(max(0, os.fstat(file.fileno()).st_size - size))
    return file.read().decode("utf-8", "replace")

def _state():
    try:
        _p.wait(timeout=2)
    except subprocess.TimeoutExpired:
        return {"code": None}
    return {"code": _p.returncode, "out": _end(_out, 100_000), "stderr": _end(_err, 4_000)}

print(json.dumps(_state()))`

const pollScript = `print(json.dumps(_state()))`
