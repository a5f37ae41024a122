package llm_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

// watch asks m and returns what OnText was told.
func watch(t *testing.T, m llm.Model) (told []string, reply llm.Reply, err error) {
	t.Helper()
	r := question
	r.OnText = func(soFar func() string) { told = append(told, soFar()) }
	reply, err = m.Ask(t.Context(), r)
	return told, reply, err
}

func TestOnText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := "one two three four five"
		m := must(endpoint(llmtest.NewPiped(t, llmtest.Each(
			llmtest.Response{Text: long},
			llmtest.Response{Text: "cut off half-way, alas", CutAfter: 2}, llmtest.Response{Text: "short"},
			llmtest.Response{Body: `{"choices":[{"message":{"content":"whole"}}]}`},
			llmtest.Refuse(400, "", "no"),
		))).Open())
		for _, want := range [][]string{
			{"one two", "one two three ", "one two three four fi", long},
			{"cut off", "cut off half-w", "short"},
			{"whole"},
			nil,
		} {
			told, reply, err := watch(t, m)
			if !slices.Equal(told, want) || err == nil && reply.Text != want[len(want)-1] {
				t.Errorf("told %q, want %q; replied %q", told, want, reply.Text)
			}
		}
	})
}
