package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/disk"
	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
)

// RunScript runs dir/solution.py in plain Python. It works in dir/files, in the sandbox of
// the sessions. Only the end of long outputs is kept. The status is Raised if the exit code
// is not 0, and TimedOut if the process was killed after limit. An error means that it could
// not be run.
type RunScript func(ctx context.Context, dir string,
	limit time.Duration) (notebook.Execution, error)

// prove proves the answer, once: see proveAnew. The proof rests on the question, the data, the cells and what
// they gave. One that could not be made is made again when the run is resumed.
func (r *run) prove(ctx context.Context) error {
	if err := r.checkData(); err != nil {
		return err
	}
	r.t.UsedOnly = true
	on := []any{r.t.Task.Question, r.t.Task.Guidelines, r.digest, r.changedFile, record.State(r.t.Cells()),
		r.t.FinalCell().Execution.Stdout(), r.t.Final.Summary, r.t.Final.Files, r.t.Final.Doubts}
	digest := func(d record.Definition) any { return d.Digest() }
	on = append(on, lists.Map(r.t.Question.Definitions, digest)...)
	live := false
	made, err := journal.Once(ctx, r.t.Journal, "proved", on, func(ctx context.Context) (record.Proof, error) {
		live = true
		return r.proveAnew(ctx)
	})
	if err == nil && !live { // a branch may have run since, or the run goes on in another folder
		same := func(a, b compare.File) bool { return a.Name == b.Name && a.Digest == b.Digest }
		files := r.t.Final.Files
		if r.work.session != nil ||
			files != nil && !slices.EqualFunc(files, r.work.filesGiven(ctx, r.t.Answer()), same) {
			err = r.settle(ctx)
		}
	}
	if made.Unable {
		r.t.Journal.Forget("proved", on)
	}
	if err != nil {
		return err
	}
	r.t.Proof = &made
	if r.t.Proof.Apart, err = r.apartFrom(ctx); err != nil {
		return err
	}
	if r.t.Proof.Perturbed, err = r.perturb(ctx); err != nil {
		return err
	}
	return r.observe(Event{Kind: Proved, Text: made.Reason})
}

// perturbing runs cells with the largest table that they read perturbed.
//
//go:embed perturb.py
var perturbing string

// relation matches what claims that things go together, and comparison a difference, trend or ranking.
var (
	relation = lazy.Regexp(`(?i)\b(?:(?:cor)?relat(?:ion|ed to)|associat(?:ion|ed with)|depends? on|regress|` +
		`slope|coefficient|predict|statistically|significance|p-?value|influenc|affect|(?:effect|impact) of|` +
		`trend|korrel|zusammenhang|signifikan)`)
	comparison = lazy.Regexp(`(?i)\b(?:differ(?:ence|s)|exceed(?:s|ed)|(?:in|de)creas(?:e|ed|ing)|grow(?:n|th|` +
		`ing)|grew|declined?|rank(?:ed|ing)?|unterschied|(?:how many|are|is|were|was|has|have|had|which)\b` +
		`[^.?]{0,40}\bmore\b[^.?]{0,80}\b(?:than|or)|(?:which|who|what|welche[rs]?)\b[^.?]{0,80}\b(?:most|` +
		`least|best|worst|(?:high|low|larg|great|small|fast|slow|long|short|old|young|few)est))\b`)
)

// perturb says in a line whether a proved answer that claims a relation or a comparison survives if what
// the cells read is perturbed; "" of another answer. It is no standing.
func (r *run) perturb(ctx context.Context) (string, error) {
	question := r.t.Task.Question
	related := relation().MatchString(question)
	if !r.t.Proof.Same || r.t.Inconclusive() || !related && !comparison().MatchString(question) {
		return "", nil
	}
	last := r.t.FinalCell()
	on := []any{r.digest, record.State(r.t.Cells()), r.t.Answer()}
	const unended = "not perturbed: the program that does so did not end"
	said, err := journal.Once(ctx, r.t.Journal, "perturbed", on, func(ctx context.Context) (string, error) {
		defer r.kernel.Start()()
		cells := strings.TrimSuffix(r.elsewhere().Script(), last.Code+"\n")
		given, _ := json.Marshal([]any{cells, last.Code, related, question}) // plain data
		script := strings.Replace(perturbing, `"GIVEN"`, brief.Python(string(given)), 1)
		limit := time.Minute + time.Duration(3*r.t.Seconds.Kernel*float64(time.Second))
		x, err := runAlone(ctx, r.cfg.RunScript, script, limit)
		if err != nil || x.Status != notebook.OK {
			return unended, ctx.Err()
		}
		lines := strings.Split(strings.TrimSpace(x.Stdout()), "\n")
		return brief.Clip(lines[len(lines)-1], 400), nil
	})
	if said == unended { // another attempt at the run may do better
		r.t.Journal.Forget("perturbed", on)
	}
	return said, err
}

