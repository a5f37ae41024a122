package llm

// A Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input  float64 // uncached input tokens
	Cached float64 // cached input tokens
	Output float64 // output tokens, including reasoning
}

// Cost returns what u costs, in US dollars.
func (p Price) Cost(u Usage) float64 {
	cached := min(u.CachedTokens, u.InputTokens) // some endpoints report more
	dollars := float64(u.InputTokens-cached)*p.Input + float64(cached)*p.Cached +
		float64(u.OutputTokens)*p.Output
	return dollars / 1e6
}
