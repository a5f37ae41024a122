package ask_test

import (
	"context"
	"strings"
	"testing"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/prompts"
)

// A chatty model replies in turn, by the schema or in text.
type chatty struct {
	bySchema bool
	replies  []string
	asked    []llm.Request
}

func (m *chatty) Ask(_ context.Context, r llm.Request) (llm.Reply, error) {
	if !m.bySchema {
		r = r.InText()
	}
	m.asked = append(m.asked, r)
	return llm.Reply{Text: m.replies[len(m.asked)-1], Schema: r.Schema != nil}, nil
}

// TestForm: a request has the form in words or the schema, and keeps to it when it is asked again.
func TestForm(t *testing.T) {
	set, err := prompts.Load()
	if err != nil {
		t.Fatal(err)
	}
	form := ask.Judgements(1, 0, nil, false)
	for _, m := range []*chatty{
		{bySchema: true, replies: []string{`{"verdict": "maybe"}`,
			`{"verdict": "unfinished", "reason": "x", "wrong_step": null, "code": null}`}},
		{replies: []string{"Verdict: maybe", "Verdict: unfinished\nReason: x"}},
	} {
		caller := ask.NewCaller(ask.Settings{Model: m, Prompts: set})
		request := llm.Request{Role: "judge",
			Messages: []llm.Message{{Role: "system", Text: "a"}, {Role: "user", Text: "b"}}}
		got, err := ask.Model(t.Context(), caller, request, form)
		if err != nil || !got.Unfinished || len(m.asked) != 2 {
			t.Fatalf("%+v, %v, %d calls", got, err, len(m.asked))
		}
		for i, r := range m.asked {
			var all []string
			for _, message := range r.Messages {
				all = append(all, message.Text)
			}
			times := strings.Count(strings.Join(all, "\n"), form.Form)
			if (r.Schema != nil) != m.bySchema || m.bySchema && times > 0 || !m.bySchema && times != 1 ||
				!m.bySchema && !strings.Contains(r.Messages[1].Text, form.Form) {
				t.Errorf("request %d, schema %v: %q", i+1, r.Schema != nil, all)
			}
		}
	}
}
