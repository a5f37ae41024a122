package ask

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
	"dsstar/prompts"
)

// TestForm: a request ends with the form, once, also if it is asked again.
func TestForm(t *testing.T) {
	form := Judgements(1, 0, nil, false, 0)
	m := &llmtest.Model{Replies: []string{"Verdict: maybe", "Verdict: unfinished\nReason: x"}}
	asker := NewAsker(Settings{Model: m}, func() prompts.Part { return prompts.Workplace{} }, nil)
	request := Request{Role: "judge", Words: func() []prompts.Part { return []prompts.Part{prompts.Answer{}} }}
	if got, err := Role(t.Context(), asker, request, form); err != nil || !got.Unfinished || len(m.Asked) != 2 {
		t.Fatalf("%+v, %v, %d calls", got, err, len(m.Asked))
	}
	for i, r := range m.Asked {
		if !strings.HasSuffix(r.Messages[1].Text, "\n\n"+form.Form) || len(r.Messages) != 2+2*i {
			t.Errorf("request %d: %q", i+1, r.Messages)
		}
	}
}

// TestCalls: calls at the same time do not go beyond the limit together, and are counted by role.
func TestCalls(t *testing.T) {
	m := &llmtest.Model{Replies: []string{"yes"}}
	a := NewAsker(Settings{Model: m, Limits: Limits{Calls: 7},
		Price: func(string) (llm.Price, bool) { return llm.Price{Input: 1e6, Output: 0}, true }}, nil, nil)
	var refused atomic.Int64
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			_, err := a.Call(t.Context(), llm.Request{Role: []string{"a", "b"}[n%2], Messages: []llm.Message{{}}})
			if _, spent := errors.AsType[*BudgetError](err); spent {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	s, _ := a.Spent()
	if len(m.Asked) != 7 || refused.Load() != 13 || s.Usage.Calls != 7 || *s.Cost != 70 ||
		s.ByRole["a"].Calls+s.ByRole["b"].Calls != 7 {
		t.Errorf("%d calls, %d refused, %+v, %v", len(m.Asked), refused.Load(), s, *s.Cost)
	}
}

// TestGroundIsMasked: nobody can try values of what is masked on the ground of a request.
func TestGroundIsMasked(t *testing.T) {
	m := &llmtest.Model{Replies: []string{"yes"}}
	a := NewAsker(Settings{Model: m}, nil, nil)
	const text = "key AKIAIOSFODNN7EXAMPLE \"quoted\""
	request := llm.Request{RestsOn: []any{text}, Messages: []llm.Message{{Text: text}}}
	if _, err := a.Call(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	asIs := func(texts []string) []string { return texts }
	ground, masked := m.Asked[0].Ground, a.Mask.Mask(text)
	if ground == llm.GroundOf(asIs, text) || ground != llm.GroundOf(asIs, masked) {
		t.Errorf("the ground is that of other words: %q", masked)
	}
}
