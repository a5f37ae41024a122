package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/prompts"
)

// A branch is one cell that runs beside the accepted cells, on the state that base produces: the
// second derivation, or the answer under another reading. The session is dirty after it.
type branch struct {
	name     string // "second derivation", "reading 1, option 2"
	kind     lineage.Kind
	task     string   // what the cell is to do, for the debugger and a reviewer
	base     []string // cells that run before it
	known    words    // what its requests begin with
	attempts *[]record.Attempt
	doubts   *[]string       // about its code; nil: they are dropped
	files    *[]compare.File // of the answer, recorded with the attempt: its session goes
}

// words words a request: see [ask.Request].
type words func() []prompts.Part

// runBranch runs the branch's cell and has it repaired while it fails, at most DebugTries times.
// first is the cell unless there are attempts to go on from. The answer is that of
// [answerOf]. The problem says why there is none.
func (r *standard) runBranch(ctx context.Context, b branch,
	first string) (answer, problem string, err error) {
	code := first
	if len(*b.attempts) > 0 {
		code = ""
	}
	for {
		n := len(*b.attempts)
		if code == "" && n > 0 {
			last := (*b.attempts)[n-1]
			if problem = problemOf(last); problem == "" {
				return answerOf(last), "", nil
			}
			if n > r.cfg.DebugTries || last.NotRun() {
				return answer, problem, nil
			}
			if code, err = r.repairBranch(ctx, b, last); err != nil {
				if unread, ok := errors.AsType[*ask.Error](err); ok {
					return answer, unread.Error(), nil
				}
				return answer, "", err
			}
		}
		if problem, err = r.enter(ctx, b.base); err != nil || problem != "" {
			return answer, problem, err
		}
		a, err := r.branchAttempt(ctx, b, code)
		if err != nil {
			return answer, "", err
		}
		*b.attempts, code = append(*b.attempts, a), ""
		if problemOf(a) == "" {
			*b.files = r.filesGiven(ctx, answerOf(a))
		}
		kind := Branched
		if a.NotRun() {
			kind = Rejected
		}
		if err := r.observe(Event{Kind: kind, Try: n + 1, Branch: b.name, Text: problemOf(a),
			Execution: &a.Execution}); err != nil {
			return answer, "", err
		}
	}
}

// branchAttempt runs one cell in a branch if a reviewer accepts it.
func (r *standard) branchAttempt(ctx context.Context, b branch, code string) (record.Attempt, error) {
	p := Proposal{Round: len(r.t.Rounds), Branch: b.name, Try: len(*b.attempts) + 1, Text: b.task,
		Code: code}
	if p.Try > 1 {
		last := (*b.attempts)[p.Try-2]
		p.Failed, p.Error = last.Code, problemOf(last)
	}
	d, err := r.decide(ctx, p)
	if err != nil {
		return record.Attempt{}, err
	}
	if d.Choice == Reject {
		return record.Attempt{Code: code, Execution: notebook.Execution{Status: notebook.NotRun,
			Reason: d.Reason}}, nil
	}
	seen := r.watchBranch(ctx, b, d.Code)
	defer seen()
	return r.attempt(ctx, d.Code, func(ctx context.Context, a record.Attempt) (string, error) {
		if answerOf(a) == "" {
			return "the cell gave no answer; its last line must be the expression `answer`", nil
		}
		found, err := r.trace(ctx, lineage.Query{Kind: b.kind, Cells: b.base, Code: a.Code,
			First: withoutSetUp(r.t.Cells())})
		if b.doubts != nil {
			*b.doubts = found.Doubts
		}
		return cmp.Or(found.Problem, seen()), err
	})
}

// watchBranch has the session watch what pandas does for the cell of another reading. The function
// that it returns ends that, and says what puts the cell's answer in doubt, or "".
func (r *standard) watchBranch(ctx context.Context, b branch, code string) func() string {
	begin, end := lineage.Watch(append(slices.Clone(b.base), code))
	if begin == "" || b.kind != lineage.Branch || r.host != nil {
		return func() string { return "" }
	}
	_, err := r.session.Silently(ctx, begin, tellPatience)
	return sync.OnceValue(func() string {
		if err != nil || !r.session.Alive() {
			return ""
		}
		x, err := r.session.Silently(ctx, end, tellPatience)
		if err != nil {
			return ""
		}
		doubts, _ := lineage.Watched(x.Stdout(), r.t.Task.Question+"\n"+b.task)
		return strings.Join(doubts, "; ")
	})
}

// repairBranch asks for a branch's cell again after one that failed.
func (r *standard) repairBranch(ctx context.Context, b branch, failed record.Attempt) (string, error) {
	subject := fmt.Sprintf("%s%s, try %d", b.name, r.sinceRuling(), len(*b.attempts)+1)
	report, err := r.Summarize(ctx, subject, r.reportOn(failed), "the cell")
	if err != nil {
		return "", err
	}
	return ask.Role(ctx, r.Asker, ask.Request{Role: "debugger", Subject: subject,
		Words: func() []prompts.Part {
			return append(b.known(), prompts.Debugger{Step: b.task, Code: failed.Code, Error: report})
		}}, ask.Code)
}

// enter puts the session at the state that cells produce. The problem says why it cannot be there.
func (r *workspace) enter(ctx context.Context, cells []string) (problem string, err error) {
	defer r.kernel.Start()()
	r.dirty = true
	there := r.arrived
	if r.arrived = nil; there == nil {
		there = reach(ctx, r.session, cells)
	}
	return there.problem, there.err
}

// An arrival says why a session is not at the state that some cells produce; zero: it is.
type arrival struct {
	problem string
	err     error
}

// reach takes a session to the state that cells produce.
func reach(ctx context.Context, s Session, cells []string) *arrival {
	back, err := s.Rollback(ctx, cells)
	if err != nil {
		return &arrival{err: err}
	}
	if back.Way == notebook.NotAtAll {
		return &arrival{problem: "going back is off, and a branch needs it"}
	}
	for _, e := range back.Executions {
		if e.Status != notebook.OK {
			return &arrival{problem: "a cell before it no longer runs: " + brief.Problem(e)}
		}
	}
	return &arrival{}
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

// kept returns the cells of a branch that keeps the first steps.
func (r *workspace) kept(steps int) []string {
	cells := r.t.Base()
	return cells[:len(cells)-r.t.Steps()+min(max(steps, 0), r.t.Steps())]
}

// unableBecause words why a branch has no answer.
func unableBecause(problem string) string {
	return cmp.Or(problem, "its cell gave no answer")
}
