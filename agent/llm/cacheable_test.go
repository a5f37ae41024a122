package llm_test

import (
	"math"
	"math/rand/v2"
	"strings"
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

// bruteForce compares each conversation with all earlier ones, byte by byte. A terminator that
// the random texts do not contain separates roles and texts and is not counted.
func bruteForce(exchanges []llm.Exchange, i int) (most int) {
	serial := func(e llm.Exchange) string {
		var b strings.Builder
		for _, m := range e.Messages {
			b.WriteString(m.Role + "\x00" + m.Text + "\x00")
		}
		return b.String()
	}
	mine := serial(exchanges[i])
	for _, e := range exchanges[:i] {
		other, n := serial(e), 0
		for k := 0; k < min(len(mine), len(other)) && mine[k] == other[k]; k++ {
			if mine[k] != 0 {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func TestCacheableByBruteForce(t *testing.T) {
	for range 300 {
		var exchanges []llm.Exchange
		for range 1 + rand.IntN(25) {
			var texts []string
			for range 1 + rand.IntN(3) {
				text := strings.Repeat("=", rand.IntN(2)*1500)
				for range rand.IntN(5) {
					text += string("\x01ab"[rand.IntN(3)])
				}
				texts = append(texts, text)
			}
			exchanges = append(exchanges, llm.Exchange{Messages: conversation(texts...)})
		}
		for i, got := range llm.Cacheable(exchanges) {
			if want := bruteForce(exchanges, i); got.Shared != want {
				t.Fatalf("exchange %d of %+v: %d, want %d", i, exchanges, got.Shared, want)
			}
		}
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
