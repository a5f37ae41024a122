package ask

import "dsstar/agent/record"

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

// shrink makes what is shown shorter, unless it is no longer as it was before: then another request
// has done so already. Earlier questions, of which the request shows so many bytes, come first. It
// reports whether it has, and whether less is shown: if not, nothing was left to take away.
func (a *Asker) shrink(before Sizes, earlier int) (shrunk, less bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	after := within(before, a.most)
	switch {
	case after != before:
	case earlier > leastEarlier && (before.Earlier == 0 || earlier <= before.Earlier):
		after.Earlier = earlier / 2 // they can be shorter
	default:
		// The context is what is said to be too long, so that what is left of it may be little:
		// half, not a tenth less.
		after = within(before, Sizes{Result: max(leastResult, before.Result/2),
			Results:     max(leastResult, before.Results/2),
			Description: max(leastResult, before.Description/2),
			Context:     max(leastContext, before.Context/2)})
	}
	if a.sizes == before && after != before {
		a.sizes, shrunk = after, true
	}
	return shrunk, a.sizes != before
}
