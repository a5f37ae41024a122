package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// A workspace runs cells. Callers say on which cells one is to run. Where the session is, whether
// there is one, and how it gets there concern nobody else. It is for one goroutine.
type workspace struct {
	run     *run
	purpose Purpose
	folder  string // whose folder files/ cells write to; "": a temporary one, made when it is needed

	opening func() (Session, error) // nil: there is no session
	session Session
	host    Host         // the session, if it is somebody else's
	at      []string     // the cells that it has run
	lost    bool         // and something that left it in another state
	ended   int          // cells after which it was found ended
	renewed map[int]bool // places of last cells whose new answer was taken, once
	own     string       // of a session whose state is not that of its cells alone; "": it is
}

// changedError ends a pass over the questions: a cell that ran gives something else now, which the
// journal has.
type changedError struct{ what string }

func (e *changedError) Error() string { return e.what }

// A cell is code that is to run.
type cell struct {
	code   string
	branch bool // the session must be where its chain leads, and goes back after it
}

// Run returns what a cell gives on a chain of cells.
func (w *workspace) Run(ctx context.Context, chain record.Chain, c cell) (notebook.Execution, error) {
	on := w.restsOn(chain, c)
	was, _ := journal.Known[notebook.Execution](w.run.t.Journal, "cell", on)
	if was.Status == notebook.TimedOut && w.run.cfg.CellTimeout.Seconds() > 1.5*was.Seconds { // it may run longer now
		w.run.t.Journal.Forget("cell", on)
	}
	x, err := journal.Once(ctx, w.run.t.Journal, "cell", on, func(ctx context.Context) (notebook.Execution, error) {
		if err := w.enter(ctx, chain, c.branch); err != nil {
			return notebook.Execution{}, err
		}
		return w.execute(ctx, c.code)
	})
	w.run.asker.Mask.Learn(x.PlainText())
	return x, err
}

// Known reports whether a cell has run on a chain.
func (w *workspace) Known(chain record.Chain, c cell) bool {
	_, known := journal.Known[notebook.Execution](w.run.t.Journal, "cell", w.restsOn(chain, c))
	return known
}

// Forget has a cell run again when it is needed.
func (w *workspace) Forget(chain record.Chain, c cell) {
	w.run.t.Journal.Forget("cell", w.restsOn(chain, c))
}

func (w *workspace) restsOn(chain record.Chain, c cell) any {
	return []any{w.state(chain), c.code}
}

// state tells the state in which a chain leaves a session.
func (w *workspace) state(chain record.Chain) any {
	return []any{w.purpose, w.own, w.run.digest, w.run.changedFile, record.State(chain.Cells())}
}

// look returns what can be seen where a chain leads.
func look[T any](ctx context.Context, w *workspace, kind string, chain record.Chain, of any,
	do func(context.Context) (T, error)) (T, error) {
	on := []any{w.state(chain), of}
	return journal.Once(ctx, w.run.t.Journal, kind, on, func(ctx context.Context) (T, error) {
		if err := w.enter(ctx, chain, false); err != nil {
			return *new(T), err
		}
		return do(ctx)
	})
}

// execute runs a cell where the session is.
func (w *workspace) execute(ctx context.Context, code string) (e notebook.Execution, err error) {
	defer w.run.kernel.Start()()
	if err := w.carry(ctx, code); err != nil {
		return e, err
	}
	w.at = append(slices.Clip(w.at), code)
	e, err = w.session.Execute(ctx, code)
	e.Outputs = w.steady(e.Outputs)
	if err != nil || !w.run.leaves(e) {
		w.lost = true
	}
	if err == nil && e.Incomplete != "" {
		err = w.run.Warn("outputs of a cell may be missing: " + e.Incomplete)
	}
	return e, err
}

// steady returns the outputs of a cell as any session of the run gives them, in whatever folder it
// works. Credentials in them are masked from then on, also where requests show them cut.
func (w *workspace) steady(outputs []notebook.Output) []notebook.Output {
	w.run.asker.Mask.Learn(notebook.Execution{Outputs: outputs}.PlainText())
	return notebook.Rewritten(outputs, func(text string) string {
		return strings.ReplaceAll(notebook.Steady(text), w.folder, w.run.cfg.Dir)
	})
}

// An elsewhereError says why a session cannot be where a chain leads.
type elsewhereError struct{ problem string }

func (e *elsewhereError) Error() string { return e.problem }

