package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// A task is a cell that is to be written, run, and repaired until it serves: a step's, the last one,
// or that of a branch, which runs beside the accepted cells: the second derivation, or the answer under
// another reading.
type task struct {
	branch   string // "second derivation", "reading 1, option 2"; "": the cell becomes one of the notebook
	step     int    // its number in the plan, from 1; 0: the last cell, or a branch
	text     string // what the cell is to do, for the debugger and a reviewer
	code     string // the cell, if it is written already
	ask      ask.Request
	show     func() []prompts.Part // what requests to repair it begin with
	attempts *[]record.Attempt

	work   *workspace
	chain  record.Chain // that it runs on
	faults examiner
}

// An examiner returns what is wrong with a cell that ran, or "".
type examiner func(ctx context.Context, a record.Attempt) (problem string, err error)

func (t task) isLast() bool { return t.branch == "" && t.step == 0 }

func (t task) cell(code string) cell { return cell{code: code, branch: t.branch != ""} }

// carryOut has a cell written, runs it, and has it repaired while it fails, at most as often as the
// question's limits say. It adds each attempt to those of the task. It returns why none was good, or "".
// A last cell that a person rejects is written anew.
func (r *run) carryOut(ctx context.Context, t task) (problem string, err error) {
	tries := r.t.Limits.Tries
	if t.isLast() {
		tries += r.t.Limits.Again
	}
	for code := t.code; ; code = "" {
		n := len(*t.attempts)
		if n > 0 {
			last := (*t.attempts)[n-1]
			if problem = problemOf(last); problem == "" || n > tries || last.NotRun() && !t.isLast() {
				return problem, nil
			}
		}
		if n > 0 || code == "" {
			code, err = r.write(ctx, t)
		}
		if unread, ok := errors.AsType[*ask.Error](err); ok {
			return unread.Error(), nil
		}
		if err != nil {
			return "", err
		}
		a, err := r.reviewed(ctx, t, code)
		if elsewhere, ok := errors.AsType[*elsewhereError](err); ok && t.branch != "" {
			return elsewhere.problem, nil
		}
		if err != nil {
			return "", err
		}
		*t.attempts = append(*t.attempts, a)
		e := Event{Kind: Ran, Try: n + 1, Branch: t.branch, Text: problemOf(a), Execution: &a.Execution}
		if a.NotRun() {
			e.Kind = Rejected
		} else if t.branch != "" {
			e.Kind = Branched
		}
		if err := r.observe(e); err != nil {
			return "", err
		}
	}
}

// write asks for the cell, or to repair the last one that was tried.
func (r *run) write(ctx context.Context, t task) (string, error) {
	q := t.ask
	if n := len(*t.attempts); n > 0 {
		last := (*t.attempts)[n-1]
		q = ask.Request{Role: "debugger", Subject: fmt.Sprintf("%s, try %d", t.ask.Subject, n+1)}
		report, err := r.asker.Summarize(ctx, q.Subject, r.reportOn(last), "the cell")
		if err != nil {
			return "", err
		}
		d := prompts.Debugger{Number: t.step, Step: t.text, Code: last.Code, Error: report}
		if t.isLast() {
			d.Number = r.t.Steps() + 1
		}
		q.Words = func() []prompts.Part {
			if r.t.Method.Script {
				return append(t.show(), prompts.PaperDebugger(d))
			}
			return append(t.show(), d)
		}
	}
	return ask.Role(ctx, r.asker, q, ask.Code)
}

// attempt runs a cell. One that ran but does not pass the examiner counts as failed.
func (r *run) attempt(ctx context.Context, t task, code string, faults examiner) (a record.Attempt, err error) {
	x, err := t.work.Run(ctx, t.chain, t.cell(code))
	a = record.Attempt{Code: code, Execution: x}
	if err == nil && a.Execution.Status == notebook.OK && t.branch == "" {
		a.Rows, err = r.rowsOf(ctx, t.work, t.chain, code)
	}
	if err != nil || a.Execution.Status != notebook.OK || faults == nil {
		return a, err
	}
	problem, err := faults(ctx, a)
	if problem != "" {
		a.Execution.Status, a.Execution.Reason = notebook.Raised, problem
	}
	return a, err
}

// problemOf returns what was wrong with an attempt in one line, or "".
func problemOf(a record.Attempt) string {
	if a.Execution.Status == notebook.OK {
		return ""
	}
	return brief.Problem(a.Execution)
}

// reportOn returns what was wrong with an attempt, for the debugger.
func (r *run) reportOn(a record.Attempt) string {
	if a.NotRun() {
		return "The cell was not run. A person who reviewed it wants another one.\n" + a.Execution.Reason
	}
	if _, raised := a.Execution.Error(); !raised && a.Execution.Status == notebook.Raised {
		return a.Execution.Reason // it ran, but is at fault
	}
	return brief.ErrorReport(a.Execution, r.asker.Sizes().Result)
}

// chain returns the cells that the next one builds on.
func (r *run) chain() record.Chain {
	c := r.t.Chain()
	if r.work.host != nil { // which has the variables
		c.SetUp = slices.DeleteFunc(c.SetUp, func(cell string) bool {
			return strings.HasPrefix(cell, record.VariablesComment)
		})
	}
	return c
}

// answerOf returns the answer of a branch's cell: the string that is its last expression, or else
// what it printed: the last line if it prints more than once.
func answerOf(a record.Attempt) string {
	text, ok := record.ResultText(a.Execution)
	if !ok {
		text = strings.TrimSpace(a.Execution.Stdout())
		if strings.Count(a.Code, "print(") > 1 {
			text = text[strings.LastIndexByte(text, '\n')+1:]
		}
	}
	return strings.TrimSpace(text)
}

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

func (r *run) proposal(t task, code string) Proposal {
	n := len(*t.attempts)
	p := Proposal{Round: r.number(), Step: t.step, Branch: t.branch, Try: n + 1, Text: t.text, Code: code}
	if n > 0 {
		last := (*t.attempts)[n-1]
		p.Failed, p.Error = last.Code, problemOf(last)
	}
	return p
}
