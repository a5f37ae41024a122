package ask

import (
	"fmt"

	"dsstar/agent/record"
	"dsstar/prompts"
)

// Sizes are how much of what there is the model is shown, in bytes.
type Sizes = record.Sizes

// Sizes returns how much is shown now.
func (a *Asker) Sizes() Sizes {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sizes
}

// ShowAs has as much shown as at the beginning of a run that goes on, for the replies that it has.
// What the model is still to be asked shows no more than the settings say.
func (a *Asker) ShowAs(sizes Sizes) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if sizes != (Sizes{}) {
		a.sizes = sizes
	}
}

// The smallest sizes that are worth a try.
const leastContext, leastResult, leastEarlier = 2000, 500, 2000

// bytesPerToken is what tables and code have at least; prose has more.
const bytesPerToken = 3

// firstSizes are what the settings say, or less where the model's context is known
// to be small. Half of it is for descriptions, a quarter for outputs and one for earlier
// questions, which seldom take all; else the rest is for the words around them, the code and the
// reply.
func firstSizes(cfg Settings) Sizes {
	s := Sizes{Result: cfg.ResultChars, Results: 5 * cfg.ResultChars,
		Description: cfg.DescriptionChars, Context: cfg.ContextChars}
	if cfg.Context > 0 {
		room := cfg.Context * bytesPerToken
		s.Context = max(leastContext, min(s.Context, room/2))
		s.Description = max(leastResult, min(s.Description, s.Context/2))
		s.Results = max(leastResult, min(s.Results, room/4))
		s.Result = max(leastResult, min(s.Result, s.Results/2))
		s.Earlier = max(leastEarlier, room/4)
	}
	return s
}

// within returns the smaller of two sizes.
func within(s, o Sizes) Sizes {
	w := Sizes{Result: min(s.Result, o.Result), Results: min(s.Results, o.Results),
		Description: min(s.Description, o.Description), Context: min(s.Context, o.Context),
		Earlier: s.Earlier}
	if s.Earlier == 0 || o.Earlier > 0 && o.Earlier < s.Earlier {
		w.Earlier = o.Earlier
	}
	return w
}

// less returns what is shown in place of a request's parts that were too long: earlier questions
// come first. It is as it was if nothing is left to take away.
func (a *Asker) less(before Sizes, parts []prompts.Part) Sizes {
	if now := a.Sizes(); now != before {
		return now // another request was too long
	}
	after := within(before, a.most)
	if after != before {
		return after
	}
	for _, p := range parts {
		e, ok := p.(prompts.Earlier)
		size, limit := e.Size(), before.Earlier
		if ok && size > leastEarlier && (limit == 0 || size <= limit) {
			after.Earlier = size / 2 // they can be shorter
			return after
		}
	}
	// The context is what is said to be too long, so that what is left of it may be little:
	// half, not a tenth less.
	return within(before, Sizes{Result: max(leastResult, before.Result/2),
		Results:     max(leastResult, before.Results/2),
		Description: max(leastResult, before.Description/2),
		Context:     max(leastContext, before.Context/2)})
}

// tooLong returns what is kept in place of a reply to a request that was too long. If nothing is
// left to take away, the error is the reason.
func (a *Asker) tooLong(sizes Sizes, r Request, parts []prompts.Part, reason error) (kept, error) {
	less := a.less(sizes, parts)
	switch {
	case less == sizes:
		return kept{}, reason
	case a.Sizes() != sizes || sizes != within(sizes, a.most):
		return kept{Less: &less}, nil
	}
	return kept{Less: &less}, a.warn(fmt.Sprintf("the %s's request for %s was longer than the "+
		"model's context: from here on less of earlier questions, files and outputs is shown",
		r.Role, r.Subject))
}

// show has less shown than before, unless another request has done so already.
func (a *Asker) show(before, less Sizes) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sizes == before {
		a.sizes = less
	}
}
