package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/describe/profile"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// A ranker gives each text the score of the first word of scores that it has.
type ranker struct {
	scores map[string]float64
	err    error
	asked  []string // the questions
}

func (r *ranker) Ask(_ context.Context, request llm.Request) (llm.Reply, error) {
	r.asked = append(r.asked, request.Messages[0].Text)
	var scores []float64
	for _, text := range request.Texts {
		score := 0.0
		for word, s := range r.scores {
			if strings.Contains(text, word) {
				score = s
			}
		}
		scores = append(scores, score)
	}
	return llm.Reply{Text: string(must(json.Marshal(scores))), Model: "e1", Calls: 3,
		Usage: llm.Usage{InputTokens: 500}}, r.err
}

// More than TopK files: those nearest to the question are described to the model, and the others
// named.
func TestTopK(t *testing.T) {
	const question = "What did the shops in Bremen sell?"
	five := func(k int, ranker llm.Model) func(*stage) {
		return func(s *stage) {
			s.config.TopK, s.config.Embedder, s.task.Question = k, ranker, question
			known := map[string]profile.Profile{}
			for _, name := range []string{"apes", "bremen", "cats", "dogs", "shops"} {
				s.task.Files = append(s.task.Files[:len(known):len(known)], filesOf(name+".csv")...)
				known[name+".csv"] = table(3, "of_"+name)
			}
			profiled(known)(s)
		}
	}
	embed := &ranker{scores: map[string]float64{"cats": 0.9, "apes": 0.8, "dogs": -0.5}}
	for _, c := range []struct {
		name   string
		ranker llm.Model
		shown  []string
		warned string
		calls  int
	}{
		{"by words", nil, []string{"bremen.csv", "shops.csv"}, "no embedding model is set", 0},
		{"by meaning", embed, []string{"apes.csv", "cats.csv"}, "", 3},
		{"by words, when the ranker fails", &ranker{err: errors.New("connection refused")},
			[]string{"bremen.csv", "shops.csv"}, "the embedding model failed: connection refused", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple, five(2, c.ranker)).noError(t)
			for _, key := range []string{"solver round 1", "second the answer"} {
				described, others, _ := strings.Cut(p.model.prompt(t, key), "## More files")
				for _, f := range p.Task.Files {
					shown := strings.Contains(described, "- of_"+strings.TrimSuffix(f.Name, ".csv")+": ")
					if shown != slices.Contains(c.shown, f.Name) || strings.Contains(others, f.Name) == shown {
						t.Errorf("%s: %s is described: %v, want %q", key, f.Name, shown, c.shown)
					}
				}
			}
			if w := strings.Join(p.Warnings, "\n"); !strings.Contains(w, c.warned) || (w == "") != (c.warned == "") {
				t.Errorf("warnings %q, want %q", p.Warnings, c.warned)
			}
			own := p.ByRole["retriever"]
			if own.Calls != c.calls || p.Usage.Calls != len(p.model.asked)+c.calls ||
				(c.calls > 0) != (own.InputTokens == 500) {
				t.Errorf("usage %+v, of the retriever %+v", p.Usage, own)
			}
		})
	}
	equal(t, "asked", embed.asked, []string{question})
	badKey := &ranker{err: &llm.CredentialError{Provider: "acme", KeyEnv: "ACME_KEY"}}
	p := play(t, simple, five(2, badKey))
	if _, ok := errors.AsType[*llm.CredentialError](p.err); !ok || p.model.count("solver") > 0 {
		t.Errorf("error %v after %q", p.err, p.model.asked)
	}
	unused := &ranker{}
	if p = play(t, simple, five(5, unused)).noError(t); len(unused.asked) > 0 || len(p.Warnings) > 0 {
		t.Errorf("the ranker was asked %q, warnings %q", unused.asked, p.Warnings)
	}
	// As published, all are described first.
	p = play(t, simple, five(2, nil), func(s *stage) { s.config.Method = record.Method{Script: true} })
	if n := p.model.count("analyzer"); n != 5 {
		t.Errorf("%d are described", n)
	}
}
