package llm_test

import (
	"encoding/json"
	"slices"
	"testing"

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
	long := "one two three four five"
	s := llmtest.New(t, llmtest.Each(
		llmtest.Response{Text: long},
		llmtest.Response{Text: "cut off half-way, alas", CutAfter: 2}, llmtest.Response{Text: "short"},
		llmtest.Response{Text: long, Plain: true},
		llmtest.Refuse(400, "", "no: "+secret),
	))
	m := open(t, endpoint(s, &waits{}))
	for _, want := range [][]string{
		{"one two", "one two three ", "one two three four fi", long},
		{"cut off", "cut off half-w", "short"},
		{long},
		nil,
	} {
		told, reply, err := watch(t, m)
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if err == nil && reply.Text != want[len(want)-1] {
			t.Errorf("replied %q", reply.Text)
		}
	}
	refusal := "data: " + `{"choices":[{"index":0,"delta":{"refusal":"I"}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"refusal":" won't","content":""},` +
		`"finish_reason":"stop"}]}` + "\n\n"
	m = open(t, endpoint(llmtest.New(t, llmtest.Each(llmtest.Response{Body: refusal})), &waits{}))
	if told, _, err := watch(t, m); err != nil || !slices.Equal(told, []string{"I", "I won't"}) {
		t.Errorf("told %q, %v", told, err)
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	y, e := json.Marshal(b)
	if err != nil || e != nil {
		t.Fatal(err, e)
	}
	return string(x) == string(y)
}
