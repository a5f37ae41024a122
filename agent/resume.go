package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// Resume continues a run from its record, as [page.Read] returns it, in the run folder
// cfg.Dir: a stopped run to its end, an edited one from the first edit. It asks the model
// nothing that is recorded or in cfg.Answered. The method is the recorded one. The limits
// are those of cfg and count from here. The files are the present ones of the data folder.
//
// The error is a [*record.EditError] if a cell that a person wrote fails; then the record is
// unchanged.
func Resume(ctx context.Context, cfg Config, t *record.Trajectory,
	files []record.File) (*record.Trajectory, error) {
	if err := cfg.validateRun(); err != nil {
		return t, err
	}
	cfg.Method, t.Sandbox, t.Choice = t.Method, cfg.Sandbox, cfg.Choice
	r := newRun(cfg, t)
	r.earlier = t.Seconds
	r.Continue(ask.Spent{Usage: t.Usage, ByRole: t.ByRole, Cost: t.Cost, Models: t.Models})
	if len(cfg.Answered) > 0 {
		r.Model = llm.Remember(cfg.Model, usable(t, cfg.Answered))
		r.Recount(cfg.Answered) // the notebook may not have been saved with all of them
	}
	if t.Memory == 0 || cfg.Memory < t.Memory/2 {
		t.Memory = cfg.Memory // else what was said, so that a request is as it was
	}
	ended := t.Ended && t.Failure == "" // in its own time
	t.Ended, t.Failure, t.Unusable = false, "", nil
	if what := t.DataChanges(files); what != "" && t.Described {
		t.Renew("the data files have changed: " + what)
	}
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
	if t.Answer() == "" && t.Final != nil && !t.Final.Again && ended {
		// all its tries are used up; they are in the trace
		t.Final = &record.Final{Begun: t.Final.Begun + 1}
		r.current().Answer = ""
	}
	if r.t.Answer() != "" && !r.t.Sufficient() && r.left() > 0 && r.t.Disputed() == nil {
		t.Final, t.Proof = nil, nil // there are rounds left to do better
	}
	t.ProveAgain()
	return r.carryOut(ctx, r.runAll)
}

// runAll runs the last question and those that follow it, each in sessions of its own.
func (r *run) runAll(ctx context.Context) error {
	for {
		if err := r.run(ctx); err != nil || !r.t.Next() {
			return err
		}
		*r.workspace = workspace{recorder: r.recorder, site: &site{folder: r.dir}, open: r.open,
			dir: r.dir, home: r.home, all: r.all}
		r.made, r.approved = false, false
	}
}

// usable returns the exchanges except those of the request that ended the run, whose replies
// would end it again.
func usable(t *record.Trajectory, all []llm.Exchange) []llm.Exchange {
	if t.Unusable == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(e llm.Exchange) bool {
		return e.Role == t.Unusable.Role &&
			strings.TrimSuffix(e.Subject, ask.AskedAgain) == t.Unusable.Subject
	})
}

// takeDescriptions replaces describing for files whose descriptions are recorded.
func (r *run) takeDescriptions() {
	r.data = lookAt(r.dataPath(), r.all)
	r.files.Recall()
}

