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

type counting struct{ calls atomic.Int64 }

func (m *counting) Ask(context.Context, llm.Request) (llm.Reply, error) {
	m.calls.Add(1)
	return llm.Reply{Text: "yes", Model: "m1", Usage: llm.Usage{InputTokens: 10}}, nil
}

// TestCaller: calls at the same time do not go beyond the limit together, and are
// counted by role.
func TestCaller(t *testing.T) {
	m := &counting{}
	c := ask.NewCaller(ask.Settings{Model: m, Limits: ask.Limits{Calls: 7},
		Price: func(string) (llm.Price, bool) { return llm.Price{Input: 1e6, Output: 0}, true }})
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
