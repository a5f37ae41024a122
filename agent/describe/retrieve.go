package describe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/llm"
)

// beginnings are names and beginnings of the files.
func (r *Describer) beginnings() []string {
	texts := make([]string, len(r.looks))
	for i, l := range r.looks {
		name := r.t.Task.Files[i].Name
		texts[i] = fmt.Sprintf("%s\n%s\n%s\n%s", name, name, l.Kind, l.Head)
	}
	return texts
}

// only returns the elements at the indexes.
func only[T any](all []T, indexes []int) []T {
	if all == nil {
		return nil
	}
	some := make([]T, len(indexes))
	for n, i := range indexes {
		some[n] = all[i]
	}
	return some
}

// rank orders the files by their nearness to the question. With more than TopK
// it is the cosine of the embeddings of question and description (DS-STAR
// section 3.3) that decides which are shown, or without an embedding model, and
// it says so, that of their words. So it is with more of a family than are shown.
func (r *Describer) rank(ctx context.Context) error {
	texts := make([]string, len(r.t.Descriptions))
	for i, d := range r.t.Descriptions {
		text := d.Text
		switch {
		case !r.method.Profiles():
		case r.profiles[i] != nil && r.profiles[i].Known():
			text = r.profiles[i].Words()
		case text == "":
			text = r.looks[i].Head // the model may describe it later
		}
		texts[i] = d.File + "\n" + d.File + "\n" + text
	}
	question, words := r.t.Task.Question, texts
	if r.method.Profiles() {
		question, words = profile.Fold(question), slices.Clone(texts)
		for i := range words {
			words[i] = profile.Fold(words[i])
		}
	}
	r.nearness = ByWords(question, words)
	shown, _ := r.chosen()
	if all := len(texts) + r.passed; r.Ranker == nil && len(shown) < all {
		return r.journal.Warn(fmt.Sprintf(
			"of %d files the %d that share most words with the question are shown to the model: no "+
				"embedding model is set", all, len(shown)))
	}
	if len(shown) == len(texts) {
		return nil
	}
	if r.method.Profiles() {
		for i := range texts {
			texts[i] = brief.Lines(texts[i], rankChars)
		}
	}
	return r.rankByModel(ctx, texts)
}

// rankChars is how much of a profile the embedding model is sent.
const rankChars = 2000

// rankBatch is how many texts one call of the embedding model takes.
const rankBatch = 64

// rankByModel orders the files by what the embedding model makes of a text about
// each. If it fails, the order stays.
func (r *Describer) rankByModel(ctx context.Context, texts []string) error {
	ranking, err := r.Rank(ctx, r.Ranker, r.t.Task.Question, texts, rankBatch)
	switch key := (*llm.CredentialError)(nil); {
	case ctx.Err() != nil || errors.As(err, &key):
		return err
	case err != nil:
		return r.journal.Warn(fmt.Sprintf(
			"the files are ranked by the words that they share with the question, since the embedding "+
				"model failed: %v", err))
	}
	r.nearness = byScore(ranking.Scores)
	return nil
}

// alikeShown is how many files of one family are described to the model: the
// nearest to the question. The others are named.
const alikeShown = 8

// narrow leaves the files that the model is shown, and of the others their names:
// what nobody has seen is no part of how the answer was found, and with thousands
// of files it would be most of the notebook.
func (r *Describer) narrow() {
	shown, named := r.chosen()
	told := map[string]bool{}
	for n, alike := range named {
		r.t.Descriptions[n].Alike = listed(alike, r.Sizes().Description/8)
		for _, name := range alike {
			told[name] = true
		}
	}
	near := 0
	var others []string
	for _, n := range r.nearness {
		if slices.Contains(shown, n) {
			near++
			r.t.Descriptions[n].Near = near
		} else if name := r.t.Task.Files[n].Name; !told[name] {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	r.t.Task.LeftOut = listed(append(others, r.others...), r.Sizes().Description/4)
	r.t.Task.Others += len(r.t.Task.Files) - len(shown)
	r.keepOnly(shown)
}

// chosen returns the files that are shown, in their order, and the names of
// further ones by the last shown one that they are like.
func (r *Describer) chosen() (all []int, alike map[int][]string) {
	family := map[string][]int{} // the shown ones
	more := map[string][]string{}
	for _, n := range r.nearness {
		lead := r.alikeLead[r.t.Descriptions[n].File]
		switch {
		case len(family[lead]) >= alikeShown:
			more[lead] = append(more[lead], r.t.Descriptions[n].File)
		case len(all) < r.TopK:
			all, family[lead] = append(all, n), append(family[lead], n)
		}
	}
	slices.Sort(all)
	alike = map[int][]string{}
	for lead, names := range more {
		slices.Sort(names)
		alike[slices.Max(family[lead])] = names
	}
	return all, alike
}

// ByWords orders texts by the cosine of their weighted words and the question's,
// the nearest first. It keeps no words of the texts: there may be 100,000.
func ByWords(question string, texts []string) []int { return byScore(wordScores(question, texts)) }

// NearByWords returns those of ByWords whose nearness is at least a share of the nearest one's.
func NearByWords(question string, texts []string, share float64) []int {
	scores := wordScores(question, texts)
	order := byScore(scores)
	far := slices.IndexFunc(order, func(i int) bool { return scores[i] == 0 || scores[i] < share*scores[order[0]] })
	if far < 0 {
		return order
	}
	return order[:far]
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
		for w, n := range wordCounts(text) {
			v := (1 + math.Log(n)) * weight(w)
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

// byScore returns the indexes of scores from the highest to the lowest; equal
// ones stay in order.
func byScore(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return order
}

// spread takes most of the indexes in order: the first half of them, which are
// the nearest, and the rest evenly from what follows, so that no folder is
// passed over for coming late.
func spread(order []int, most int) map[int]bool {
	taken := make(map[int]bool, most)
	for _, i := range order[:most/2] {
		taken[i] = true
	}
	rest := order[most/2:]
	for n := range most - most/2 {
		taken[rest[n*len(rest)/(most-most/2)]] = true
	}
	return taken
}

func wordCounts(text string) map[string]float64 {
	counts := map[string]float64{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }) {
		counts[w]++
	}
	return counts
}