// proveAnew runs the script in plain Python, then the accepted cells in a fresh session, each in an
// empty folder, and compares their answers and files with the run's. All sessions of the run end
// first, and the script ends before the cells begin, so that no cell can pass anything on, for
// instance by locks on the data.
func (r *run) proveAnew(ctx context.Context) (p record.Proof, err error) {
	for _, do := range []func(context.Context) error{r.settle, r.takeLeave} {
		if err := do(ctx); err != nil {
			return p, err
		}
	}
	if err := r.observe(Event{Kind: Proving}); err != nil {
		return p, err
	}
	begin := time.Now()
	defer r.kernel.Start()()
	r.work.close()
	r.leaveApart()
	r.ending.Wait()
	ctx, cancel := context.WithCancel(ctx)
	fresh := &workspace{run: r, purpose: Prove}
	fresh.prepare(ctx) // it starts meanwhile
	defer fresh.close()
	defer cancel() // first, so that a session still opening gives up
	what := "the script could not be run: "
	fault, err := r.scriptFault(ctx)
	if err == nil {
		what, err = "a fresh session could not be opened: ", fresh.open(ctx)
	}
	if err == nil {
		p.Reason, err = r.cellsFault(ctx, fresh, &p)
		p.Reason = cmp.Or(p.Reason, fault)
	} else if p.Unable = ctx.Err() == nil; p.Unable { // there is an answer all the same
		p.Reason, err = what+err.Error(), nil
	}
	if err = cmp.Or(ctx.Err(), err, r.checkData()); err != nil {
		return p, err
	}
	if p.Reason == "" && r.changedFile != "" {
		p.Reason = fmt.Sprintf("the data file %s was changed during the run", r.changedFile)
	}
	p.Same, p.Seconds = p.Reason == "", time.Since(begin).Seconds()
	return p, nil
}

// scriptFault returns how the script differs from the run, or "". It runs with other random numbers on
// what seems to be another computer, and if it differs there, as it is.
func (r *run) scriptFault(ctx context.Context) (string, error) {
	code := r.elsewhere().Script()
	fault, err := r.replay(ctx, lineage.Elsewhere(record.Reseeded(code)))
	if fault == "" || err != nil {
		return "", err
	}
	here, err := r.replay(ctx, code)
	return cmp.Or(here, "it depends on chance, on the order in which folders list their files, or on the "+
		"number of processors: with others "+fault), err
}

// replay runs a script in an empty folder and returns how it differs from the run, or "". What it
// prints before its last cell is told apart by a line that no cell can know.
func (r *run) replay(ctx context.Context, code string) (string, error) {
	w := &workspace{run: r, purpose: Prove}
	defer w.close()
	if err := w.makeFolder(); err != nil {
		return "", err
	}
	last := r.t.FinalCell()
	mark := rand.Text()
	if before, ok := strings.CutSuffix(code, last.Code+"\n"); ok {
		code = before + "print(" + brief.Python("\n"+mark) + ")\n" + last.Code + "\n"
	}
	code = telling(code, filepath.Join(w.folder, record.FilesFolder), r.t.Final.Files)
	limit := time.Minute + time.Duration(10*r.t.Seconds.Kernel*float64(time.Second))
	e, err := runIn(ctx, r.cfg.RunScript, w.folder, code, limit)
	switch {
	case err != nil:
		return "", err
	case e.Status == notebook.TimedOut:
		return "the script ran for more than a minute, and ten times as long as the cells", nil
	case e.Status != notebook.OK:
		return "the script failed in plain Python: " + brief.Clip(lastWords(e), 300), nil
	}
	_, out, _ := strings.Cut(e.Stdout(), mark+"\n")
	printed := strings.TrimSpace(notebook.Steady(out))
	found := compare.Answers(compare.Answer{Words: printed}, compare.Answer{Words: r.t.Answer()}, asked(r.t))
	if found.Sameness != compare.Same {
		return "the script printed another answer: " + brief.Clip(printed, 300), nil
	}
	return r.filesFault(ctx, w, r.t.Final.Files), nil
}

