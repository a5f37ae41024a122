package agent

import (
	"context"
	"errors"

	"dsstar/prompts"
)

// checkForm lets a model hold an answer against the guidelines, which agents
// often fail (DABstep, section 4.3: multi-step instruction following). It
// returns what is wrong, or "". A reply that cannot be read counts as a fit.
func (r *run) checkForm(ctx context.Context, answer string, again bool) (problem string, err error) {
	subject := "the answer"
	if again {
		subject = "the answer, try 2"
	}
	t := r.t.Task
	problem, err = ask(ctx, r, question{"checker", subject, func() ([]prompts.Part, map[string]string) {
		shown := clip(answer, r.showing().result)
		return []prompts.Part{prompts.Checker{Question: t.Question, Guidelines: t.Guidelines, Answer: shown}},
			map[string]string{"question": t.Question, "guidelines": t.Guidelines, "answer": shown}
	}}, readForm)
	if unread := (*ReplyError)(nil); errors.As(err, &unread) {
		problem, err = "", r.observe(Event{Kind: Warned, Text: unread.Error()})
	}
	if err != nil {
		return "", err
	}
	return problem, r.observe(Event{Kind: Checked, Text: problem})
}
