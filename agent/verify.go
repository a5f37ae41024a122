package agent

import (
	"context"
	"errors"

	"dsstar/prompts"
)

// verify lets the judge decide whether the plan suffices (Algorithm 1, line
// 13). A reply that cannot be read counts as insufficient: never as sufficient.
func (r *run) verify(ctx context.Context) error {
	parts, inputs := r.shared()
	q := question{"verifier", r.subject(0), append(parts, prompts.Verifier{}), inputs}
	verdict, err := ask(ctx, r, q, readVerdict)
	if unread := (*ReplyError)(nil); errors.As(err, &unread) {
		verdict = Verdict{Reason: "the judge gave no verdict that could be read"}
		err = r.observe(Event{Kind: Warned, Text: unread.Error()})
	}
	if err != nil {
		return err
	}
	if verdict.Reason == "" && !verdict.Sufficient {
		verdict.Reason = "the judge did not say what is missing"
	}
	r.current().Verdict = &verdict
	return r.observe(Event{Kind: Judged, Text: verdict.Reason})
}
