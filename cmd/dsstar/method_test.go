package main

import (
	"strings"
	"testing"

	"dsstar/agent/llm/llmtest"
)

// TestRetriever: an embedding model chooses the files that are shown. The endpoint is busy at first.
func TestRetriever(t *testing.T) {
	t.Parallel()
	files := map[string]string{"numbers.csv": numbers["numbers.csv"]}
	for _, name := range []string{"wind", "rain", "total"} {
		files[name+".csv"] = name + "\n1\n"
	}
	data, m := dataFolder(t, files), counting()
	model := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		if r.N == 1 {
			return llmtest.Response{Status: 429, Header: map[string]string{"Retry-After": "1"}}
		}
		if r.Input == nil {
			return m[roleOf(t, r)][0]
		}
		var all llmtest.Response
		for _, text := range r.Input {
			all.Vectors = append(all.Vectors, llmtest.Embed(text))
		}
		return all
	})
	s := askNB(t, data, model.URL, "--top-k", "2", "--embedding-model", "embed", "--no-families")
	s.expect(exitVerified, "retry", "429", "again in 1 s")
	tr := s.trajectory()
	if len(tr.Descriptions) != 2 || tr.Task.Others != 2 || tr.ByRole["retriever"].Calls != 1 {
		t.Errorf("%d files shown, %d not, usage %+v", len(tr.Descriptions), tr.Task.Others, tr.ByRole)
	}
	if warned := strings.Join(tr.Warnings, "\n"); strings.Contains(warned, "embedding") {
		t.Errorf("warnings %q", tr.Warnings)
	}
}
