package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// Resume continues a run from its record, as [page.Read] returns it, in the run folder cfg.Dir: a
// stopped run to its end, an edited one from the first edit. It answers all questions from the
// beginning, and asks and runs nothing that is in the journal. The method is the recorded one. The
// limits are those of cfg and count from here. The files are the present ones of the data folder.
//
// The error is a [*record.EditError] if a cell that a person wrote fails.
func Resume(ctx context.Context, cfg Config, t *record.Trajectory, files []record.File) (*record.Trajectory, error) {
	cfg.Method, t.Sandbox, t.Choice = t.Method, cfg.Sandbox, cfg.Choice
	if what := t.DataChanges(files); what != "" && t.Described {
		t.Renew("the data files have changed: " + what)
	}
	r := newRun(cfg, t)
	r.resumed, r.before = t.Described, t.Seconds
	r.asker.ShowAs(t.Sizes)
	r.asker.Continue(t.Spent)
	t.Ended, t.Failure = false, ""
	if !t.Described {
		if t.RoundsTaken() == 0 {
			t.Warnings = nil
		}
		t.Task.Files, t.Task.Others, t.Task.Rest, t.Task.LeftOut = files, 0, "", ""
	}
	for _, w := range cfg.Warnings {
		if !slices.Contains(t.Warnings, w) {
			t.Warnings = append(t.Warnings, w)
		}
	}
	r.all = files
	return r.whole(ctx, r.answerAll)
}

// begin runs the cells again with which a person has left the question, and has the plan judged if
// nobody has.
func (r *run) begin(ctx context.Context, judge func(context.Context) error) error {
	for len(r.t.Rest) > 0 {
		if err := r.repeat(ctx, r.t.Rest[0]); err != nil {
			return err
		}
	}
	if r.asLeft() && r.t.Last().Verdict == nil {
		return judge(ctx)
	}
	return nil
}

// asLeft reports whether the plan is as a person has left it: nothing was added.
func (r *run) asLeft() bool { return r.t.Last() != nil && r.t.Last().Given }

// repeat runs the cell of a round again as the next step of the plan. It must run if a person wrote it,
// one that is still to run again, or the last cell, or put the steps into order; any other that fails is
// dropped with all after it.
func (r *run) repeat(ctx context.Context, next record.Round) error {
	next.Place = len(r.t.Plan()) + 1
	if err := r.observe(Event{Kind: Repeated, Step: next.Place, Text: next.Step}); err != nil {
		return err
	}
	code := next.Attempts[0].Code
	chain := r.chain()
	x, err := r.work.Run(ctx, chain, cell{code: code})
	if err != nil {
		return err
	}
	if x.Status != notebook.OK {
		mine := func(x record.Round) bool { return x.ByHand }
		if r.t.Start.Ordered || r.t.Start.ByHand || slices.ContainsFunc(r.t.Rest, mine) {
			r.work.Forget(chain, cell{code: code})
			return stays(fmt.Sprintf("the cell of step %d", next.Place), x)
		}
		reason := fmt.Sprintf("step %d ran before, but failed when it was run again: %s", next.Place,
			brief.Problem(x))
		if last := r.t.Last(); last != nil {
			last.Verdict, last.Route = &record.Verdict{Reason: reason}, &record.Route{}
		}
		r.t.Rest = nil
		return r.Warn(reason)
	}
	rows, err := r.rowsOf(ctx, r.work, chain, code)
	if err != nil {
		return err
	}
	next.Attempts = []record.Attempt{{Code: code, Execution: x, Rows: rows}}
	r.t.Rounds, r.t.Rest = append(r.t.Rounds, next), r.t.Rest[1:]
	return r.observe(Event{Kind: Ran, Try: 1, Execution: &x})
}

// finalGiven runs the last cell with which a person has left the question, if the person wrote it. Such a
// cell must serve. Otherwise there is no last cell yet: what a model wrote, its sentences too, is about the
// cells and outputs that it saw.
func (r *run) finalGiven(ctx context.Context, t task) error {
	start := r.t.Start
	if start == nil || start.Last == "" || !start.ByHand {
		r.t.Final = &record.Final{} // before the first try, so that every event's notebook shows the tries
		return nil
	}
	r.t.Final = start.Final() // which the notebook has, whatever comes
	a, err := r.attempt(ctx, t, start.Last, mustPrint)
	if err != nil {
		return err
	}
	if a.Execution.Status != notebook.OK {
		r.work.Forget(t.chain, t.cell(start.Last))
		return stays("the last cell", a.Execution)
	}
	r.t.Final.Attempts = []record.Attempt{a}
	return r.observe(Event{Kind: Ran, Try: 1, Execution: &a.Execution})
}

// stays returns the error for a failing cell that stays in the notebook, since a person
// wrote it or builds on it.
func stays(cell string, e notebook.Execution) error {
	return &record.EditError{Problem: fmt.Sprintf("%s fails: %s; it is in the notebook as you left it\n%s", cell,
		brief.Problem(e), strings.TrimSpace(brief.ErrorReport(e, ask.ReportChars)))}
}
