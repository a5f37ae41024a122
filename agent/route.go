package agent

import (
	"context"
	"errors"

	"dsstar/prompts"
)

// route decides how an insufficient plan goes on (Algorithm 1, lines 17 to 23)
// and goes back if need be. A reply that cannot be read adds a step, which
// drops nothing.
func (r *run) route(ctx context.Context) error {
	round := r.current()
	steps := r.t.Steps()
	parts, inputs := r.shared()
	inputs["missing"] = round.Verdict.Reason
	parts = append(parts, prompts.Router{Steps: steps, Missing: round.Verdict.Reason})
	route, err := ask(ctx, r, question{"router", r.subject(0), parts, inputs}, readRoute(steps))
	if unread := (*ReplyError)(nil); errors.As(err, &unread) {
		route, err = Route{}, r.observe(Event{Kind: Warned, Text: unread.Error()})
	}
	if err != nil {
		return err
	}
	if route.Back > 0 {
		route.Reason = round.Verdict.Reason
		r.dirty = true
	}
	round.Route = &route
	if err := r.observe(Event{Kind: Routed, Text: route.Reason}); err != nil {
		return err
	}
	_, err = r.restore(ctx)
	return err
}
