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
	form := Judgements(1, 0, nil, false, 0)
	for _, m := range []*chatty{
		{bySchema: true, replies: []string{`{"verdict": "maybe"}`,
			`{"verdict": "unfinished", "reason": "x", "wrong_step": null, "code": null}`}},
		{replies: []string{"Verdict: maybe", "Verdict: unfinished\nReason: x"}},
	} {
		asker := NewAsker(Settings{Model: m}, func() prompts.Part { return prompts.Workplace{} }, nil)
		request := Request{Role: "judge", Words: func() []prompts.Part { return []prompts.Part{prompts.Answer{}} }}
		if got, err := Role(t.Context(), asker, request, form); err != nil || !got.Unfinished || len(m.asked) != 2 {
			t.Fatalf("%+v, %v, %d calls", got, err, len(m.asked))
		}
		for i, r := range m.asked {
			has := strings.HasSuffix(r.Messages[1].Text, form.Form)
			if (r.Schema != nil) != m.bySchema || has == m.bySchema || strings.Contains(r.Messages[len(r.Messages)-1].Text, form.Form) != (has && i == 0) {
				t.Errorf("request %d, schema %v: %q", i+1, r.Schema != nil, r.Messages)
			}
		}
	}
}

// TestStructIsForm: a struct alone is the form of a new kind of reply, for endpoints and for the reader.
func TestStructIsForm(t *testing.T) {
	type choice struct {
		File    string   `json:"next_file" jsonschema:"the file to open"`
		Rows    int      `json:"rows,omitempty"`
		Sure    bool     `json:"sure"`
		Options []string `json:"options"`
		Steps   string   `json:"steps"`
	}
	const schema = `{"type":"object","properties":{` +
		`"next_file":{"type":"string","description":"the file to open"},"rows":{"type":["integer","null"]},` +
		`"sure":{"type":"boolean"},"options":{"type":"array","items":{"type":"string"}},"steps":{"type":"string"}},` +
		`"required":["next_file","rows","sure","options","steps"],"additionalProperties":false}`
	if got := string(formOf[choice](nil).schema); got != schema {
		t.Errorf("the schema is %s", got)
	}
	read := reads(func(c choice) (choice, error) { return c, nil })
	for _, reply := range []string{
		"I see.\n**Next file**: a.csv\n**Rows**: 12 of 40\nSure: yes\nOptions:\n- a\n- b\nSteps: 1 and 2.",
		`{"next_file": "a.csv", "rows": 12, "sure": true, "options": ["a", "b"], "steps": "1, 2"}`,
	} {
		got, err := read(reply)
		steps := numbersIn(got.Steps)
		got.Steps = ""
		if d := cmp.Diff(choice{File: "a.csv", Rows: 12, Sure: true, Options: []string{"a", "b"}}, got); d != "" ||
			err != nil || !slices.Equal(steps, []int{1, 2}) {
			t.Errorf("%s\nis %s, %d, %v", reply, d, steps, err)
		}
	}
}
