package agent

import (
	"context"
	"errors"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// checkForm lets a model hold an answer against the guidelines, or the question,
// and against what the steps have printed: agents often fail the form (DABstep,
// section 4.3: multi-step instruction following), and nobody else sees what the
// last cell has made of the results. It returns what is wrong, or "". A reply
// that cannot be read counts as a fit.
func (r *run) checkForm(ctx context.Context, a record.Attempt, answer string,
	again bool) (problem string, err error) {
	subject := "the answer"
	if again {
		subject = "the answer, try 2"
	}
	problem, err = ask.Role(ctx, r.Asker, ask.Request{Role: "checker", Subject: subject,
		Words: func() ([]prompts.Part, map[string]string) {
			parts, inputs := r.shared()
			shown := brief.Clip(answer, r.Sizes().Result)
			inputs["cell"], inputs["answer"] = a.Code, shown
			return append(parts, prompts.Checker{Code: a.Code, Answer: shown,
				Guidelines: r.t.Task.Guidelines != ""}), inputs
		}}, reply.Form)
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		problem, err = "", r.Warn(unread.Error())
	}
	if err != nil {
		return "", err
	}
	return problem, r.observe(Event{Kind: Checked, Text: problem})
}
