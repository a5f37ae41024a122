package agent

import (
	"context"

	"dsstar/agent/ask"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// A branch is one cell that runs beside the accepted cells, on the state that base produces: the
// second derivation, or the answer under another reading.
type branch struct {
	name string // see [Event]
	kind lineage.Kind
	text string // what the cell is to do
	code string // the cell
	work *workspace
	base record.Chain          // cells that run before it
	show func() []prompts.Part // what its requests begin with
}

// runBranch runs a branch's cell. It returns what that gave, or why there is no answer: see [answerOf].
func (r *run) runBranch(ctx context.Context, b branch) (gave record.Derived, problem string, err error) {
	t := task{branch: b.name, text: b.text, code: b.code, work: b.work, attempts: &gave.Attempts,
		chain: func() record.Chain { return b.base }, show: b.show,
		ask: ask.Request{Subject: b.name + r.sinceRuling()}}
	t.faults = func(ctx context.Context, a record.Attempt) (string, error) {
		if answerOf(a) == "" {
			return "the cell gave no answer; its last line must be the expression `answer`", nil
		}
		found, err := r.trace(ctx, lineage.Query{Kind: b.kind, Cells: b.base.Cells(), Code: a.Code,
			First: withoutSetUp(r.t.Cells())})
		gave.Doubts = found.Doubts
		return found.Problem, err
	}
	if problem, err = r.carryOut(ctx, t); err != nil || problem != "" {
		return gave, problem, err
	}
	last := gave.Attempts[len(gave.Attempts)-1]
	gave.Answer = answerOf(last)
	gave.Files, err = r.filesGiven(ctx, b.work, b.base, last.Code, gave.Answer)
	return gave, "", err
}
