package agent

import (
	"context"

	"dsstar/agent/ask"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
)

// runBranch runs the cell of a branch, which is of a kind, beside the accepted cells. It returns what
// that gave, or why there is no answer: see [answerOf].
func (r *run) runBranch(ctx context.Context, t task,
	kind lineage.Kind) (gave record.Derived, problem string, err error) {
	t.attempts, t.ask = &gave.Attempts, ask.Request{Subject: t.branch + r.sinceRuling()}
	t.faults = func(ctx context.Context, a record.Attempt) (string, error) {
		if answerOf(a) == "" {
			return "the cell gave no answer; its last line must be the expression `answer`", nil
		}
		found, err := r.trace(ctx, lineage.Query{Kind: kind, Cells: t.chain.Cells(), Code: a.Code,
			First: withoutSetUp(r.t.Cells())})
		gave.Doubts = found.Doubts
		return found.Problem, err
	}
	if problem, err = r.carryOut(ctx, t); err != nil || problem != "" {
		return gave, problem, err
	}
	last := gave.Attempts[len(gave.Attempts)-1]
	gave.Answer = answerOf(last)
	gave.Files, err = r.filesGiven(ctx, t.work, t.chain, last.Code, gave.Answer)
	return gave, "", err
}
