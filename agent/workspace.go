package agent

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A workspace is the session of a run, and what is known of the state of session and data.
type workspace struct {
	*recorder
	*site // where the next cell runs
	open  Open
	dir   string // the run folder
	home  string // that outputs show instead; "": dir

	other     *apart         // for the second derivation; nil: none is open
	ending    sync.WaitGroup // of sessions of which nothing else depends on their end
	host      Host           // the session, if it is somebody else's
	answering bool           // the rounds are over
	ended     int            // accepted cells, with set-up, after which the session was found ended

	all         []record.File // that the data folder had and the run may look at
	data        dataState
	changedFile string // a data file that is no longer as data has it
}

// execute runs a cell in the run's session. After a cell that failed the session is dirty
// and must be restored before the next one.
func (r *workspace) execute(ctx context.Context, code string) (notebook.Execution, error) {
	defer r.kernel.Start()()
	if err := r.carry(ctx, code); err != nil {
		return notebook.Execution{}, err
	}
	e, err := r.session.Execute(ctx, code)
	e.Outputs = r.steady(e.Outputs)
	if err != nil || e.Status != notebook.OK {
		r.dirty = true
	}
	if err == nil {
		err = r.checkData(false)
	}
	if err == nil && e.Incomplete != "" {
		err = r.Warn("outputs of a cell may be missing: " + e.Incomplete)
	}
	return e, err
}

// steady returns the outputs of a cell as any session of the run gives them. Credentials in them are
// masked from then on, also where requests show them cut.
func (r *workspace) steady(outputs []notebook.Output) []notebook.Output {
	r.Mask.Learn(notebook.Execution{Outputs: outputs}.PlainText())
	return notebook.Moved(notebook.Steady(outputs), r.dir, cmp.Or(r.home, r.dir))
}

