package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A Proposal is a cell that is about to run, for a person to review. The session is at the
// accepted cells, where the cell will run.
type Proposal struct {
	Round  int    // from 1
	Step   int    // its number in the plan, from 1; 0: the last cell, or that of a branch
	Branch string // "": none; the cell runs on a copy of the session: see [Event]
	Try    int    // from 1
	Text   string // the step
	Code   string // the cell
	Failed string // the cell of the try before; "" for the first
	Error  string // what was wrong with that, in one line
}

// What a person decides about a proposal.
const (
	Accept = "accept" // the decision's code runs
	Reject = "reject" // it does not run, for the decision's reason
	Stop   = "stop"   // the run ends here; [Resume] goes on with the same proposal
)

// A Decision is a person's answer to a [Proposal].
//
// After Accept, Code runs byte for byte. If it differs from the proposal, the person wrote
// the cell; a last cell written by a person must only print something. Text becomes the step
// unless it is empty; that of the last cell is not recorded. An accepted last cell is not
// checked against the guidelines. A cell by the person that fails is repaired as any other.
//
// Reject drops the step, whichever try it was, and the solver reads the reason. For the
// last cell the debugger reads the reason and writes another, while it has tries left.
type Decision = record.Decision

// ErrStopped ends a run that the reviewer has stopped.
var ErrStopped = errors.New("stopped at a review")

// byHand begins the reason of a cell that a person rejected.
const byHand = "rejected by hand"

// reviewed runs the next try if the reviewer accepts it, who is not asked about a cell that has run
// before. A rejected cell is an attempt that was not run. The person's changes of step and cell are
// recorded after the cell has run.
func (r *run) reviewed(ctx context.Context, t task, code string) (a record.Attempt, err error) {
	p, faults, chain := r.proposal(t, code), t.faults, r.chain()
	var person func(context.Context) (Decision, error)
	if r.cfg.Review != nil && !t.work.Known(t.chain, t.cell(code)) {
		person = func(ctx context.Context) (Decision, error) { return r.ask(ctx, p) }
	}
	on := p
	on.Round = 0 // it may run on other rounds than before
	d, decided, err := r.decision(ctx, []any{"review", r.t.Task.Question, chain.Earlier, chain.Steps, on}, person)
	switch {
	case err != nil:
		return a, err
	case !decided:
		d = Decision{Choice: Accept, Code: code}
	case d.Choice == Reject:
		return record.Attempt{Code: code, Execution: notebook.Execution{Status: notebook.NotRun,
			Reason: d.Reason}}, nil
	}
	edited := d.Code != code
	if t.isLast() {
		if r.approved = decided && !d.Unseen; edited {
			faults = mustPrint
		}
	}
	if a, err = r.attempt(ctx, t, d.Code, faults); err != nil {
		return record.Attempt{}, err
	}
	switch {
	case t.isLast():
		r.t.Final.ByHand = edited
	case t.branch == "":
		r.t.Last().Step, r.t.Last().ByHand = cmp.Or(d.Text, t.text), edited
	}
	return a, nil
}

// decision returns what a person has decided, or decides now if somebody is there.
func (r *run) decision(ctx context.Context, on any,
	person func(context.Context) (Decision, error)) (d Decision, known bool, err error) {
	if d, known = journal.Known[Decision](r.t.Journal, record.Decided, on); known || person == nil {
		return d, known, nil
	}
	d, err = journal.Once(ctx, r.t.Journal, record.Decided, on, person)
	return d, err == nil, err
}

// ask asks the reviewer about a cell.
func (r *run) ask(ctx context.Context, p Proposal) (Decision, error) {
	d, err := r.cfg.Review(ctx, p)
	if err == nil {
		err = ctx.Err() // whoever was asked then may not have seen the end of it
	}
	if err != nil {
		return d, ask.Overdue(ctx, err)
	}
	switch d.Choice {
	case Accept:
		if !utf8.ValidString(d.Code) || !utf8.ValidString(d.Text) {
			err = fmt.Errorf("review of %s: the cell is not valid UTF-8", r.subject())
		}
	case Reject:
		why := brief.OneLine(strings.ToValidUTF8(d.Reason, "\uFFFD"))
		if d.Reason = byHand; why != "" {
			d.Reason += ": " + why
		}
	case Stop:
		err = ErrStopped
	default:
		err = fmt.Errorf("review of %s: %q is no choice", r.subject(), d.Choice)
	}
	return d, err
}

// proposal returns what the reviewer is asked about a cell.
func (r *run) proposal(t task, code string) Proposal {
	n := len(*t.attempts)
	p := Proposal{Round: r.number(), Step: t.step, Branch: t.branch, Try: n + 1, Text: t.text, Code: code}
	if n > 0 {
		last := (*t.attempts)[n-1]
		p.Failed, p.Error = last.Code, problemOf(last)
	}
	return p
}
