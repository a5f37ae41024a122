package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/disk"
	"dsstar/notebook/lazy"
)

// RunScript runs dir/solution.py in plain Python. It works in dir/files, in the sandbox of
// the sessions. Only the end of long outputs is kept. The status is Raised if the exit code
// is not 0, and TimedOut if the process was killed after limit. An error means that it could
// not be run.
type RunScript func(ctx context.Context, dir string,
	limit time.Duration) (notebook.Execution, error)

// A prover runs the script and the accepted cells from scratch.
type prover struct {
	*run
	folder *os.Root // the run folder
	found
}

// A found is what a proof has found.
type found struct {
	Proof  record.Proof `json:"proof"`
	Doubts []string     `json:"doubts,omitempty"` // that are left of those of the last cell
	Warned []string     `json:"warned,omitempty"`
}

// prove proves the answer, once: see make. The proof rests on the question, the data, the cells and what
// they gave.
func (r *prover) prove(ctx context.Context) error {
	if err := r.checkData(true); err != nil {
		return err
	}
	r.t.HaveFunctions(false)
	last, _ := r.t.FinalCell()
	on := []any{r.t.Task.Question, r.t.Task.Guidelines, r.digest, r.changedFile, record.State(r.t.Cells()),
		last.Execution.Stdout(), r.t.Final.Summary, r.t.Final.Files, r.t.Final.Doubts}
	live := false
	made, err := journal.Once(ctx, r.t.Journal, "proof", on, func(ctx context.Context) (found, error) {
		live = true
		err := r.make(ctx)
		if err == nil && r.Proof.Unable {
			err = errUnable
		}
		return r.found, err
	})
	if errors.Is(err, errUnable) {
		made, err = r.found, nil
	}
	if err != nil {
		return err
	}
	if !live && r.misplaced(ctx) {
		if err := r.settle(ctx); err != nil {
			return err
		}
	}
	for _, text := range made.Warned {
		if err := r.Warn(text); err != nil {
			return err
		}
	}
	r.t.Final.Doubts, r.t.Proof = made.Doubts, &made.Proof
	return r.observe(Event{Kind: Proved, Text: made.Proof.Reason})
}

// misplaced reports whether the files of the answer may not be in the run folder: a branch may have
// run there, or the run goes on in another folder.
func (r *prover) misplaced(ctx context.Context) bool {
	if r.work.session != nil {
		return true
	}
	folder := r.work.filesWritten()
	if folder != nil {
		defer folder.Close()
	}
	return slices.ContainsFunc(r.t.Final.Files, func(f compare.File) bool {
		if f.Digest == "" {
			return false
		}
		if folder == nil {
			return true
		}
		is, err := fileOf(ctx, nil, folder, f.Name)
		return err != nil || is.Digest != f.Digest
	})
}

// errUnable has a proof made again that could not be made.
var errUnable = errors.New("the answer could not be proved")

