package llm_test

import (
	"math"
	"testing"

	"dsstar/agent/llm"
)

func TestPrice(t *testing.T) {
	p := llm.Price{Input: 2, Cached: 0.5, Output: 8}
	for u, want := range map[llm.Usage]float64{
		{}: 0,
		{InputTokens: 1_000_000, CachedTokens: 400_000, OutputTokens: 100_000,
			ReasoningTokens: 90_000}: 1.2 + 0.2 + 0.8,
		{InputTokens: 10, CachedTokens: 20}: 10 * 0.5 / 1e6,
	} {
		if got := p.Cost(u); math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v costs %v, want %v", u, got, want)
		}
	}
}
