package llm_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

// vectors is a response to an embeddings request.
func vectors(all ...string) llmtest.Response {
	return llmtest.Response{Body: `{"error":null,"model":"m1","usage":{"prompt_tokens":9},"data":[` +
		strings.Join(all, ",") + `]}`}
}

// TestRank: also vectors that come in another order, or without an index. A replay gives the same scores
// to the same question alone.
func TestRank(t *testing.T) {
	texts := []string{"same", "other", "opposite", "between"}
	plain := []string{`{"embedding":[3,0]}`, `{"embedding":[2,0]}`, `{"embedding":[0,5]}`, `{"embedding":[-1,0]}`,
		`{"embedding":[1,1]}`}
	var reverse []string
	for i, v := range slices.Backward(plain) {
		reverse = append(reverse, fmt.Sprintf(`{"index":%d,%s`, i, v[1:]))
	}
	for _, all := range [][]string{plain, reverse} {
		s, path := llmtest.New(t, llmtest.Each(vectors(all...))), filepath.Join(t.TempDir(), "trace.jsonl")
		got, err := llm.Traced(must(endpoint(s).OpenEmbedder()), openTrace(t, path)).Ask(t.Context(), llm.ToRank("question", texts))
		want := llm.Reply{Text: "[1,0,-1,0.7071]", Usage: llm.Usage{InputTokens: 9}, Model: "m1", Calls: 1}
		if got.Seconds = 0; err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", all, got, err, want)
		}
		again := llm.Replay(readTrace(path), false)
		if _, err := again.Ask(t.Context(), llm.ToRank("other", texts)); err == nil {
			t.Errorf("%s: another question fits", all)
		}
		if replayed, err := again.Ask(t.Context(), llm.ToRank("question", texts)); err != nil || replayed != want {
			t.Errorf("%s: replayed %+v, %v", all, replayed, err)
		}
		asked := s.Requests()[0]
		if !slices.Equal(asked.Input, append([]string{"question"}, texts...)) || asked.Model != "m1" ||
			asked.Header.Get("Authorization") != "Bearer "+secret {
			t.Errorf("%s: sent %s", all, asked.Body)
		}
	}
}

// TestRankInBatches: texts are sent in bounded requests; scores keep their order.
func TestRankInBatches(t *testing.T) {
	s := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		var all []string
		for _, text := range r.Input {
			all = append(all, fmt.Sprintf(`{"embedding":[%d,1]}`, len(text)%2))
		}
		return vectors(all...)
	})
	texts := slices.Repeat([]string{"a", "bb"}, 75)
	got, err := must(endpoint(s).OpenEmbedder()).Ask(t.Context(), llm.ToRank("q", texts))
	want := "[" + strings.Repeat("1,0.7071,", 74) + "1,0.7071]"
	if err != nil || got.Text != want || got.Calls != 3 || got.Usage.InputTokens != 27 || len(s.Requests()) != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRankFailures: a response that has no score for each text is an error.
func TestRankFailures(t *testing.T) {
	for says, response := range map[string]llmtest.Response{
		"received 1 embeddings":    vectors(`{"embedding":[1]}`),
		"not a list of embeddings": {Body: `{"data":[]}`},
		"embedding 1 is":           vectors(`{"embedding":[1,0]}`, `{"embedding":[0,0]}`),
		"another length":           vectors(`{"embedding":[1,2]}`, `{"embedding":[1]}`),
		"/v1/embeddings: 200 OK: not a list of embeddings: <html>": {Body: "<html>"},
	} {
		s := llmtest.New(t, llmtest.Each(response))
		got, err := must(endpoint(s).OpenEmbedder()).Ask(t.Context(), llm.ToRank("q", []string{"a"}))
		if e, ok := errors.AsType[*llm.StatusError](err); !ok || e.Status != 200 || got.Text != "" ||
			!strings.Contains(err.Error(), says) || len(s.Requests()) != 1 {
			t.Errorf("%s: %+v, %v", says, got, err)
		}
	}
}
