package describe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/llm"
)

// rankChars is how much of a profile the embedding model is sent.
const rankChars = 2000

// rank orders the files by their nearness to the question. With more than TopK it is the cosine of
// the embeddings of question and description (DS-STAR section 3.3) that decides which are shown, or
// without an embedding model, and it says so, that of their words.
func (r *Describer) rank(ctx context.Context) error {
	question := r.t.Task.Question
	texts := make([]string, len(r.t.Descriptions))
	for i, d := range r.t.Descriptions {
		text := d.Text
		if p := r.profiles[d.File]; p != nil && p.Known() {
			text = p.About
		}
		texts[i] = brief.Lines(d.File+"\n"+d.File+"\n"+text, rankChars)
	}
	r.order(ByWords(question, texts))
	switch {
	case len(texts) <= r.TopK:
		return nil
	case r.Embedder == nil:
		return r.journal.Warn(fmt.Sprintf(
			"of %d files the %d that share most words with the question are shown to the model: no "+
				"embedding model is set", len(texts), r.TopK))
	}
	scores, err := r.Rank(ctx, r.Embedder, question, texts)
	switch _, key := errors.AsType[*llm.CredentialError](err); {
	case ctx.Err() != nil || key:
		return err
	case err != nil: // the order stays
		return r.journal.Warn(fmt.Sprintf(
			"the files are ranked by the words that they share with the question, since the embedding "+
				"model failed: %v", err))
	}
	r.order(byScore(scores))
	return nil
}

// ByWords orders texts by the cosine of their weighted words and the question's,
// the nearest first. It keeps no words of the texts: there may be 100,000.
func ByWords(question string, texts []string) []int {
	order, _ := near(question, texts, 0)
	return order
}

// NearByWords returns those of ByWords whose nearness is more than a share of the nearest one's.
func NearByWords(question string, texts []string, share float64) []int {
	order, some := near(question, texts, share)
	return order[:some]
}

// Ranker ranks texts by the words that they share with a question.
func Ranker(question string) profile.Ranker {
	const share = 0.3
	return func(texts []string) ([]int, int) { return near(question, texts, share) }
}

func near(question string, texts []string, share float64) (order []int, some int) {
	scores := wordScores(question, texts)
	order = byScore(scores)
	for some < len(order) && scores[order[some]] > share*scores[order[0]] {
		some++
	}
	return order, some
}

func wordScores(question string, texts []string) []float64 {
	inTexts := map[string]float64{}
	for _, text := range texts {
		for w := range wordCounts(text) {
			inTexts[w]++
		}
	}
	weight := func(w string) float64 { return math.Log(1 + float64(len(texts))/(1+inTexts[w])) }
	asked := wordCounts(question)
	scores := make([]float64, len(texts))
	for i, text := range texts {
		var dot, norm float64
		counts := wordCounts(text)
		for _, w := range slices.Sorted(maps.Keys(counts)) { // a sum depends on the order
			v := (1 + math.Log(counts[w])) * weight(w)
			norm += v * v
			if asked[w] > 0 {
				dot += v * weight(w)
			}
		}
		if norm > 0 {
			scores[i] = dot / math.Sqrt(norm)
		}
	}
	return scores
}

func wordCounts(text string) map[string]float64 {
	counts := map[string]float64{}
	for w := range strings.FieldsSeq(profile.Fold(text)) {
		counts[w]++
	}
	return counts
}

// byScore returns the indexes of scores from the highest to the lowest; equal
// ones stay in order.
func byScore(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}
