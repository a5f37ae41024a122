package llm_test

import (
	"math"
	"testing"

	"dsstar/agent/llm"
)

func conversation(texts ...string) (all []llm.Message) {
	for i, text := range texts {
		all = append(all, llm.Message{Role: []string{"system", "user", "assistant"}[i%3], Text: text})
	}
	return all
}

func TestCacheable(t *testing.T) {
	counts := llm.Usage{InputTokens: 1000}
	exchange := func(texts ...string) llm.Exchange {
		return llm.Exchange{Role: "planner", Model: "m", Messages: conversation(texts...), Usage: counts}
	}
	failed, bare := exchange("sys", "only once"), exchange()
	ranked, other := failed, failed
	failed.Error, ranked.Role, other.Model = "no", "retriever", "another"
	got := llm.Cacheable([]llm.Exchange{
		failed, ranked, bare, other,
		exchange("sys", "only once"), // of it nothing: all before are of no use
		exchange("sys", "only twice"),
		exchange("sys", "only once", "and more"),
		exchange("sys", "only once"),
		exchange("other"),
	})
	want := []llm.Share{
		{Known: true}, {Known: true}, {}, {Known: true, Bytes: 22},
		{Known: true, Bytes: 22},
		{Known: true, Bytes: 23, Shared: 18, Tokens: 782},
		{Known: true, Bytes: 39, Shared: 22, Tokens: 564},
		{Known: true, Bytes: 22, Shared: 22, Tokens: 1000},
		{Known: true, Bytes: 11, Shared: 6, Tokens: 545}, // the role
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("exchange %d: %+v, want %+v", i+1, got[i], want[i])
		}
	}
	if got := llm.Cacheable(nil); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

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
