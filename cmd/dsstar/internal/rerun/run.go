package rerun

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"dsstar/agent/page"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/kernel"
	"dsstar/kernel/rewind"
	"dsstar/notebook"
	"dsstar/notebook/human"
)

// A rerun is one execution of a notebook, or of one of its rounds.
type rerun struct {
	*Runner
	Flags
	place   *place
	k       *rewind.Session
	nb      *notebook.Notebook
	out     *outFile
	show    *transcript
	steps   []*step
	base    []string // the cells before a round, after which each attempt begins
	changed bool     // a check has found a difference
	result  Result
}

// run executes the cells, and compares them. A failed cell is in the result; an error means that
// the notebook could not be written, that the kernel's infrastructure failed, or that ctx was
// cancelled.
func (r *rerun) run(ctx context.Context) error {
	r.out.change(func() {})
	err := r.execute(ctx)
	if err == nil && r.judges() {
		r.check()
	}
	if err == nil && r.Round == nil {
		r.restate()
	}
	return cmp.Or(err, r.out.finish())
}

func (r *rerun) execute(ctx context.Context) error {
	for _, s := range r.steps {
		if s.attempt > 0 {
			if err := r.goBack(ctx); err != nil || r.result.Failed != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x, err := r.cell(ctx, s)
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		if r.ends(s, x) {
			r.fail(s, fmt.Sprintf("cell %d of %s, In [%d]:", s.cell+1,
				ui.Printable(filepath.Base(r.result.Notebook)), x.Count))
			return nil
		}
		r.show.end(x)
	}
	return nil
}

// goBack takes the session to the state in which the attempts of a round begin.
func (r *rerun) goBack(ctx context.Context) error {
	r.show.Await(fmt.Sprintf("running the %s before round %d", human.Plural(len(r.base), "cell"),
		*r.Round))
	back, err := r.k.Rollback(ctx, r.base)
	if n := len(back.Executions); err == nil && n > 0 && back.Executions[n-1].Status != notebook.OK {
		r.changed = true
		r.fail(&step{cell: -1, code: r.base[n-1], is: &back.Executions[n-1]},
			fmt.Sprintf("cell %d of those before round %d:", n, *r.Round))
	}
	return err
}

// ends reports whether the run ends with a cell. The tag raises-exception does not cover time-outs.
func (r *rerun) ends(s *step, x notebook.Execution) bool {
	switch {
	case x.Status == notebook.OK || s.attempt > 0:
		return false
	case x.Status == notebook.Raised:
		return !s.mayRaise
	}
	return !(r.AllowErrors && x.Status == notebook.TimedOut && r.k.Alive())
}

// cell executes one cell and stores its outputs in the notebook. If ctx is cancelled, the cell is
// interrupted and its outputs so far are kept.
func (r *rerun) cell(ctx context.Context, s *step) (notebook.Execution, error) {
	r.result.Executed++
	title := firstLine(s.code)
	r.show.Await(fmt.Sprintf("cell %d of %d: %s", r.result.Executed, len(r.steps), title))
	r.show.show("%s", ui.Fit(fmt.Sprintf("In [%d]: %s", r.result.Executed, title), 100))
	within, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	defer context.AfterFunc(ctx, func() {
		r.k.Interrupt()
		time.AfterFunc(obedience, leave)
	})()
	x, err := r.k.ExecuteCell(within,
		kernel.Cell{Code: s.code, MayRaise: s.mayRaise, Observe: r.show.output})
	x.Outputs, x.Updates = r.place.moved(x.Outputs), r.place.moved(x.Updates)
	s.is = &x
	r.out.change(func() { r.keep(s, x) })
	return x, err
}

// obedience is the time that a cell has to end after an interrupt.
const obedience = 2 * time.Second

// keep stores a cell's outputs in the notebook, and updates displays of earlier cells.
func (r *rerun) keep(s *step, x notebook.Execution) {
	if s.cell < 0 {
		return
	}
	for _, update := range x.Updates {
		for i := range r.nb.Cells {
			notebook.Redisplay(r.nb.Cells[i].Outputs, update)
		}
	}
	c := &r.nb.Cells[s.cell]
	c.Outputs, c.ExecutionCount = x.Outputs, x.Count
}

// fail records the cell that ends the run and shows it.
func (r *rerun) fail(s *step, title string) {
	r.result.Failed = &failedCell{s.cell, s.id, s.is.Status, problem(*s.is), s}
	r.show.Stop()
	showFailure(r.Stderr, title, s.code, *s.is)
}

// restate compares the answers, and updates those in the notebook that have changed.
func (r *rerun) restate() {
	r.result.Answers = r.findAnswers()
	now := map[int]string{}
	for _, is := range r.result.Answers {
		if !is.Same || r.Data != "" || len(r.Parameters) > 0 {
			now[is.part] = is.Is
		}
		r.changed = r.changed || !is.Same
	}
	r.out.change(func() {
		if len(now) > 0 {
			page.Restate(r.nb, now)
		}
		if r.place.made && r.place.intact { // nothing that it shows is anybody else's
			r.Key.Seal(r.nb)
		}
	})
}

// problem says in one line how a cell failed.
func problem(x notebook.Execution) string {
	e, raised := x.Error()
	switch {
	case x.Status == notebook.Raised && raised && e.EName != "":
		return "raised " + ui.Fit(ui.Clean(e.EName+": "+e.EValue), 300)
	case x.Reason != "":
		return ui.Fit(ui.Clean(x.Reason), 300)
	}
	return "failed"
}
