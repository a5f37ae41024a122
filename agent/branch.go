package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/prompts"
)

// A branch is one cell that runs beside the accepted cells, on the state that base produces: the
// second derivation, or the answer under another reading.
type branch struct {
	name     string // "second derivation", "reading 1, option 2"
	kind     lineage.Kind
	task     string // what the cell is to do, for the debugger and a reviewer
	work     *workspace
	base     record.Chain // cells that run before it
	known    words        // what its requests begin with
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
			if n > r.t.Limits.Tries || last.NotRun() {
				return answer, problem, nil
			}
			if code, err = r.repairBranch(ctx, b, last); err != nil {
				if unread, ok := errors.AsType[*ask.Error](err); ok {
					return answer, unread.Error(), nil
				}
				return answer, "", err
			}
		}
		a, err := r.branchAttempt(ctx, b, code)
		if elsewhere, ok := errors.AsType[*elsewhereError](err); ok {
			return answer, elsewhere.problem, nil
		}
		if err != nil {
			return answer, "", err
		}
		*b.attempts, code = append(*b.attempts, a), ""
		if problemOf(a) == "" {
			there := b.base
			there.Steps = append(slices.Clip(there.Steps), a.Code)
			if *b.files, err = r.filesGiven(ctx, b.work, there, answerOf(a)); err != nil {
				return answer, "", err
			}
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
	watch, inDoubt := r.watchBranch(b, code)
	d, _, err := r.decide(ctx, p, 0, b.work.Known(b.base, cell{code: code, watch: watch}))
	if err != nil {
		return record.Attempt{}, err
	}
	if d.Choice == string(Reject) {
		return record.Attempt{Code: code, Execution: notebook.Execution{Status: notebook.NotRun,
			Reason: d.Reason}}, nil
	}
	if d.Code != code {
		watch, inDoubt = r.watchBranch(b, d.Code)
	}
	x, err := b.work.Run(ctx, b.base, cell{code: d.Code, branch: true, watch: watch})
	a := record.Attempt{Code: d.Code, Execution: x.Execution}
	if err != nil || a.Execution.Status != notebook.OK {
		return a, err
	}
	problem := "the cell gave no answer; its last line must be the expression `answer`"
	if answerOf(a) != "" {
		found, err := r.trace(ctx, lineage.Query{Kind: b.kind, Cells: b.base.Cells(), Code: a.Code,
			First: withoutSetUp(r.t.Cells())})
		if b.doubts != nil {
			*b.doubts = found.Doubts
		}
		if problem = cmp.Or(found.Problem, inDoubt(x.Watched)); err != nil {
			return a, err
		}
	}
	if problem != "" {
		a.Execution.Status, a.Execution.Reason = notebook.Raised, problem
	}
	return a, nil
}

// watchBranch returns code that watches what pandas does for the cell of another reading, and what
// reads from what it prints why the cell's answer is in doubt.
func (r *standard) watchBranch(b branch, code string) (watch *watching, inDoubt func(string) string) {
	begin, end := lineage.Watch(append(b.base.Cells(), code))
	if begin == "" || b.kind != lineage.Branch || b.work.host != nil {
		return nil, func(string) string { return "" }
	}
	return &watching{begin, end}, func(said string) string {
		if said == "" {
			return ""
		}
		doubts, _ := lineage.Watched(said, r.t.Task.Question+"\n"+b.task)
		return strings.Join(doubts, "; ")
	}
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
func (r *run) kept(steps int) record.Chain {
	c := r.chain("")
	c.Steps = c.Steps[:min(max(steps, 0), len(c.Steps))]
	return c
}

// unableBecause words why a branch has no answer.
func unableBecause(problem string) string {
	return cmp.Or(problem, "its cell gave no answer")
}
