package ask

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/llm"
	"dsstar/prompts"
)

// A chatty model replies in turn.
type chatty struct {
	replies []string
	asked   []llm.Request
}

func (m *chatty) Ask(_ context.Context, r llm.Request) (llm.Reply, error) {
	m.asked = append(m.asked, r)
	return llm.Reply{Text: m.replies[len(m.asked)-1]}, nil
}

// TestForm: a request ends with the form, once, also if it is asked again.
func TestForm(t *testing.T) {
	form := Judgements(1, 0, nil, false, 0)
	m := &chatty{replies: []string{"Verdict: maybe", "Verdict: unfinished\nReason: x"}}
	asker := NewAsker(Settings{Model: m}, func() prompts.Part { return prompts.Workplace{} }, nil)
	request := Request{Role: "judge", Words: func() []prompts.Part { return []prompts.Part{prompts.Answer{}} }}
	if got, err := Role(t.Context(), asker, request, form); err != nil || !got.Unfinished || len(m.asked) != 2 {
		t.Fatalf("%+v, %v, %d calls", got, err, len(m.asked))
	}
	for i, r := range m.asked {
		if !strings.HasSuffix(r.Messages[1].Text, "\n\n"+form.Form) || len(r.Messages) != 2+2*i {
			t.Errorf("request %d: %q", i+1, r.Messages)
		}
	}
}

// TestStructIsForm: a struct alone is the form of a new kind of reply for the reader.
func TestStructIsForm(t *testing.T) {
	type choice struct {
		File    string   `form:"next file"`
		Rows    int      `form:"rows"`
		Sure    bool     `form:"sure"`
		Options []string `form:"options"`
		Steps   string   `form:"steps"`
	}
	const reply = "I see.\n**Next file**: a.csv\n**Rows**: 12 of 40\nSure: yes\nOptions:\n- a\n- b\nSteps: 1 and 2."
	got, err := reads(func(c choice) (choice, error) { return c, nil })(reply)
	want := choice{File: "a.csv", Rows: 12, Sure: true, Options: []string{"a", "b"}, Steps: "1 and 2."}
	if d := cmp.Diff(want, got); d != "" || err != nil || !slices.Equal(numbersIn(got.Steps), []int{1, 2}) {
		t.Errorf("%s, %v", d, err)
	}
}
