package agent

import (
	"context"
	"errors"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// route decides how an insufficient plan continues (Algorithm 1, lines 17 to 23) and goes
// back if need be. If the reply cannot be read, a step is added, which drops nothing. The
// router is not asked if the judge found every step right, or if the method has none
// (DS-STAR section 4.2, Variant 2): then a step is added.
func (r *run) route(ctx context.Context) error {
	round := r.current()
	var route record.Route
	var err error
	if !r.t.Method.NoRouter && !round.Verdict.Unfinished {
		route, err = ask.Role(ctx, r.Asker, ask.Request{Role: "router", Subject: r.subject(0),
			Words: r.routeWords}, reply.Route(r.t.Steps()))
	}
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		route, err = record.Route{}, r.Warn(unread.Error())
	}
	if err != nil {
		return err
	}
	if route.Back > 0 {
		r.dirty = true
		if !r.t.Method.NoReasons {
			route.Reason = round.Verdict.Reason
		}
	}
	round.Route = &route
	if err := r.observe(Event{Kind: Routed, Text: route.Reason}); err != nil {
		return err
	}
	_, err = r.restore(ctx)
	return err
}

func (r *requests) routeWords() ([]prompts.Part, map[string]string) {
	if r.t.Method.Script {
		parts, inputs := r.asPublished(sees{context: true, plan: true, output: true})
		return append(parts, prompts.Router{Steps: r.t.Steps()}), inputs
	}
	parts, inputs := r.shared()
	inputs["missing"] = r.missing()
	return append(parts, prompts.Router{Steps: r.t.Steps(), Missing: r.missing()}), inputs
}
