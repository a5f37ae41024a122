package llm_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

func openEmbedder(t *testing.T, e llm.Endpoint) llm.Model {
	t.Helper()
	m, err := e.OpenEmbedder()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRank: also vectors that come in another order, or without an index. A replay gives the same scores
// to the same question alone.
func TestRank(t *testing.T) {
	texts := []string{"same", "other", "opposite", "between"}
	for name, response := range map[string]llmtest.Response{
		"in reverse": {Vectors: [][]float64{{3, 0}, {2, 0}, {0, 5}, {-1, 0}, {1, 1}}, Usage: llm.Usage{InputTokens: 9}},
		"no index": {Body: "\xEF\xBB\xBF\n" + `{"error":null,"model":"m1","usage":{"prompt_tokens":9},"data":[{"embedding":[3,0]},` +
			`{"embedding":[2,0]},{"embedding":[0,5]},{"embedding":[-1,0]},{"embedding":[1,1]}]}`},
	} {
		s, path := llmtest.New(t, llmtest.Each(response)), filepath.Join(t.TempDir(), "trace.jsonl")
		got, err := llm.Traced(openEmbedder(t, endpoint(s)), openTrace(t, path)).Ask(t.Context(), llm.ToRank("question", texts))
		want := llm.Reply{Text: "[1,0,-1,0.7071]", Usage: llm.Usage{InputTokens: 9}, Model: "m1", Calls: 1}
		if got.Seconds = 0; err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
		again := llm.Replay(readTrace(t, path), false)
		if _, err := again.Ask(t.Context(), llm.ToRank("other", texts)); err == nil {
			t.Errorf("%s: another question fits", name)
		}
		if replayed, err := again.Ask(t.Context(), llm.ToRank("question", texts)); err != nil || replayed != want {
			t.Errorf("%s: replayed %+v, %v", name, replayed, err)
		}
		asked := s.Requests()[0]
		if !slices.Equal(asked.Input, []string{"question", "same", "other", "opposite", "between"}) ||
			!strings.Contains(asked.Body, `"encoding_format":"float"`) ||
			!strings.Contains(asked.Body, `"model":"m1"`) || asked.Header.Get("Authorization") != "Bearer "+secret {
			t.Errorf("%s: sent %s", name, asked.Body)
		}
	}
}

// TestRankInBatches: texts are sent in bounded requests, cut only at character boundaries; scores keep
// their order.
func TestRankInBatches(t *testing.T) {
	var texts []string
	for i := range 150 {
		texts = append(texts, strings.Repeat("filler ", i%5*1000)+"word")
	}
	texts[3] = strings.Repeat("word ", 20)
	texts[100] = "x" + strings.Repeat("é", 20_000)
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Usage: llm.Usage{InputTokens: 10}}))
	got, err := openEmbedder(t, endpoint(s)).Ask(t.Context(), llm.ToRank("word", texts))
	var scores []float64
	if err := errors.Join(err, json.Unmarshal([]byte(got.Text), &scores)); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, r := range s.Requests() {
		size := 0
		for _, text := range r.Input {
			size += len(text)
			if len(text) > 24_000 || !utf8.ValidString(text) {
				t.Errorf("a text of %d bytes, valid: %v", len(text), utf8.ValidString(text))
			}
		}
		sent += len(r.Input)
		if len(r.Input) > 64 || size > 200_000 {
			t.Errorf("%d texts, %d bytes in a request", len(r.Input), size)
		}
	}
	if n := len(s.Requests()); sent != 151 || got.Calls != n || got.Usage.InputTokens != 10*n || n < 6 {
		t.Errorf("%d texts in %d requests; %+v", sent, n, got)
	}
	for i, text := range texts {
		if want := i%5 == 0 && i != 100 || i == 3; (scores[i] > 0.99) != want {
			t.Errorf("text %d (%.20q): %v", i, text, scores[i])
		}
	}
}

// TestRankFailures: a response that has no score for each text is an error.
func TestRankFailures(t *testing.T) {
	for name, c := range map[string]struct {
		response llmtest.Response
		says     string
	}{
		"too few":        {llmtest.Response{Vectors: [][]float64{{1}}}, "received 1 embeddings"},
		"none":           {llmtest.Response{Body: `{"data":[]}`}, "not a list of embeddings"},
		"zero":           {llmtest.Response{Vectors: [][]float64{{1, 0}, {0, 0}}}, "embedding 1 is"},
		"of two lengths": {llmtest.Response{Vectors: [][]float64{{1, 2}, {1}}}, "another length"},
		"NaN":            {llmtest.Response{Body: `{"data":[{"embedding":[NaN]},{"embedding":[1]}]}`}, "not a list of embeddings"},
		"a web page":     {llmtest.Response{Body: "<html>"}, "/v1/embeddings: 200 OK: not a list of embeddings: <html>"},
	} {
		s := llmtest.New(t, llmtest.Each(c.response))
		got, err := openEmbedder(t, endpoint(s)).Ask(t.Context(), llm.ToRank("q", []string{"a"}))
		if e, ok := errors.AsType[*llm.StatusError](err); !ok || e.Status != 200 || got.Text != "" ||
			!strings.Contains(err.Error(), c.says) || len(s.Requests()) != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