// runAfterEdits carries out a person's edits: the cells from the first edit on run again, and a cell
// whose step was changed is written anew. The plan is judged after that.
func (r *run) runAfterEdits(ctx context.Context) error {
	for len(r.t.ToRepeat()) > 0 {
		round := &r.t.Rounds[r.t.ToRepeat()[0]]
		if round.Rewrite == "" {
			if err := r.repeat(ctx, round); err != nil {
				return err
			}
			continue
		}
		if last := r.current(); last.Edit != nil || last.Route != nil {
			if err := r.beginRound(round.Rewrite, ""); err != nil {
				return err
			}
		}
		if err := r.rewrite(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rewrite has the cell of a changed step written in the current round; the cells after it
// then run again. If no cell can be written, the cells after it cannot run either. Until
// then the record has the step as the person left it.
func (r *run) rewrite(ctx context.Context) error {
	done := true
	if _, accepted := r.current().Accepted(); !accepted {
		var err error
		if done, err = r.method.implement(ctx); err != nil {
			return err
		}
	}
	if !done {
		if _, err := r.method.ready(ctx); err != nil || r.handsOff(1) {
			return cmp.Or(err, error(&record.EditError{Problem: fmt.Sprintf("no cell that runs could be "+
				"written for step %d, and cells that follow it are yours", len(r.t.Plan())+1)}))
		}
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
// at index from. Then nothing is dropped.
func (r *run) handsOff(from int) bool {
	return r.t.LastEdit().Ordered || slices.ContainsFunc(r.t.ToRepeat()[from:], func(i int) bool {
		return r.t.Rounds[i].ByHand || r.t.Rounds[i].Rewrite != ""
	})
}

// repeat runs the cell of a round again as the next step of the plan. A cell that a person
// wrote must run; any other that fails is dropped with all after it.
func (r *run) repeat(ctx context.Context, round *record.Round) error {
	edit := r.current().Edit
	step := len(r.t.Plan()) + 1
	last := &round.Attempts[len(round.Attempts)-1]
	if err := r.observe(Event{Kind: Repeated, Step: step, Text: round.Step}); err != nil {
		return err
	}
	if _, err := r.method.ready(ctx); err != nil {
		return err
	}
	e, err := r.execute(ctx, last.Code)
	if err != nil {
		return err
	}
	if e.Status != notebook.OK {
		if r.handsOff(0) {
			return stays(fmt.Sprintf("the cell of step %d", step), e)
		}
		reason := fmt.Sprintf("step %d ran before, but failed when it was run again: %s", step,
			brief.Problem(e))
		edit.Rest = nil
		r.current().Verdict, r.current().Route = &record.Verdict{Reason: reason}, &record.Route{}
		if err := r.Warn(reason); err != nil {
			return err
		}
		_, err := r.method.ready(ctx)
		return err
	}
	last.Execution = e
	edit.Plan, edit.Rest = append(edit.Plan, edit.Rest[0]), edit.Rest[1:]
	return r.observe(Event{Kind: Ran, Try: 1, Execution: &e})
}

// finalAgain runs the last cell of before a person's edit again if the person wrote it or
// nothing was added to the plan since. Otherwise, or if it fails, a new one is written.
func (r *run) finalAgain(ctx context.Context, faults examiner) error {
	final := r.t.Final
	last, ok := r.t.FinalCell()
	if !final.Again {
		return nil
	}
	if !ok || !final.ByHand && r.current().Edit == nil {
		*final = record.Final{Begun: final.Begun + 1}
		return nil
	}
	if final.ByHand {
		faults = nil
	}
	if _, err := r.method.ready(ctx); err != nil {
		return err
	}
	a, err := r.attempt(ctx, last.Code, faults)
	if err != nil {
		return err
	}
	printed := strings.TrimSpace(a.Execution.Stdout()) != ""
	switch {
	case final.ByHand && a.Execution.Status != notebook.OK:
		return stays("the last cell", a.Execution)
	case final.ByHand && !printed:
		return &record.EditError{Problem: "the last cell prints nothing: it must print the answer"}
	case a.Execution.Status != notebook.OK:
		*final = record.Final{Begun: final.Begun + 1}
		_, err := r.method.ready(ctx)
		return err
	}
	final.Attempts, final.Returns, final.Again = []record.Attempt{a}, nil, false
	return r.observe(Event{Kind: Ran, Try: 1, Execution: &a.Execution})
}

// stays returns the error for a failing cell that stays in the notebook, since a person
// wrote it or builds on it.
func stays(cell string, e notebook.Execution) error {
	return &record.EditError{Problem: fmt.Sprintf("%s fails: %s; it is in the notebook as you "+
		"left it\n%s",
		cell, brief.Problem(e), strings.TrimSpace(brief.ErrorReport(e, ask.ReportChars)))}
}
