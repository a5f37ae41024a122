package llm_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// OnText does not change the trace, and is called in a replay too.
func TestOnTextIsNotTraced(t *testing.T) {
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Text: "one two three"}))
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	trace := openTrace(t, path)
	m := llm.Traced(llm.ByRole(open(t, endpoint(s, &waits{})), nil), trace)
	told, _, err := watch(t, m)
	if err != nil || len(told) != 2 {
		t.Fatalf("told %q, %v", told, err)
	}
	if _, err := m.Ask(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	got := readTrace(t, path)
	got[1].N, got[1].Time, got[1].Seconds, got[0].Seconds = got[0].N, got[0].Time, 0, 0
	if raw, _ := os.ReadFile(path); !equalJSON(t, got[0], got[1]) ||
		strings.Contains(string(raw), "OnText") {
		t.Errorf("trace\n%s", raw)
	}
	told, _, err = watch(t, llm.Replay(got))
	if err != nil || !slices.Equal(told, []string{"one two three"}) {
		t.Errorf("a replay told %q, %v", told, err)
	}
	told, _, err = watch(t, llm.Replay(nil))
	if _, ok := errors.AsType[*llm.ReplayError](err); !ok || told != nil {
		t.Errorf("a replay without a reply told %q, %v", told, err)
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
