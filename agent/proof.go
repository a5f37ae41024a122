package agent

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// RunScript runs dir/solution.py as a process of plain Python, which works in
// dir/files and is confined as the sessions are. Only the end of long outputs is
// kept. The status is Raised where the exit code is not 0, and TimedOut where the
// process was ended after limit. The error is that it could not be run.
type RunScript func(ctx context.Context, dir string,
	limit time.Duration) (notebook.Execution, error)

// A prover runs the cells of a run from nothing.
type prover struct {
	*workspace
	runScript RunScript
	folder    *os.Root // the run folder
}

// elsewhere is the trajectory for a script in another folder, from which the data
// folder has its full name. Nothing else differs.
func (r *prover) elsewhere() *record.Trajectory {
	t := *r.t
	t.Task.Data = r.dataPath()
	return &t
}

// proveAlone gives a run that has its answer the proof that it may lack.
func (r *run) proveAlone(ctx context.Context, p *prover) error {
	if proof := r.t.Proof; proof != nil && !proof.Unable {
		return nil
	}
	r.recall()
	return p.prove(ctx, nil)
}

// prove runs the script in plain Python, then the accepted cells in a fresh
// session, both from nothing, and compares what they print with the answer. No cell
// of one runs before the other has ended, and the run's own session ends before
// both: what has run a cell could tell the next one, by locks on the data for
// example. The fresh session takes the place of the run's own, in the same folder,
// so that a cell sees the same in both. It stays if it is a [Lasting] one and all
// cells ran in it; otherwise it ends, and files/ is that of the run's own again.
// work is nil if the run has no session.
func (r *prover) prove(ctx context.Context, work *pendingSession) (err error) {
	if r.t.Answer() == "" {
		return nil
	}
	if err := r.checkData(true); err != nil {
		return err
	}
	if err := r.takeLeave(ctx); err != nil {
		return err
	}
	if err := r.observe(Event{Kind: Proving}); err != nil {
		return err
	}
	begin := time.Now()
	defer r.kernel.Start()()
	work.end()
	aside, err := setFilesAside(r.folder)
	if err != nil {
		return fmt.Errorf("make room for the proof: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	fresh, whole := r.openSession(ctx, Prove), false
	defer func() {
		cancel() // first, so that a session still opening gives up
		if whole && fresh.stays() {
			err = cmp.Or(err, aside.remove()) // before the session is left: see putBackFiles
			fresh.close()
		} else {
			fresh.end()
			err = cmp.Or(err, aside.putBack())
		}
	}()
	var reason string
	var unable bool
	reason, unable, whole, err = r.compare(ctx, fresh)
	if err != nil {
		return err
	}
	if err := r.checkData(true); err != nil {
		return err
	}
	if reason == "" && r.changedFile != "" {
		reason = fmt.Sprintf("the data file %s was changed during the run", r.changedFile)
	}
	r.t.Proof = &record.Proof{Same: reason == "", Reason: reason, Unable: unable,
		Seconds: time.Since(begin).Seconds()}
	return r.observe(Event{Kind: Proved, Text: reason})
}

// compare runs the script and the cells. It returns what went otherwise than in the
// run, or "", whether that is only that one of them could not be run, and whether
// all cells ran in the session.
func (r *prover) compare(ctx context.Context,
	fresh *pendingSession) (reason string, unable, whole bool, err error) {
	limit := r.patience()
	script, err := r.proveScript(ctx, limit)
	what := "the script could not be run: "
	var session Session
	if err == nil {
		what = "a fresh session could not be opened: "
		session, err = fresh.wait() // it was starting meanwhile
	}
	if err != nil && ctx.Err() == nil { // there is an answer all the same
		return what + err.Error(), true, false, nil
	}
	if err != nil {
		return "", false, false, ctx.Err()
	}
	reason, printed, whole, err := r.proveCells(ctx, session)
	if reason == "" && err == nil {
		reason = r.scriptFault(script, printed, limit)
	}
	return reason, false, whole, err
}

// proveCells returns what went otherwise than in the run, or "", what the cells
// before the last one printed, and whether all of them ran.
func (r *prover) proveCells(ctx context.Context,
	s Session) (reason, printed string, whole bool, err error) {
	var last notebook.Execution
	cells := r.t.Cells()
	for i, code := range cells {
		printed += last.Stdout()
		if last, err = s.Execute(ctx, code); err != nil {
			return "", "", false, err
		}
		last.Outputs = notebook.Steady(last.Outputs)
		if last.Status != notebook.OK {
			return r.t.Uncarried(code, last, fmt.Sprintf("cell %d of %d failed in the fresh session: %s",
				i+1, len(cells), brief.Problem(last))), "", false, nil
		}
	}
	if answer := strings.TrimSpace(last.Stdout()); answer != r.t.Answer() {
		return "the fresh session printed another answer: " + brief.Clip(answer, 300), "", true, nil
	}
	return "", printed, true, nil
}

// patience is how long the script may run: far longer than the cells did.
func (r *prover) patience() time.Duration {
	seconds := 0.0
	attempts, _ := r.t.Tried()
	for _, a := range attempts {
		seconds += a.Execution.Seconds
	}
	return time.Minute + time.Duration(10*seconds*float64(time.Second))
}

// proveScript runs the script in a temporary folder with nothing else in it.
func (r *prover) proveScript(ctx context.Context, limit time.Duration) (notebook.Execution, error) {
	dir, err := disk.TempFolder("", "dsstar-proof-")
	if err != nil {
		return notebook.Execution{}, err
	}
	defer func() { _ = disk.RemoveTemp(dir) }() // the next start removes what stays
	if err := record.Folder(r.dir).Lend(dir); err != nil {
		return notebook.Execution{}, err
	}
	if err := os.WriteFile(record.Folder(dir).Script(), []byte(r.elsewhere().Script()), 0o600); err != nil {
		return notebook.Execution{}, err
	}
	return r.runScript(ctx, dir, limit)
}

// scriptFault returns what went otherwise in the script than in the run, or "";
// printed is what the cells before the last one have printed.
func (r *prover) scriptFault(x notebook.Execution, printed string, limit time.Duration) string {
	switch x.Status {
	case notebook.OK:
	case notebook.TimedOut:
		return fmt.Sprintf("the script ran for more than %.0f s, far longer than the cells",
			limit.Seconds())
	default:
		lines := strings.Split(strings.TrimSpace(x.Stream("stderr")), "\n")
		return "the script failed in plain Python: " +
			brief.Clip(cmp.Or(lines[len(lines)-1], x.Reason), 300)
	}
	if out := strings.TrimSpace(notebook.SteadyText(x.Stdout())); !endsWith(out, r.t.Answer(), printed) {
		return "the script printed another answer, at the end of: " +
			brief.Clip(out[strings.LastIndexByte(out, '\n')+1:], 300)
	}
	return ""
}

// endsWith reports whether the answer is the last lines of what a script
// printed: "1" is not what "11" says. Only what the cells before have printed
// without an end of line may stand before it in its line.
func endsWith(out, answer, printed string) bool {
	before, same := strings.CutSuffix(out, answer)
	begun := strings.TrimSpace(printed[strings.LastIndexByte(printed, '\n')+1:])
	before = strings.TrimRight(before, " \t\r")
	return same && (before == "" || strings.HasSuffix(before, "\n") || begun != "" &&
		strings.HasSuffix(before, begun))
}
