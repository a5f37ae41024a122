package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/describe"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// A ranker gives each text the score of the first word of scores that it has.
type ranker struct {
	scores map[string]float64
	err    error
	asked  []string // the questions
}

func (r *ranker) Rank(_ context.Context, question string, texts []string) (llm.Ranking, error) {
	r.asked = append(r.asked, question)
	ranking := llm.Ranking{Model: "e1", Calls: 3, Usage: llm.Usage{InputTokens: 500}}
	for _, text := range texts {
		score := 0.0
		for word, s := range r.scores {
			if strings.Contains(text, word) {
				score = s
			}
		}
		ranking.Scores = append(ranking.Scores, score)
	}
	return ranking, r.err
}

// More than TopK files: those nearest to the question are described to the
// model, and the others named.
func TestTopK(t *testing.T) {
	five := func(s *stage) {
		s.config.TopK, s.task.Question, s.task.Files = 2, "What did the shops in Bremen sell?", nil
		for _, name := range []string{"apes", "bremen", "cats", "dogs", "shops"} {
			s.task.Files = append(s.task.Files, record.File{Name: name + ".csv", Size: 10})
		}
	}
	embed := &ranker{scores: map[string]float64{"cats": 0.9, "apes": 0.8, "dogs": -0.5}}
	down := &ranker{err: errors.New("connection refused")}
	for _, c := range []struct {
		name   string
		ranker llm.Ranker
		shown  []string
		warned string
		calls  int
	}{
		{"by words", nil, []string{"bremen", "shops"}, "no embedding model is set", 0},
		{"by meaning", embed, []string{"apes", "cats"}, "", 3},
		{"by words, when the ranker fails", down, []string{"bremen", "shops"}, "the embedding model failed: connection refused", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple.with(script{"analyzer": "print(path)"}), five, func(s *stage) { s.config.Ranker = c.ranker }).noError(t)
			for _, key := range []string{"planner round 1", "finalizer the answer"} {
				described, others, _ := strings.Cut(p.model.prompt(t, key), "## More files")
				for _, f := range p.Task.Files {
					name := strings.TrimSuffix(f.Name, ".csv")
					shown := strings.Contains(described, "\n```\ndata/"+f.Name+"\n```")
					if shown != slices.Contains(c.shown, name) || strings.Contains(others, `"data/`+f.Name+`"`) == shown {
						t.Errorf("%s: %s is described: %v, want %v", key, f.Name, shown, c.shown)
					}
				}
			}
			warned := strings.Join(p.Warnings, "\n")
			if !strings.Contains(warned, c.warned) || (warned == "") != (c.warned == "") || len(p.Warnings) > 1 {
				t.Errorf("warnings %q, want %q", p.Warnings, c.warned)
			}
			if asked := p.asks(); len(asked) != 2 || !strings.Contains(asked[0], c.shown[0]) || !strings.Contains(asked[1], c.shown[1]) {
				t.Errorf("files that are not shown cost calls: %q", asked)
			}
			if own := p.ByRole["retriever"]; own.Calls != c.calls || p.Usage.Calls != len(p.model.asked)+c.calls || (c.calls > 0) != (own.InputTokens == 500) {
				t.Errorf("usage %+v, of the retriever %+v", p.Usage, own)
			}
		})
	}
	equal(t, "asked", embed.asked, []string{"What did the shops in Bremen sell?"})
	t.Run("a key that does not work", func(t *testing.T) {
		p := play(t, simple, five, func(s *stage) {
			s.config.Ranker = &ranker{err: &llm.CredentialError{Provider: "acme", KeyEnv: "ACME_KEY"}}
		})
		if _, ok := errors.AsType[*llm.CredentialError](p.err); !ok || p.model.count("planner") > 0 {
			t.Errorf("error %v after %q", p.err, p.model.asked)
		}
	})
	t.Run("refused before the ranker is asked", func(t *testing.T) {
		unused, refused := &ranker{}, errors.New("too much")
		p := play(t, simple, five, func(s *stage) {
			s.config.Ranker = unused
			s.config.Agree = func(_ context.Context, e describe.Estimate) error {
				if !e.Ranking || e.Files != 5 || e.Calls != 1 || e.InputTokens == 0 {
					t.Errorf("%+v", e)
				}
				return refused
			}
		})
		if !errors.Is(p.err, refused) || len(unused.asked)+len(p.model.asked) > 0 {
			t.Errorf("%v after %q and %q", p.err, unused.asked, p.model.asked)
		}
	})
	t.Run("as published, described first", func(t *testing.T) {
		p := play(t, simple, five, func(s *stage) { s.config.Method = record.Paper() })
		if n := p.model.count("analyzer"); n != 5 {
			t.Errorf("%d are described", n)
		}
	})
	t.Run("not more than TopK", func(t *testing.T) {
		unused := &ranker{}
		p := play(t, simple, five, func(s *stage) { s.config.TopK, s.config.Ranker = 5, unused }).noError(t)
		if len(unused.asked) > 0 || len(p.Warnings) > 0 {
			t.Errorf("the ranker was asked %q, warnings %q", unused.asked, p.Warnings)
		}
	})
}
