package agent

// shown is how much of what there is the model is shown, in bytes.
type shown struct {
	result      int // of one step's output
	results     int // of all outputs together
	description int // of one file's description
	context     int // of all descriptions together
}

// showing is how much is shown now.
func (r *run) showing() shown {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown
}

// The smallest sizes that are worth a try.
const leastContext, leastResult = 2000, 500

// bytesPerToken is what tables and code have at least; prose has more.
const bytesPerToken = 3

// firstShown is what the settings say, or less where the model's context is
// known to be small. Half of it is for descriptions and a quarter for outputs;
// the rest is for the words around them, the code and the reply.
func firstShown(cfg Config) shown {
	s := shown{cfg.ResultChars, 5 * cfg.ResultChars, cfg.DescriptionChars, cfg.ContextChars}
	if cfg.Context > 0 {
		room := cfg.Context * bytesPerToken
		s.context = max(leastContext, min(s.context, room/2))
		s.description = max(leastResult, min(s.description, s.context/2))
		s.results = max(leastResult, min(s.results, room/4))
		s.result = max(leastResult, min(s.result, s.results/2))
	}
	return s
}

// shrink makes what is shown shorter, unless it has changed since before, when
// another request has done so already. It reports whether it has, and whether
// less is shown than before: if not, nothing was left to take away.
func (r *run) shrink(before shown) (shrunk, less bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown != before {
		return false, true
	}
	if before.context <= leastContext && before.results <= leastResult {
		return false, false
	}
	// The context is what is said to be too long, so that what is left of it may
	// be little: half, not a tenth less.
	r.shown = shown{
		result: max(leastResult, before.result/2), results: max(leastResult, before.results/2),
		description: max(leastResult, before.description/2), context: max(leastContext, before.context/2),
	}
	if r.described {
		r.context = r.taskContext()
	}
	return true, true
}
