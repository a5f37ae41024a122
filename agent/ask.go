package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dsstar/agent/llm"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// A question is one request of a role, before it is put into words.
type question struct {
	role    string
	subject string // which one: "orders.csv", "round 3"
	// words gives the parts of the request, and the inputs that a recorded reply
	// must fit (see llm.Request). It is called again when they are too long.
	words func() ([]prompts.Part, map[string]string)
}

// askedAgain ends the subject of a request that follows a reply which could not be read.
const askedAgain = ", asked again"

// ask puts a question to the model and reads the reply. A reply that cannot be
// read is sent back once with the rule; then the error is a *[reply.Error].
func ask[T any](ctx context.Context, r *run, q question, format reply.Format[T]) (T, error) {
	first, request, err := r.askShorter(ctx, q)
	if err != nil {
		return *new(T), err
	}
	return readOrAskAgain(ctx, &r.caller, request, first, format)
}

// readOrAskAgain reads a reply, or the one that follows when the rule was quoted.
func readOrAskAgain[T any](ctx context.Context, c *caller, request llm.Request, first llm.Reply, format reply.Format[T]) (T, error) {
	value, problem := format.Read(first)
	if problem == nil {
		return value, nil
	}
	again, err := c.cfg.Prompts.Text(prompts.Reask{Problem: problem.Error(), Rule: format.Rule})
	if err != nil {
		return *new(T), err
	}
	subject, last := request.Subject, first
	request.Subject += askedAgain
	request.Messages = append(slices.Clip(request.Messages),
		llm.Message{Role: "assistant", Text: first.Text}, llm.Message{Role: "user", Text: again})
	second, err := c.call(ctx, request)
	switch {
	case err == nil:
		last = second
		value, problem = format.Read(second)
	case !errors.Is(err, llm.ErrContextLength): // else there is no room to ask again
		return *new(T), err
	}
	if problem != nil {
		return *new(T), &reply.Error{
			Role: request.Role, Subject: subject, Problem: problem.Error(),
			Reply: last.Text, Kind: reply.KindOf(problem),
		}
	}
	return value, nil
}

// askShorter makes a question's first call. While the request is longer than
// the model's context, all that the run shows is made shorter, for good.
func (r *run) askShorter(ctx context.Context, q question) (llm.Reply, llm.Request, error) {
	for {
		show := r.showing()
		request, err := r.request(q)
		if err != nil {
			return llm.Reply{}, request, err
		}
		first, err := r.call(ctx, request)
		if !errors.Is(err, llm.ErrContextLength) {
			return first, request, err
		}
		shrunk, less := r.shrink(show)
		if !less {
			return first, request, err
		}
		if !shrunk {
			continue
		}
		if err := r.observe(Event{Kind: Warned, Text: fmt.Sprintf(
			"the %s's request for %s was longer than the model's context: from here on less of files and outputs is shown", q.role, q.subject)}); err != nil {
			return first, request, err
		}
	}
}

// request puts a question into words.
func (r *run) request(q question) (llm.Request, error) {
	system, err := r.cfg.Prompts.Text(r.system())
	if err != nil {
		return llm.Request{}, err
	}
	parts, inputs := q.words()
	text, err := r.cfg.Prompts.Text(parts...)
	return llm.Request{
		Role: q.role, Subject: q.subject, Inputs: inputs, MaxTokens: r.cfg.MaxTokens,
		Messages: []llm.Message{{Role: "system", Text: system}, {Role: "user", Text: text}},
	}, err
}

// system is what every request begins with.
func (r *run) system() prompts.System {
	m := r.cfg.Method
	return prompts.System{Environment: r.t.Environment, Script: m.Script, Unfinished: !m.NoUnfinished, Inconclusive: !m.NoInconclusive && !m.PlanOnly,
		Variables: variableWords(r.context) != "", NoFiles: r.t.Task.Data == ""}
}