// make runs the script in plain Python, then the accepted cells in a fresh session, and compares
// their answers and files with the run's. All sessions of the run end first, and the script ends
// before the cells begin, so that no cell can pass anything on, for instance by locks on the data.
// The fresh session works in the same folder as the run's own, so that cells see the same;
// afterwards files/ is the run's own again.
func (r *prover) make(ctx context.Context) (err error) {
	r.found = found{Doubts: r.t.Final.Doubts}
	if err := r.settle(ctx); err != nil {
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
	r.t.Warnings = slices.DeleteFunc(r.t.Warnings, func(text string) bool { // they would not hold any longer
		return strings.HasPrefix(text, overwritten)
	})
	r.work.close()
	r.leaveApart()
	r.ending.Wait()
	aside, err := setFilesAside(r.folder)
	if err != nil {
		return fmt.Errorf("make room for the proof: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	fresh := r.openSession(func() (Session, error) { return r.cfg.Open(ctx, Prove, r.cfg.Dir) })
	defer func() {
		cancel() // first, so that a session still opening gives up
		fresh.close()
		err = cmp.Or(err, aside.putBack())
	}()
	reason, unable, err := r.compare(ctx, fresh)
	if err != nil {
		return err
	}
	if err := r.checkData(true); err != nil {
		return err
	}
	if reason == "" && r.changedFile != "" {
		reason = fmt.Sprintf("the data file %s was changed during the run", r.changedFile)
	}
	p := &r.Proof
	p.Same, p.Reason, p.Unable, p.Seconds = reason == "", reason, unable, time.Since(begin).Seconds()
	return nil
}

// compare runs the script and the cells. It returns the first difference from the run, or
// ""; and whether the difference is only that one of them could not be run.
func (r *prover) compare(ctx context.Context,
	fresh *pendingSession) (reason string, unable bool, err error) {
	fault, err := r.reseededFault(ctx)
	what := "the script could not be run: "
	var session Session
	if err == nil {
		what = "a fresh session could not be opened: "
		session, err = fresh.wait() // it was starting meanwhile
	}
	if err != nil && ctx.Err() == nil { // there is an answer all the same
		return what + err.Error(), true, nil
	}
	if err != nil {
		return "", false, ctx.Err()
	}
	reason, err = r.proveCells(ctx, session)
	return cmp.Or(reason, fault), false, err
}

// changeRows is the time up to which the script runs again with changed rows, so that the proof
// takes a few seconds more at most.
const changeRows = 3 * time.Second

// tryRows notes what the script prints if the rows of its tables come in another order, and without
// every second one. Such answers are often right, so these are notes and no doubts.
func (r *prover) tryRows(ctx context.Context, code string) {
	ran := func(code string) (fault string, ok bool) {
		if code == "" || ctx.Err() != nil {
			return "", false
		}
		x, fault, err := r.scriptFault(ctx, code)
		return fault, err == nil && x.Status == notebook.OK
	}
	var halved string
	var ranHalved bool
	var other sync.WaitGroup
	if _, isNumber := compare.Number(r.t.Answer()); isNumber {
		other.Go(func() { halved, ranHalved = ran(lineage.Halved(code)) })
	}
	if fault, ok := ran(lineage.Shuffled(code)); ok && fault != "" {
		r.Proof.Notes = append(r.Proof.Notes, "with the rows of its tables in another order "+fault)
	}
	if other.Wait(); ranHalved && halved == "" {
		r.Proof.Notes = append(r.Proof.Notes, "without every second row of its tables the script prints the same answer")
	}
}

// reseededFault returns how the script with other random numbers, on what seems to be another
// computer, differs from the run, or "". If it does, the script with less changed tells the reason.
func (r *prover) reseededFault(ctx context.Context) (string, error) {
	code, begin := r.elsewhere().Script(), time.Now()
	reseeded := record.Reseeded(code)
	x, fault, err := r.scriptFault(ctx, lineage.Elsewhere(reseeded))
	if err == nil && fault == "" {
		r.found.Doubts = lineage.WithoutMachine(r.found.Doubts)
		if time.Since(begin) < changeRows {
			r.tryRows(ctx, code)
		}
	}
	if err != nil || fault == "" || x.Status == notebook.TimedOut {
		return fault, err
	}
	_, chance, err := r.scriptFault(ctx, reseeded)
	if err != nil || chance == "" {
		return r.machineFault(x, fault), err
	}
	_, other, err := r.scriptFault(ctx, code)
	return cmp.Or(other, "it depends on chance: with another seed "+chance), err
}

// machineFault words that the script differs on what seems to be another computer: not by the last
// digits of a sum, nor by the order of items that have none.
func (r *prover) machineFault(x notebook.Execution, fault string) string {
	answer := r.firstAnswer()
	lines := strings.Split(strings.TrimSpace(x.Stdout()), "\n")
	answer.Words = strings.Join(lines[max(0, len(lines)-1-strings.Count(answer.Words, "\n")):], "\n")
	if x.Status == notebook.OK && answer.Words != r.t.Answer() &&
		compare.Answers(r.firstAnswer(), answer, asked(r.t)).Sameness == compare.Same {
		return ""
	}
	return "it depends on the order in which folders list their files, or on the number of processors: " +
		"with others " + fault
}

// proveCells returns the first difference from the run, or "".
func (r *prover) proveCells(ctx context.Context, s Session) (reason string, err error) {
	var last notebook.Execution
	cells, own := r.t.Cells(), r.t.OwnCells()
	watch, watched := lineage.Watch(own)
	for i, code := range cells {
		if i == len(cells)-len(own) && watch != "" {
			if _, err := s.Execute(ctx, watch); err != nil {
				return "", err
			}
		}
		if last, err = s.Execute(ctx, code); err != nil {
			return "", err
		}
		last.Outputs = r.work.steady(last.Outputs)
		if last.Status != notebook.OK {
			return r.t.Uncarried(code, last, fmt.Sprintf("cell %d of %d failed in the fresh session: %s",
				i+1, len(cells), brief.Problem(last))), nil
		}
	}
	if watched != "" {
		x, err := s.Execute(ctx, watched)
		if err != nil {
			return "", err
		}
		doubts, notes := lineage.Watched(x.Stdout(), r.t.Task.Question)
		r.Proof.Doubts, r.Proof.Notes = doubts, append(notes, r.Proof.Notes...)
	}
	if answer := strings.TrimSpace(last.Stdout()); answer != r.t.Answer() {
		return "the fresh session printed another answer: " + brief.Clip(answer, 300) +
			r.intrusion(answer), nil
	}
	if reason := cmp.Or(r.summaryFault(last), r.filesFault(ctx, "the fresh session", r.cfg.Dir, s, r.t.Final.Files)); reason != "" {
		return reason, nil
	}
	for k, p := range r.t.Earlier {
		if p.Final == nil {
			continue
		}
		if fault := r.filesFault(ctx, "the fresh session", r.cfg.Dir, s, p.Final.Files); fault != "" {
			r.Warned = append(r.Warned, fmt.Sprintf("%s %d are not there as they were proved: %s", overwritten, k+1, fault))
		}
	}
	if code := record.CountCode(r.t.Task.Sources, cells); code != "" {
		x, err := s.Execute(ctx, code)
		if err != nil {
			return "", err
		}
		r.Proof.At, r.Proof.Counts = time.Now().UTC().Truncate(time.Second), record.Counted(x)
	}
	return "", nil
}

// steadyFile matches names of files whose bytes only depend on what they hold.
var steadyFile = lazy.Regexp(`(?i)\.(?:csv|tsv|tab|txt|md|jsonl?|npy|parquet)$`)

// overwritten begins the warning that later cells have changed the files of an earlier answer.
const overwritten = "the files of the answer to question"

// filesFault returns how the files of an answer differ from those that cells have written in dir, or
// "". The session says what they hold; nil: the script has said it. Nothing is said of
// files that nobody can read, and whose bytes may differ from time to time.
func (r *prover) filesFault(ctx context.Context, who, dir string, s Session, files []compare.File) string {
	at := workspace{folder: dir}
	folder := at.filesWritten()
	if folder == nil {
		return ""
	}
	defer folder.Close()
	for _, f := range files {
		again, err := fileOf(ctx, s, folder, f.Name)
		found := compare.Answers(compare.Answer{Words: f.Name, Files: []compare.File{f}},
			compare.Answer{Words: f.Name, Files: []compare.File{again}}, asked(r.t))
		steady := steadyFile().MatchString(f.Name)
		switch {
		case f.Digest == "" || f.Digest == again.Digest || found.Sameness == compare.Same:
		case err != nil:
			return fmt.Sprintf("%s has not written %s", who, f.Name)
		case steady || found.Sameness == compare.Different:
			return who + " wrote another file, " + found.Why
		}
	}
	return ""
}

// intrusion says that a thread or process of a step has probably printed into the last cell's
// output, if two answers differ only in lines that this step has printed, too; else it returns "".
func (r *prover) intrusion(fresh string) string {
	more := append(moreLines(r.t.Answer(), fresh), moreLines(fresh, r.t.Answer())...)
	if len(more) == 0 || len(moreLines(fresh, strings.Join(more, "\n"))) == 0 {
		return ""
	}
	for n, i := range r.t.AcceptedRounds() {
		a, _ := r.t.Rounds[i].Accepted()
		printed := strings.Split(a.Execution.Stdout(), "\n")
		if !slices.ContainsFunc(more, func(s string) bool { return !slices.Contains(printed, s) }) {
			return fmt.Sprintf("; a thread or process that step %d started may have printed: %s", n+1,
				brief.Clip(strings.Join(more, "; "), 100))
		}
	}
	return ""
}

// moreLines returns the lines of a text that another has not, or less often.
func moreLines(text, other string) []string {
	others := strings.Split(other, "\n")
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		i := slices.Index(others, line)
		if i >= 0 {
			others = slices.Delete(others, i, i+1)
		}
		return i >= 0
	})
}

// summaryFault returns how the value of the last cell differs from the run's summary, or "".
func (r *prover) summaryFault(last notebook.Execution) string {
	want := r.t.Final.Summary
	got, _ := record.ResultText(last)
	if want == "" || strings.TrimSpace(got) == strings.TrimSpace(want) {
		return ""
	}
	return "the fresh session gave another summary: " + brief.Clip(cmp.Or(got, "none"), 300)
}

// patience is the time limit of the script, far longer than the cells took.
func (r *prover) patience() time.Duration {
	seconds := 0.0
	attempts, _ := r.t.Tried()
	for _, a := range attempts {
		seconds += a.Execution.Seconds
	}
	return time.Minute + time.Duration(10*seconds*float64(time.Second))
}

// scriptFault runs a script in an empty temporary folder, and returns how it differs from the run,
// or "".
func (r *prover) scriptFault(ctx context.Context,
	code string) (x notebook.Execution, fault string, err error) {
	dir, err := disk.TempFolder("", "dsstar-proof-")
	if err != nil {
		return x, "", err
	}
	defer func() { _ = disk.RemoveTemp(dir) }() // the next start removes what stays
	if err := record.Folder(r.cfg.Dir).Lend(dir); err != nil {
		return x, "", err
	}
	code = telling(code, filepath.Join(dir, record.FilesFolder), r.t.Final.Files)
	if err := os.WriteFile(record.Folder(dir).Script(), []byte(code), 0o600); err != nil {
		return x, "", err
	}
	limit := r.patience()
	if x, err = r.cfg.RunScript(ctx, dir, limit); err != nil {
		return x, "", err
	}
	switch x.Status {
	case notebook.OK:
	case notebook.TimedOut:
		return x, fmt.Sprintf("the script ran for more than %.0f s, far longer than the cells",
			limit.Seconds()), nil
	default:
		lines := strings.Split(strings.TrimSpace(x.Stream("stderr")), "\n")
		return x, "the script failed in plain Python: " +
			brief.Clip(cmp.Or(lines[len(lines)-1], x.Reason), 300), nil
	}
	out := strings.TrimSpace(notebook.SteadyText(x.Stdout()))
	if !endsWith(out, r.t.Answer(), printedBefore(r.t)) {
		return x, "the script printed another answer, at the end of: " +
			brief.Clip(out[strings.LastIndexByte(out, '\n')+1:], 300), nil
	}
	return x, r.filesFault(ctx, "the script", dir, nil, r.t.Final.Files), nil
}

// endsWith reports whether the answer is the last lines of a script's output: "1" is not the
// answer of "11". Only output of the cells before it, without an end of line, may stand in
// the same line.
func endsWith(out, answer, printed string) bool {
	before, same := strings.CutSuffix(out, answer)
	begun := strings.TrimSpace(printed[strings.LastIndexByte(printed, '\n')+1:])
	before = strings.TrimRight(before, " \t\r")
	return same && (before == "" || strings.HasSuffix(before, "\n") || begun != "" &&
		strings.HasSuffix(before, begun))
}

// printedBefore returns what the cells before the last one printed in the run.
func printedBefore(t *record.Trajectory) (printed string) {
	for _, i := range t.CellRounds() {
		a, _ := t.Rounds[i].Accepted()
		printed += a.Execution.Stdout()
	}
	return printed
}
