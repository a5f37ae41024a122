package ask

import (
	"strings"
	"testing"

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