// restore puts a session that is dirty, or has ended since the last cell, back to the accepted
// cells. If they run again for that, the record keeps their new outputs, since later cells build on
// them. A step that fails then, or after which the session ends again, is dropped with all after
// it, and the plan is not intact.
func (r *workspace) restore(ctx context.Context) (intact bool, err error) {
	for intact = true; r.dirty || !r.session.Alive(); {
		cells, ended := r.t.Base(), !r.dirty
		stop := r.kernel.Start()
		back, err := r.session.Rollback(ctx, cells)
		stop()
		if err != nil {
			return false, err
		}
		if n := len(back.Executions); ended && n == len(cells) {
			again := n == r.ended
			if r.ended = n; again && r.t.Steps() == 0 {
				return intact, nil // no step is to blame
			} else if again {
				back.Executions = slices.Clone(back.Executions) // the session's own
				back.Executions[n-1].Status = notebook.Died
				back.Executions[n-1].Reason = "it ended the session after it had run"
			}
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
		r.dirty = false
		if err := r.wentBack(back); err != nil {
			return false, err
		}
	}
	return intact, nil
}

// stayed is the warning of a run that does not go back.
const stayed = "going back is off: after a cell that failed or was dropped, the next one ran " +
	"on what it had left in the session"

// returned records how the session went back, in the current round or at the last cell.
func (r *workspace) returned(back notebook.Restoration) {
	back.Executions = nil
	switch {
	case r.answering:
		r.t.Final.Returns = append(r.t.Final.Returns, record.Return{After: len(r.t.Final.Attempts),
			Restoration: back})
	case len(r.t.Rounds) > r.t.EarlierRounds():
		round := r.current()
		round.Returns = append(round.Returns, record.Return{After: len(round.Attempts),
			Restoration: back})
	}
}

// wentBack reports how the session went back, or once that it does not.
func (r *workspace) wentBack(back notebook.Restoration) error {
	switch {
	case back.Way != notebook.NotAtAll:
		return r.observe(Event{Kind: WentBack, Text: record.HowRestored(back)})
	case !slices.Contains(r.t.Warnings, stayed):
		return r.Warn(stayed)
	}
	return nil
}

// replayed records the outputs of accepted cells that ran again, where they differ. It
// returns the number of a step that failed this time, or 0.
func (r *workspace) replayed(executions []notebook.Execution, cells int) (broken int, err error) {
	plan := r.t.AcceptedRounds()
	opening, before := len(r.t.Opening()), len(r.t.EarlierCells())
	for i, e := range executions {
		e.Outputs = r.steady(e.Outputs)
		if i == 2 && len(r.t.Loaded()) > 0 && e.Status != notebook.OK {
			return 0, fmt.Errorf("the variables of the kernel that the run began in cannot be loaded "+
				"here; the Python of that kernel can: %s", brief.Problem(e))
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
		if e.Status != notebook.OK && r.t.Mine(step) > 0 { // it is a person's, or one builds on it
			return 0, stays(fmt.Sprintf("the cell of step %d", step), e)
		}
		if e.Status != notebook.OK {
			reason := fmt.Sprintf("step %d ran before, but failed when it was run again: %s", step,
				brief.Problem(e))
			r.current().Route = &record.Route{Back: step, Reason: reason}
			return step, r.Warn(reason)
		}
		attempt := &round.Attempts[len(round.Attempts)-1]
		if attempt.Execution.PlainText() == e.PlainText() {
			continue
		}
		if attempt.Execution = e; r.t.Seal.Reshown {
			continue
		}
		text := fmt.Sprintf("step %d printed something else when it was run again", step)
		if err := r.Warn(text); err != nil {
			return 0, err
		}
	}
	if len(executions) != cells {
		return 0, fmt.Errorf("go back: %d of %d cells were run again", len(executions), cells)
	}
	return 0, nil
}

// earlierReplayed records the output of cell n, from 0, of the earlier questions. A question
// whose output has changed is no longer proved.
func (r *workspace) earlierReplayed(n int, e notebook.Execution) error {
	for k := range r.t.Earlier {
		part := r.t.Part(k)
		for _, i := range part.CellRounds() {
			if n--; n == -1 {
				return r.replaced(k, &part.Rounds[i].Attempts, e, "")
			}
		}
		if _, ok := part.FinalCell(); !ok {
			continue
		}
		if n--; n == -1 {
			err := r.replaced(k, &part.Final.Attempts, e, part.Answer())
			part.Final.Take(part.Final.Attempts[len(part.Final.Attempts)-1].Execution)
			return err
		}
	}
	return nil // before the first part
}

// replaced replaces the execution of the last attempt if it differs. Where the outputs of the
// notebook are not those that were sealed, only another answer counts.
func (r *workspace) replaced(part int, attempts *[]record.Attempt, e notebook.Execution, answer string) error {
	last := &(*attempts)[len(*attempts)-1]
	if e.Status != notebook.OK {
		return stays("a cell of an earlier question", e)
	}
	if last.Execution.PlainText() == e.PlainText() {
		return nil
	}
	last.Execution = e
	if r.t.Seal.Reshown && (answer == "" || answer == strings.TrimSpace(e.Stdout())) {
		return nil
	}
	r.t.Withdraw(part)
	return r.Warn(withdrawn(part))
}

// withdrawn warns of a question whose cells have given something else, until it is proved again.
func withdrawn(part int) string {
	return fmt.Sprintf("a cell of question %d printed something else when it was run "+
		"again: its answer is not verified until dsstar resume has proved it again", part+1)
}

// begin runs the cells before the next step: the set-up, and for a resumed run the plan.
func (r *workspace) begin(ctx context.Context) error {
	stop := r.kernel.Start()
	cells := r.t.Base()
	executions, err := executeAll(ctx, r.session, cells)
	stop()
	if err != nil {
		return err
	}
	broken, err := r.replayed(executions, len(cells))
	if err != nil || broken == 0 {
		return err
	}
	if f := r.t.Final; f != nil && f.ByHand {
		return &record.EditError{Problem: fmt.Sprintf("step %d no longer runs, and the last cell, "+
			"which builds on it, is yours; it is in the notebook as you left it", broken)}
	}
	r.dirty, r.t.Final = true, nil // what it rests on is no more
	_, err = r.restore(ctx)
	return err
}

// elsewhere returns the trajectory for cells in another folder: the data folder has its absolute
// path.
func (r *workspace) elsewhere() *record.Trajectory {
	t := *r.t
	t.Task.Data = r.dataPath()
	return &t
}

// dataPath returns the absolute path of the data folder, or "".
func (r *workspace) dataPath() string {
	if r.t.Task.Data == "" || filepath.IsAbs(r.t.Task.Data) {
		return r.t.Task.Data
	}
	return filepath.Join(r.dir, r.t.Task.Data)
}

// executeAll runs cells until one fails. The last execution is that of the failing cell.
func executeAll(ctx context.Context, s Session, cells []string) ([]notebook.Execution, error) {
	var all []notebook.Execution
	for _, code := range cells {
		e, err := s.Execute(ctx, code)
		if err != nil {
			return all, err
		}
		if all = append(all, e); e.Status != notebook.OK {
			break
		}
	}
	return all, nil
}
