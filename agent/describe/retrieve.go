package describe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

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

// How much of a profile the embedding model is sent, and how many texts one call of it takes.
const rankChars, rankBatch = 2000, 64

// rank orders the files by their nearness to the question. With more than TopK it is the cosine of
// the embeddings of question and description (DS-STAR section 3.3) that decides which are shown, or
// without an embedding model, and it says so, that of their words. So it is with more of a family
// than are shown.
func (r *Describer) rank(ctx context.Context) error {
	question, profiles := r.t.Task.Question, r.method.Profiles()
	texts, words := make([]string, len(r.t.Descriptions)), make([]string, len(r.t.Descriptions))
	for i, d := range r.t.Descriptions {
		text, k := d.Text, r.of(i)
		switch {
		case !profiles:
		case k.profile != nil && k.profile.Known():
			text = k.profile.Words(question)
		case text == "":
			text = k.look.Head // the program does not understand it
		}
		texts[i] = d.File + "\n" + d.File + "\n" + text
		if words[i] = texts[i]; profiles {
			texts[i], words[i] = brief.Lines(texts[i], rankChars), profile.Fold(texts[i])
		}
	}
	if profiles {
		question = profile.Fold(question)
	}
	r.nearness = ByWords(question, words)
	shown, _ := r.chosen()
	switch all := len(texts) + r.passed; {
	case r.Embedder == nil && len(shown) < all:
		return r.journal.Warn(fmt.Sprintf(
			"of %d files the %d that share most words with the question are shown to the model: no "+
				"embedding model is set", all, len(shown)))
	case len(shown) == len(texts):
		return nil
	}
	scores, err := r.Rank(ctx, r.Embedder, r.t.Task.Question, texts, rankBatch)
	switch _, key := errors.AsType[*llm.CredentialError](err); {
	case ctx.Err() != nil || key:
		return err
	case err != nil: // the order stays
		return r.journal.Warn(fmt.Sprintf(
			"the files are ranked by the words that they share with the question, since the embedding "+
				"model failed: %v", err))
	}
	r.nearness = byScore(scores)
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
	near, others := 0, r.others
	for _, n := range r.nearness {
		if name := r.t.Task.Files[n].Name; slices.Contains(shown, n) {
			near++
			r.t.Descriptions[n].Near = near
		} else if !told[name] {
			others = append(others, name)
		}
	}
	r.t.Task.LeftOut = listed(others, r.Sizes().Description/4)
	r.keepOnly(shown)
}

// chosen returns the files that are shown, in their order, and by the last shown one the names of a
// family of which there are more.
func (r *Describer) chosen() (all []int, alike map[int][]string) {
	family := map[string][]int{} // the shown ones
	more := map[string][]string{}
	named := r.mentioned()
	for _, n := range r.nearness {
		switch lead := r.of(n).lead; {
		case len(family[lead]) >= alikeShown && !named[n]:
			more[lead] = append(more[lead], r.t.Descriptions[n].File)
		case len(all) < r.TopK:
			all, family[lead] = append(all, n), append(family[lead], n)
		}
	}
	slices.Sort(all)
	alike = map[int][]string{}
	for lead, names := range more {
		for _, n := range family[lead] {
			names = append(names, r.t.Descriptions[n].File)
		}
		alike[slices.Max(family[lead])] = names
	}
	return all, alike
}

// Extend adds to the descriptions what a later question of the conversation needs besides, as far
// as profiles are kept. What was told before stays as it is.
func (r *Describer) Extend() {
	const share = 20 // of what is shown of the files, for all that is added
	k := len(r.t.Earlier)
	if k <= r.t.Extended || !r.method.Profiles() {
		return
	}
	r.t.Extended = k
	root, err := files.Open(r.data, r.Readable)
	if err != nil {
		return
	}
	defer root.Close()
	left := r.Sizes().Context / share
	question, texts := r.question(), make([]string, len(r.t.Descriptions))
	for i, f := range r.t.Task.Files {
		d := r.t.Descriptions[i]
		if !d.Profile || d.Whole || d.Like != "" {
			continue
		}
		if p, ok := keptProfile(r.keptAt(root, f)); ok {
			told := d.Text + "\n" + d.Beyond(k)
			if d.Far {
				told = d.Line + "\n" + d.Beyond(k)
			}
			texts[i] = linesBeyond(p.Text(question, max(leastChars, len(d.Text)), r.near), told)
		}
	}
	for _, i := range ByWords(question, texts) {
		if d := &r.t.Descriptions[i]; texts[i] != "" && len(texts[i]) <= left {
			d.Later = append(d.Later, record.Extension{Part: k, Text: texts[i]})
			left -= len(texts[i])
		}
	}
}

// mentioned returns the members of families that the question names by what sets their names apart:
// a word, a place, a date or a number.
func (r *Describer) mentioned() map[int]bool {
	families, words := map[string][]int{}, make([][]string, len(r.t.Task.Files))
	for i, f := range r.t.Task.Files {
		lead := r.of(i).lead
		families[lead] = append(families[lead], i)
		words[i] = strings.Fields(profile.Fold(strings.TrimSuffix(f.Name, path.Ext(f.Name))))
	}
	asked := strings.Fields(profile.Fold(r.t.Task.Question))
	asked = append(asked, years(r.t.Task.Question)...)
	named := map[int]bool{}
	for _, members := range families {
		has := map[string]int{}
		for _, i := range members {
			for _, w := range slices.Compact(slices.Sorted(slices.Values(words[i]))) {
				has[w]++
			}
		}
		for _, i := range members {
			own := slices.DeleteFunc(words[i], func(w string) bool { return has[w] == len(members) })
			missing := func(w string) bool { return !slices.Contains(asked, w) }
			named[i] = len(own) > 0 && !slices.ContainsFunc(own, missing)
		}
	}
	return named
}

var (
	spans  = lazy.Regexp(`\b((?:19|20)\d\d)\s*(?:to|-|–|—|and|through|until|till)\s*((?:19|20)\d\d)\b`)
	onward = lazy.Regexp(`(?i)\b(?:since|after|from|starting)\s+(?:in\s+)?((?:19|20)\d\d)\b`)
)

// years are those within the spans that a question names by their first and last.
func years(question string) (all []string) {
	add := func(first, last string) {
		from, _ := strconv.Atoi(first) // four digits
		to, _ := strconv.Atoi(last)
		for year := from; year <= to; year++ {
			all = append(all, strconv.Itoa(year))
		}
	}
	for _, m := range onward().FindAllStringSubmatch(question, -1) {
		add(m[1], "2099")
	}
	for _, m := range spans().FindAllStringSubmatch(question, -1) {
		add(m[1], m[2])
	}
	return all
}

// ByWords orders texts by the cosine of their weighted words and the question's,
// the nearest first. It keeps no words of the texts: there may be 100,000.
func ByWords(question string, texts []string) []int { return byScore(wordScores(question, texts)) }

// NearByWords returns those of ByWords whose nearness is at least a share of the nearest one's.
func NearByWords(question string, texts []string, share float64) []int {
	scores := wordScores(question, texts)
	order := byScore(scores)
	far := slices.IndexFunc(order, func(i int) bool {
		return scores[i] == 0 || scores[i] < share*scores[order[0]]
	})
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
	between := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), between) {
		counts[w]++
	}
	return counts
}
