package ask_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
)

type counting struct {
	calls atomic.Int64
	last  llm.Request
}

func (m *counting) Ask(_ context.Context, r llm.Request) (llm.Reply, error) {
	if m.calls.Add(1) == 1 {
		m.last = r
	}
	return llm.Reply{Text: "yes", Model: "m1", Usage: llm.Usage{InputTokens: 10}}, nil
}

// TestCalls: calls at the same time do not go beyond the limit together, and are
// counted by role.
func TestCalls(t *testing.T) {
	m := &counting{}
	c := ask.NewAsker(ask.Settings{Model: m, Limits: ask.Limits{Calls: 7},
		Price: func(string) (llm.Price, bool) { return llm.Price{Input: 1e6, Output: 0}, true }}, nil, nil)
	var refused atomic.Int64
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			_, err := c.Call(t.Context(), llm.Request{Role: []string{"a", "b"}[n%2]})
			if spent := (*ask.BudgetError)(nil); errors.As(err, &spent) {
				refused.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := c.Spent()
	if m.calls.Load() != 7 || refused.Load() != 13 || s.Usage.Calls != 7 || *s.Cost != 70 ||
		s.ByRole["a"].Calls+s.ByRole["b"].Calls != 7 {
		t.Errorf("%d calls, %d refused, %+v, %v", m.calls.Load(), refused.Load(), s, *s.Cost)
	}
}

// TestGroundIsMasked: nobody can try values of what is masked on the ground of a request.
func TestGroundIsMasked(t *testing.T) {
	m := &counting{}
	c := ask.NewAsker(ask.Settings{Model: m}, nil, nil)
	const secret = "AKIAIOSFODNN7EXAMPLE"
	text := "key " + secret + " \"quoted\""
	if _, err := c.Call(t.Context(), llm.Request{RestsOn: []any{text}, Messages: []llm.Message{{Text: text}}}); err != nil {
		t.Fatal(err)
	}
	masked := c.Mask.Mask(text)
	if m.last.Ground == llm.GroundOf(nil, text) || m.last.Ground != llm.GroundOf(nil, masked) {
		t.Errorf("the ground is that of other words: %q", masked)
	}
}
