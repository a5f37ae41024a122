package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// execute runs a cell in the run's session. After a cell that did not end well
// the session is dirty: restore must come before the next one.
func (r *run) execute(ctx context.Context, code string) (notebook.Execution, error) {
	defer r.kernel.Start()()
	if err := r.carry(ctx, code); err != nil {
		return notebook.Execution{}, err
	}
	e, err := r.session.Execute(ctx, code)
	e.Outputs = notebook.Steady(e.Outputs)
	if err != nil || e.Status != notebook.OK {
		r.dirty = true
	}
	if err == nil {
		err = r.checkData(false)
	}
	if err == nil && e.Incomplete != "" {
		err = r.observe(Event{Kind: Warned, Text: "outputs of a cell may be missing: " + e.Incomplete})
	}
	return e, err
}

// restore puts a dirty session back to the accepted cells. What they give when
// they run again is what the record keeps, since later cells build on it. A
// step that does not run a second time is dropped with all after it; the plan is
// then not intact.
func (r *run) restore(ctx context.Context) (intact bool, err error) {
	for intact = true; r.dirty; {
		cells := r.t.Base()
		stop := r.kernel.Start()
		back, err := r.session.Rollback(ctx, cells)
		stop()
		if err != nil {
			return false, err
		}
		r.returned(back)
		if back.Way != notebook.NotAtAll {
			broken, err := r.replayed(back.Executions, len(cells))
			if err != nil {
				return false, err
			}
			if broken > 0 {
				intact = false
				continue
			}
		}
		if r.dirty = false; r.t.Method.Script {
			continue // nothing has gone back: every script starts from nothing
		}
		if err := r.wentBack(back); err != nil {
			return false, err
		}
	}
	return intact, nil
}

// stayed is what a run is warned of that does not go back.
const stayed = "going back is off: after a cell that failed or was dropped, the next one ran on what it had left in the session"

// returned records how the session went back, where it did: in the round that is
// under way, or at the last cell.
func (r *run) returned(back notebook.Restoration) {
	back.Executions = nil
	switch {
	case r.t.Method.Script: // nothing has gone back
	case r.answering:
		r.t.Final.Returns = append(r.t.Final.Returns, record.Return{After: len(r.t.Final.Attempts), Restoration: back})
	case len(r.t.Rounds) > r.t.EarlierRounds():
		round := r.current()
		round.Returns = append(round.Returns, record.Return{After: len(round.Attempts), Restoration: back})
	}
}

// wentBack tells how the session went back, or once that it does not.
func (r *run) wentBack(back notebook.Restoration) error {
	switch {
	case back.Way != notebook.NotAtAll:
		return r.observe(Event{Kind: WentBack, Text: record.HowRestored(back)})
	case !slices.Contains(r.t.Warnings, stayed):
		return r.observe(Event{Kind: Warned, Text: stayed})
	}
	return nil
}

// replayed takes over what the accepted cells gave when they ran again, where it
// is not what they had given. It returns the number of a step that failed this
// time, or 0.
func (r *run) replayed(executions []notebook.Execution, cells int) (broken int, err error) {
	plan := r.t.AcceptedRounds()
	opening, before := len(r.t.Opening()), len(r.t.EarlierCells())
	for i, e := range executions {
		e.Outputs = notebook.Steady(e.Outputs)
		if i == 2 && i < opening && e.Status != notebook.OK {
			return 0, fmt.Errorf("the variables of the kernel that the run began in cannot be loaded here; the Python of that kernel can: %s", brief.Problem(e))
		}
		if i < opening && e.Status != notebook.OK {
			return 0, fmt.Errorf("set up the session: %s", brief.Problem(e))
		}
		if i < before {
			if err := r.earlierReplayed(i-opening, e); err != nil {
				return 0, err
			}
			continue
		}
		round, step := &r.t.Rounds[plan[i-before]], i-before+1
		if e.Status != notebook.OK && round.ByHand {
			return 0, stays(fmt.Sprintf("the cell of step %d", step), e)
		}
		if e.Status != notebook.OK {
			reason := fmt.Sprintf("step %d ran before, but failed when it was run again: %s", step, brief.Problem(e))
			r.current().Route = &record.Route{Back: step, Reason: reason}
			return step, r.observe(Event{Kind: Warned, Text: reason})
		}
		attempt := &round.Attempts[len(round.Attempts)-1]
		if attempt.Execution.PlainText() == e.PlainText() {
			continue
		}
		attempt.Execution = e
		text := fmt.Sprintf("step %d printed something else when it was run again", step)
		if err := r.observe(Event{Kind: Warned, Text: text}); err != nil {
			return 0, err
		}
	}
	if len(executions) != cells {
		return 0, fmt.Errorf("go back: %d of %d cells were run again", len(executions), cells)
	}
	return 0, nil
}

// earlierReplayed takes over what a cell of an earlier part gave when it ran
// again: cell n of them all, from 0. A part that has become another is not proved
// any more.
func (r *run) earlierReplayed(n int, e notebook.Execution) error {
	for k := range r.t.Earlier {
		part := r.t.Part(k)
		for _, i := range part.CellRounds() {
			if n--; n == -1 {
				return r.replaced(k, &part.Rounds[i].Attempts, e)
			}
		}
		if _, ok := part.FinalCell(); !ok {
			continue
		}
		if n--; n == -1 {
			err := r.replaced(k, &part.Final.Attempts, e)
			part.Final.Answer = strings.TrimSpace(part.Final.Attempts[len(part.Final.Attempts)-1].Execution.Stdout())
			return err
		}
	}
	return nil // before the first part
}

// replaced puts an execution in the place of the last attempt's, if it is another.
func (r *run) replaced(part int, attempts *[]record.Attempt, e notebook.Execution) error {
	last := &(*attempts)[len(*attempts)-1]
	if e.Status != notebook.OK {
		return stays("a cell of an earlier question", e)
	}
	if last.Execution.PlainText() == e.PlainText() {
		return nil
	}
	last.Execution, r.t.Earlier[part].Proof = e, nil
	return r.observe(Event{Kind: Warned, Text: fmt.Sprintf("a cell of question %d printed something else when it was run again: its answer is no longer proved", part+1)})
}
