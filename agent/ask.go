package agent

import (
	"context"
	"slices"

	"dsstar/agent/llm"
	"dsstar/prompts"
)

// A question is one request of a role, before it is put into words.
type question struct {
	role    string
	subject string // which one: "orders.csv", "round 3"
	parts   []prompts.Part
	inputs  map[string]string // what a recorded reply must fit; see llm.Request
}

// ask puts a question to the model and reads the reply. A reply that cannot be
// read is sent back once with the rule; then it is a *ReplyError.
func ask[T any](ctx context.Context, r *run, q question, how reading[T]) (T, error) {
	var zero T
	system, err := r.cfg.Prompts.Text(prompts.System{Environment: r.t.Environment})
	if err != nil {
		return zero, err
	}
	text, err := r.cfg.Prompts.Text(q.parts...)
	if err != nil {
		return zero, err
	}
	request := llm.Request{
		Role: q.role, Subject: q.subject, Inputs: q.inputs, MaxTokens: r.cfg.MaxTokens,
		Messages: []llm.Message{{Role: "system", Text: system}, {Role: "user", Text: text}},
	}
	for second := false; ; second = true {
		reply, err := r.call(ctx, request)
		if err != nil {
			return zero, err
		}
		value, err := how.parse(reply.Text)
		if cut := unfinished(reply); cut != nil {
			err = cut
		}
		if err == nil {
			return value, nil
		}
		if second {
			return zero, &ReplyError{Role: q.role, Subject: q.subject, Problem: err.Error(), Reply: reply.Text, Kind: kindOf(err)}
		}
		again, err := r.cfg.Prompts.Text(prompts.Reask{Problem: err.Error(), Rule: how.rule})
		if err != nil {
			return zero, err
		}
		request.Subject += ", asked again"
		request.Messages = append(request.Messages,
			llm.Message{Role: "assistant", Text: reply.Text}, llm.Message{Role: "user", Text: again})
	}
}

// call makes one model call and counts it.
func (r *run) call(ctx context.Context, request llm.Request) (llm.Reply, error) {
	stop := r.model.start()
	reply, err := r.cfg.Model.Ask(ctx, request)
	stop()
	if err != nil {
		return reply, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.t.Usage.Calls++
	r.t.Usage.Add(reply.Usage)
	if reply.Model != "" && !slices.Contains(r.t.Models, reply.Model) {
		r.t.Models = append(r.t.Models, reply.Model)
	}
	return reply, nil
}
