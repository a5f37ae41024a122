package agent

import (
	"cmp"
	"context"
	"strings"

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
	gave *given
}

// A given is what a branch gave: see [answerOf].
type given struct {
	record.Derived
	problem string // why there is no answer
}

// runBranch runs a branch's cell.
func (r *run) runBranch(ctx context.Context, b branch) (gave given, err error) {
	b.gave = &gave
	t := task{branch: b.name, text: b.text, code: b.code, work: b.work, attempts: &gave.Attempts,
		chain: func() record.Chain { return b.base },
		ask:   ask.Request{Subject: b.name + r.sinceRuling()},
		show:  b.show,
		watch: b.watching, faults: func(ctx context.Context, a record.Attempt, watched string) (string, error) {
			return r.branchFault(ctx, b, a, watched)
		}}
	if gave.problem, err = r.carryOut(ctx, t); err != nil || gave.problem != "" {
		return gave, err
	}
	last := gave.Attempts[len(gave.Attempts)-1]
	gave.Answer = answerOf(last)
	gave.Files, err = r.filesGiven(ctx, b.work, b.base, last.Code, gave.Answer)
	return gave, err
}

// branchFault examines a branch's cell: it must give an answer that comes from computed values.
func (r *run) branchFault(ctx context.Context, b branch, a record.Attempt, watched string) (string, error) {
	if answerOf(a) == "" {
		return "the cell gave no answer; its last line must be the expression `answer`", nil
	}
	found, err := r.trace(ctx, lineage.Query{Kind: b.kind, Cells: b.base.Cells(), Code: a.Code,
		First: withoutSetUp(r.t.Cells())})
	b.gave.Doubts = found.Doubts
	var doubts []string
	if watched != "" {
		doubts, _ = lineage.Watched(watched, r.t.Task.Question+"\n"+b.text)
	}
	return cmp.Or(found.Problem, strings.Join(doubts, "; ")), err
}

// watching returns code that watches what pandas does for the cell of another reading.
func (b branch) watching(code string) *watching {
	begin, end := lineage.Watch(append(b.base.Cells(), code))
	if begin == "" || b.kind != lineage.Branch || b.work.host != nil {
		return nil
	}
	return &watching{begin, end}
}