// enter puts the session where a chain leads, for a branch by going back.
func (w *workspace) enter(ctx context.Context, to record.Chain, branch bool) error {
	if err := w.open(ctx); err != nil {
		return err
	}
	chain := to.Cells()
	for {
		if w.session.Alive() && !w.lost && lists.Begins(chain, w.at) && !(branch && w.purpose == Work) {
			if err := w.goOn(ctx, to); err != nil || w.session.Alive() {
				return err
			}
		}
		died := !w.session.Alive() && !w.lost
		stop := w.run.kernel.Start()
		back, err := w.session.Rollback(ctx, chain)
		stop()
		if err != nil {
			return err
		}
		w.at, w.lost = slices.Clone(chain), false
		var changed error
		for i := back.Kept; i < len(back.Executions); i++ {
			e := back.Executions[i]
			if n := len(chain); died && i == n-1 {
				if w.ended == n {
					e.Status, e.Reason = notebook.Died, "it ended the session after it had run"
				}
				w.ended = n
			}
			err := w.replayed(to, i, e)
			if w.lost = w.lost || err != nil && e.Status != notebook.OK; w.lost {
				return err
			}
			changed = cmp.Or(changed, err)
		}
		if changed != nil {
			return changed
		}
		if n := len(back.Executions); n != len(chain) {
			return fmt.Errorf("go back: %d of %d cells were run again", n, len(chain))
		}
		if branch {
			return nil
		}
		if w.purpose == Work && !w.run.t.Method.Script {
			err = w.run.observe(Event{Kind: WentBack, Text: "by " + string(back.Way) + record.After(": ", back.Why)})
		}
		if err != nil || w.session.Alive() {
			return err
		}
	}
}

// goOn runs the cells of a chain that the session has not run, as long as it lives.
func (w *workspace) goOn(ctx context.Context, to record.Chain) error {
	chain, changed := to.Cells(), error(nil)
	for i := len(w.at); i < len(chain) && w.session.Alive(); i++ {
		x, err := w.execute(ctx, chain[i])
		if err == nil {
			err = w.replayed(to, i, x)
		}
		if w.lost {
			return err
		}
		changed = cmp.Or(changed, err)
	}
	return changed
}

// replayed compares what cell i of a chain gives with what it gave. If it fails, or if an earlier
// question has another answer, the journal has that from now on, and the questions are answered
// from the beginning again. Otherwise the record stays as it is, with a warning: the proof decides.
func (w *workspace) replayed(to record.Chain, i int, e notebook.Execution) error {
	e.Outputs = w.steady(e.Outputs)
	cells := to.Cells()
	code, on := cells[i], w.restsOn(record.Chain{Steps: cells[:i]}, cell{code: cells[i]})
	was, known := journal.Known[notebook.Execution](w.run.t.Journal, "cell", on)
	step, problem := i-len(to.SetUp)-len(to.Earlier)+1, brief.Problem(e)
	where := "a cell of an earlier question"
	if step > 0 {
		where = fmt.Sprintf("step %d", step)
	}
	again := func(what string) error {
		err := cmp.Or(journal.Put(w.run.t.Journal, "cell", on, e), w.run.Warn(what))
		return cmp.Or(err, error(&changedError{what}))
	}
	switch failed := !w.run.leaves(e); {
	case failed && i < len(to.SetUp) && strings.HasPrefix(code, record.VariablesComment):
		return fmt.Errorf("the variables of the kernel that the run began in cannot be loaded "+
			"here; the Python of that kernel can: %s", problem)
	case failed && i < len(to.SetUp):
		return fmt.Errorf("set up the session: %s", problem)
	case failed && w.purpose == Second:
		return &elsewhereError{"a cell before it no longer runs: " + problem}
	case failed && step > 0 && w.run.t.Mine(step) > 0: // one builds on it
		return stays(where, e)
	case failed:
		return again(where + " ran before, but failed when it was run again: " + problem)
	case !known || was.PlainText() == e.PlainText() || w.purpose == Second:
		return nil
	}
	what := where + " printed something else when it was run again"
	if !slices.Contains(to.Answers, i-len(to.SetUp)) || w.renewed[i] ||
		strings.TrimSpace(was.Stdout()) == strings.TrimSpace(e.Stdout()) {
		return w.run.Warn(what)
	}
	w.renewed[i] = true
	return again(what)
}

// prepare begins to open the session, which takes a while.
func (w *workspace) prepare(ctx context.Context) {
	if w.opening != nil {
		return
	}
	stop := w.run.kernel.Start()
	w.opening = sync.OnceValues(func() (Session, error) {
		defer stop()
		if err := w.makeFolder(); err != nil {
			return nil, err
		}
		return w.run.cfg.Open(ctx, w.purpose, w.folder)
	})
	go w.opening()
}

// makeFolder makes the folder of a workspace that has none.
func (w *workspace) makeFolder() (err error) {
	if w.folder != "" {
		return nil
	}
	if w.folder, err = disk.TempFolder("", "dsstar-apart-"); err != nil {
		return err
	}
	return record.Folder(w.run.cfg.Dir).Lend(w.folder)
}

func (w *workspace) open(ctx context.Context) (err error) {
	if w.session != nil {
		return nil
	}
	w.prepare(ctx)
	w.session, err = w.opening()
	return err
}

// close ends the session. The next cell runs in a new one.
func (w *workspace) close() {
	if w.opening != nil {
		if s, _ := w.opening(); s != nil {
			_ = s.Close() // nothing of the run depends on it any more
		}
	}
	if w.purpose != Work && w.folder != "" {
		_ = disk.RemoveTemp(w.folder) // the next start removes what stays
		w.folder = ""
	}
	w.opening, w.session, w.at, w.lost = nil, nil, nil, false
}