// cellsFault runs the accepted cells in a fresh session and returns the first difference from the run,
// or "". What else it finds goes into the proof.
func (r *run) cellsFault(ctx context.Context, fresh *workspace, p *record.Proof) (fault string, err error) {
	var last notebook.Execution
	cells, own := r.elsewhere().Cells(), r.t.OwnCells()
	watch, watched := lineage.Watch(own)
	for i, code := range cells {
		if i == len(cells)-len(own) && watch != "" {
			if _, err := fresh.session.Execute(ctx, watch); err != nil {
				return "", err
			}
		}
		if last, err = fresh.session.Execute(ctx, code); err != nil {
			return "", err
		}
		last.Outputs = fresh.steady(last.Outputs)
		if last.Status != notebook.OK {
			problem := brief.Problem(last)
			for _, v := range r.t.Variables {
				if v.Problem != "" && strings.Contains(problem, "'"+v.Name+"'") {
					return fmt.Sprintf("unproved: the variable %s (%s) cannot be carried to a fresh session: %s",
						v.Name, v.Type, v.Problem), nil
				}
			}
			return fmt.Sprintf("cell %d of %d failed in the fresh session: %s", i+1, len(cells), problem), nil
		}
	}
	if watched != "" {
		x, err := fresh.session.Execute(ctx, watched)
		if err != nil {
			return "", err
		}
		p.Doubts, p.Notes = lineage.Watched(x.Stdout(), r.t.Task.Question)
	}
	if answer := strings.TrimSpace(last.Stdout()); answer != r.t.Answer() {
		return "the fresh session printed another answer: " + brief.Clip(answer, 300), nil
	}
	want := r.t.Final.Summary
	if got := record.SummaryOf(last); want != "" && got != want {
		return "the fresh session gave another summary: " + brief.Clip(cmp.Or(got, "none"), 300), nil
	}
	for k, q := range r.t.Questions[:r.t.Earlier()] {
		if q.Final == nil {
			continue
		}
		if fault := r.filesFault(ctx, fresh, q.Final.Files); fault != "" {
			p.Notes = append(p.Notes, fmt.Sprintf("the files of the answer to question %d are "+
				"not as they were proved: %s", k+1, fault))
		}
	}
	return r.filesFault(ctx, fresh, r.t.Final.Files), nil
}

// steadyFile matches names of files whose bytes only depend on what they hold.
var steadyFile = lazy.Regexp(`(?i)\.(?:csv|tsv|tab|txt|md|jsonl?|npy|parquet)$`)

// filesFault returns how the files of an answer differ from those that cells, or a script, have
// written in a workspace, or "". Nothing is said of files that nobody can read, and whose bytes may
// differ from time to time.
func (r *run) filesFault(ctx context.Context, w *workspace, files []compare.File) string {
	who := "the fresh session"
	if w.session == nil {
		who = "the script"
	}
	folder := w.filesWritten()
	if folder != nil {
		defer folder.Close()
	}
	for _, f := range files {
		again, err := fileOf(ctx, w.session, folder, f.Name)
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

// tracePatience is the time limit of a program that reads cells.
const tracePatience = time.Minute

// trace returns what a program finds in the code of a cell that gives an answer; nothing if it
// cannot be run, or if there are no data that an answer must rest on.
func (r *run) trace(ctx context.Context, q lineage.Query) (lineage.Found, error) {
	if r.t.Task.Data == "" && len(r.t.Variables) == 0 {
		return lineage.Found{}, nil
	}
	q.Question, q.Cells = r.t.Task.Question, withoutSetUp(q.Cells)
	said, err := r.read(ctx, "origin", q, lineage.Script(q))
	return lineage.Parse(said), err
}

// read returns what a program prints that reads the code of cells; "" if it cannot be run.
func (r *run) read(ctx context.Context, kind string, on any, script string) (string, error) {
	said, err := journal.Once(ctx, r.t.Journal, kind, on, func(ctx context.Context) (string, error) {
		defer r.kernel.Start()()
		x, err := runAlone(ctx, r.cfg.RunScript, script, tracePatience)
		if err == nil && x.Status != notebook.OK {
			err = errors.New("the program that reads cells did not end")
		}
		return x.Stdout(), err
	})
	if err != nil {
		return "", ctx.Err()
	}
	return said, nil
}

// apartFrom returns the earlier questions on which the cells do not build, as far as their code tells.
func (r *run) apartFrom(ctx context.Context) (apart []int, err error) {
	var earlier [][]string
	for k := range r.t.Earlier() {
		earlier = append(earlier, r.t.Part(k).OwnCells())
	}
	if len(earlier) == 0 {
		return nil, nil
	}
	cells := r.t.OwnCells()
	said, err := r.read(ctx, "apart", []any{earlier, cells}, lineage.Apart(earlier, cells))
	var lists [][]int
	if json.Unmarshal([]byte(said), &lists) == nil && len(lists) == 1 {
		apart = lists[0]
	}
	return apart, err
}

// withoutSetUp returns cells without those that set the session up. The program that follows values
// would take their names for data.
func withoutSetUp(cells []string) []string { return cells[min(2, len(cells)):] }

// runAlone runs a script in an empty temporary folder.
func runAlone(ctx context.Context, run RunScript, script string,
	limit time.Duration) (x notebook.Execution, err error) {
	dir, err := disk.TempFolder("", "dsstar-proof-")
	if err != nil {
		return x, err
	}
	defer func() { _ = disk.RemoveTemp(dir) }() // the next start removes what stays
	return runIn(ctx, run, dir, script, limit)
}

func runIn(ctx context.Context, run RunScript, dir, script string, limit time.Duration) (notebook.Execution, error) {
	if err := os.WriteFile(record.Folder(dir).Script(), []byte(script), 0o600); err != nil {
		return notebook.Execution{}, err
	}
	return run(ctx, dir, limit)
}

// lastWords returns what a failed script said last.
func lastWords(x notebook.Execution) string {
	lines := strings.Split(strings.TrimSpace(x.Stream("stderr")), "\n")
	return cmp.Or(lines[len(lines)-1], x.Reason)
}
