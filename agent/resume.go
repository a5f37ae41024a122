package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// Resume continues a run from its record, as [page.Read] returns it, in the run folder cfg.Dir: a
// stopped run to its end, an edited one from the first edit. It answers all questions from the
// beginning, and asks and runs nothing that is in the journal. The method is the recorded one. The
// limits are those of cfg and count from here. The files are the present ones of the data folder.
//
// The error is a [*record.EditError] if a cell that a person wrote fails.
func Resume(ctx context.Context, cfg Config, t *record.Trajectory,
	files []record.File) (*record.Trajectory, error) {
	if err := cfg.validateRun(); err != nil {
		return t, err
	}
	cfg.Method, t.Sandbox, t.Choice = t.Method, cfg.Sandbox, cfg.Choice
	if t.Memory == 0 || cfg.Memory < t.Memory/2 {
		t.Memory = cfg.Memory // else what was said, so that a request is as it was
	}
	if what := t.DataChanges(files); what != "" && t.Described {
		t.Renew("the data files have changed: " + what)
	}
	if t.Journal == nil && len(t.Rounds) > 0 {
		t.Renew("what the model has replied is not recorded")
	}
	if t.Journal == nil {
		t.Journal = &journal.Journal{}
	}
	r := newRun(cfg, t)
	r.resumed, r.earlier = t.Described, t.Seconds
	r.ShowAs(t.Sizes)
	r.Continue(ask.Spent{Usage: t.Usage, ByRole: t.ByRole, Cost: t.Cost, Models: t.Models})
	t.Ended, t.Failure = false, ""
	if !t.Described {
		if len(t.Rounds) == 0 {
			t.Warnings = nil
		}
		r.files.Before = map[string]record.Description{}
		for _, d := range t.Descriptions {
			r.files.Before[d.File] = d
		}
		t.Task.Files, t.Task.Others, t.Task.Rest, t.Task.LeftOut = files, 0, "", ""
	}
	for _, w := range cfg.Warnings {
		if !slices.Contains(t.Warnings, w) {
			t.Warnings = append(t.Warnings, w)
		}
	}
	r.all = files
	return r.carryOut(ctx, r.answerAll)
}

// runAgain runs the cells with which a person has left the question, and has those written anew
// whose steps were changed.
func (r *run) runAgain(ctx context.Context) error {
	for len(r.t.ToRepeat()) > 0 {
		round := &r.t.Rounds[r.t.ToRepeat()[0]]
		err := error(nil)
		if round.Rewrite == "" {
			err = r.repeat(ctx, round)
		} else {
			err = r.rewrite(ctx, round.Rewrite)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rewrite has the cell of a changed step written in a round of its own; the cells after it then run
// again. If no cell can be written, the cells after it cannot run either.
func (r *run) rewrite(ctx context.Context, words string) error {
	if err := r.beginRound(words, ""); err != nil {
		return err
	}
	done, err := r.method.implement(ctx)
	if err != nil {
		return err
	}
	if !done && r.handsOff(1) {
		return &record.EditError{Problem: fmt.Sprintf("no cell that runs could be "+
			"written for step %d, and cells that follow it are yours", len(r.t.Plan())+1)}
	}
	edit := r.t.LastEdit()
	rest := edit.Rest[1:]
	r.t.Rounds[edit.Rest[0]-1].Rewrite = ""
	if edit.Rest = nil; done && len(rest) > 0 {
		r.t.Rounds = append(r.t.Rounds, record.Round{Edit: &record.Edit{
			What: []string{"the steps after it are run again"}, Plan: record.Numbers(r.t.Plan()), Rest: rest,
		}})
	}
	return nil
}

// handsOff reports whether a person wrote one of the cells that are still to run again, starting
// at index from, or the last cell. Then nothing is dropped.
func (r *run) handsOff(from int) bool {
	return r.t.LastEdit().Ordered || r.t.Start().ByHand || slices.ContainsFunc(r.t.ToRepeat()[from:], func(i int) bool {
		return r.t.Rounds[i].ByHand || r.t.Rounds[i].Rewrite != ""
	})
}

// repeat runs the cell of a round again as the next step of the plan. A cell that a person
// wrote must run; any other that fails is dropped with all after it.
func (r *run) repeat(ctx context.Context, round *record.Round) error {
	edit := r.t.LastEdit()
	step := len(r.t.Plan()) + 1
	last := &round.Attempts[len(round.Attempts)-1]
	if err := r.observe(Event{Kind: Repeated, Step: step, Text: round.Step}); err != nil {
		return err
	}
	chain := r.chain(last.Code)
	x, err := r.work.Run(ctx, chain, cell{code: last.Code})
	if err != nil {
		return err
	}
	if x.Execution.Status != notebook.OK {
		if r.handsOff(0) {
			r.work.Forget(chain, cell{code: last.Code})
			return stays(fmt.Sprintf("the cell of step %d", step), x.Execution)
		}
		reason := fmt.Sprintf("step %d ran before, but failed when it was run again: %s", step,
			brief.Problem(x.Execution))
		edit.Rest = nil
		r.current().Verdict, r.current().Route = &record.Verdict{Reason: reason}, &record.Route{}
		return r.Warn(reason)
	}
	last.Execution = x.Execution
	edit.Plan, edit.Rest = append(edit.Plan, edit.Rest[0]), edit.Rest[1:]
	return r.observe(Event{Kind: Ran, Try: 1, Execution: &x.Execution})
}

// finalGiven runs the last cell with which a person has left the question, if the person wrote it or
// nothing was added to the plan since. If it does not serve, there is no last cell yet; one of the
// person's must.
func (r *run) finalGiven(ctx context.Context, faults examiner) error {
	start := r.t.Start()
	if start == nil || start.Last == "" || !start.ByHand && r.current().Edit == nil {
		r.t.Final = &record.Final{} // before the first try, so that every event's notebook shows the tries
		return nil
	}
	r.t.Final = start.Final() // which the notebook has, whatever comes
	if start.ByHand {
		faults = nil
	}
	chain := r.chain(start.Last)
	a, err := r.attempt(ctx, start.Last, faults)
	if err != nil {
		return err
	}
	failed := a.Execution.Status != notebook.OK
	if start.ByHand && (failed || strings.TrimSpace(a.Execution.Stdout()) == "") {
		r.work.Forget(chain, cell{code: start.Last})
		if !failed {
			return &record.EditError{Problem: "the last cell prints nothing: it must print the answer"}
		}
		return stays("the last cell", a.Execution)
	}
	if r.t.Final.Again = false; failed {
		r.t.Final = &record.Final{}
		return nil
	}
	r.t.Final.Attempts = []record.Attempt{a}
	return r.observe(Event{Kind: Ran, Try: 1, Execution: &a.Execution})
}

// stays returns the error for a failing cell that stays in the notebook, since a person
// wrote it or builds on it.
func stays(cell string, e notebook.Execution) error {
	return &record.EditError{Problem: fmt.Sprintf("%s fails: %s; it is in the notebook as you "+
		"left it\n%s",
		cell, brief.Problem(e), strings.TrimSpace(brief.ErrorReport(e, ask.ReportChars)))}
}
