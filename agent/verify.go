package agent

import (
	"context"
	"errors"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// verify lets the judge decide whether the plan suffices (Algorithm 1, line 13). A reply
// that cannot be read counts as insufficient.
func (r *run) verify(ctx context.Context) error {
	how := reply.Verdict
	if r.t.Method.NoInconclusive || r.t.Method.PlanOnly {
		how = reply.WithoutInconclusive
	}
	if r.t.Method.Script {
		how = reply.YesNo
	}
	verdict, err := ask.Role(ctx, r.Asker, ask.Request{Role: "verifier", Subject: r.subject(0),
		Words: r.verifyWords}, how)
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		verdict = record.Verdict{Reason: "the judge gave no verdict that could be read"}
		err = r.Warn(unread.Error())
	}
	if err != nil {
		return err
	}
	if verdict.Reason == "" && !verdict.Sufficient && !r.t.Method.NoReasons {
		verdict.Reason = "the judge did not say what is missing"
	}
	verdict.Unfinished = verdict.Unfinished && !r.t.Method.NoUnfinished
	r.current().Verdict = &verdict
	return r.observe(Event{Kind: Judged, Text: verdict.Reason})
}

// verifyWords words the request for a verdict: question, plan, code and results. In the
// paper's method it has no descriptions, and the verdict is one word (Listing 51).
func (r *requests) verifyWords() ([]prompts.Part, map[string]string) {
	m := r.t.Method
	verifier := prompts.Verifier{PlanOnly: m.PlanOnly, Reasons: !m.NoReasons,
		Unfinished: !m.NoUnfinished, Inconclusive: !m.NoInconclusive && !m.PlanOnly}
	switch {
	case m.Script:
		verifier.YesNo, verifier.Question = true, r.t.Task.Question
		parts, inputs := r.asPublished(sees{plan: true, code: !m.PlanOnly, output: !m.PlanOnly})
		return append(parts, verifier), inputs
	case m.PlanOnly:
		parts, inputs := r.asPublished(sees{context: true, plan: true})
		return append(parts, verifier), inputs
	}
	parts, inputs := r.shared()
	return append(parts, verifier), inputs
}
