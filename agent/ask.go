package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/llm"
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
// read is sent back once with the rule; then it is a *ReplyError.
func ask[T any](ctx context.Context, r *run, q question, how reading[T]) (T, error) {
	reply, request, err := r.askShorter(ctx, q)
	if err != nil {
		return *new(T), err
	}
	value, problem := readReply(reply, how)
	if problem == nil {
		return value, nil
	}
	again, err := r.cfg.Prompts.Text(prompts.Reask{Problem: problem.Error(), Rule: how.rule})
	if err != nil {
		return *new(T), err
	}
	request.Subject += askedAgain
	request.Messages = append(request.Messages,
		llm.Message{Role: "assistant", Text: reply.Text}, llm.Message{Role: "user", Text: again})
	second, err := r.call(ctx, request)
	switch {
	case err == nil:
		reply = second
		value, problem = readReply(reply, how)
	case !errors.Is(err, llm.ErrContextLength): // else there is no room to ask again
		return *new(T), err
	}
	if problem != nil {
		return *new(T), &ReplyError{Role: q.role, Subject: q.subject, Problem: problem.Error(), Reply: reply.Text, Kind: kindOf(problem)}
	}
	return value, nil
}

// readReply reads a reply that is whole.
func readReply[T any](reply llm.Reply, how reading[T]) (T, error) {
	value, err := how.parse(reply.Text)
	if cut := unfinished(reply); cut != nil {
		err = cut
	}
	return value, err
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
		reply, err := r.call(ctx, request)
		if !errors.Is(err, llm.ErrContextLength) {
			return reply, request, err
		}
		shrunk, less := r.shrink(show)
		if !less {
			return reply, request, err
		}
		if !shrunk {
			continue
		}
		if err := r.observe(Event{Kind: Warned, Text: fmt.Sprintf(
			"the %s's request for %s was longer than the model's context: from here on less of files and outputs is shown", q.role, q.subject)}); err != nil {
			return reply, request, err
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

// call makes one model call and counts it.
func (r *run) call(ctx context.Context, request llm.Request) (llm.Reply, error) {
	if err := r.reserve(); err != nil {
		return llm.Reply{}, err
	}
	if r.cfg.Stream != nil {
		role, subject := request.Role, request.Subject
		request.OnText = func(soFar string) { r.cfg.Stream(role, subject, soFar) }
	}
	stop := r.model.start()
	reply, err := r.cfg.Model.Ask(ctx, request)
	stop()
	if err != nil {
		return reply, overdue(ctx, err)
	}
	reply.Text = strings.ToValidUTF8(reply.Text, "\uFFFD") // as notebooks are
	if !reply.Remembered {
		r.count(request.Role, 1, reply.Usage)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if reply.Remembered {
		r.reserved--
	}
	for _, m := range request.Messages {
		r.asked += len(m.Text)
	}
	if reply.Model != "" && !slices.Contains(r.t.Models, reply.Model) {
		r.t.Models = append(r.t.Models, reply.Model)
	}
	return reply, nil
}
