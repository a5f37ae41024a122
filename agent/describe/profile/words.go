package profile

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"dsstar/notebook/lazy"
)

// Near orders texts by the cosine of their weighted words and the question's, the nearest first,
// and says how many come to more than a share of the nearest one's. It keeps no words of the texts:
// there may be 100,000.
func Near(question string, texts []string, share float64) (order []int, near int) {
	inTexts := map[string]float64{}
	for _, text := range texts {
		for w := range counted(text) {
			inTexts[w]++
		}
	}
	weight := func(w string) float64 { return math.Log(1 + float64(len(texts))/(1+inTexts[w])) }
	asked, scores := counted(question), make([]float64, len(texts))
	for i, text := range texts {
		var dot, norm float64
		counts := counted(text)
		for _, w := range slices.Sorted(maps.Keys(counts)) { // a sum depends on the order
			v := (1 + math.Log(counts[w])) * weight(w)
			norm += v * v
			if asked[w] > 0 {
				dot += v * weight(w)
			}
		}
		if order = append(order, i); norm > 0 {
			scores[i] = dot / math.Sqrt(norm)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for near < len(order) && scores[order[near]] > share*scores[order[0]] {
		near++
	}
	return order, near
}

// places are the places of texts in the order of their nearness to the question, and how many are
// near it.
func places(question string, texts []string) (place []int, near int) {
	order, near := Near(question, texts, nearly)
	place = make([]int, len(texts))
	for n, i := range order {
		place[i] = n
	}
	return place, near
}

// nearly is the share of what the nearest has in common with the question that others which are
// near it have at least.
const nearly = 0.3

func counted(text string) map[string]float64 {
	counts := map[string]float64{}
	for w := range strings.FieldsSeq(fold(text)) {
		counts[w]++
	}
	return counts
}

// humps are the places within a name such as grossRate where a word begins.
var humps = lazy.Regexp(`(\p{Ll})(\p{Lu})`)

// fold writes a text in words without what the forms of a word differ in, roughly: case, a final s,
// and what follows the sixth letter. One with a digit is a number or a code: only its case goes.
func fold(text string) string {
	words := strings.FieldsFunc(humps().ReplaceAllString(text, "$1 $2"), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c)
	})
	for n, w := range words {
		if words[n] = strings.ToLower(w); strings.ContainsAny(w, "0123456789") {
			continue
		}
		letters := []rune(strings.TrimSuffix(words[n], "s"))
		if last := len(letters) - 1; last > 2 && letters[last] == 'y' {
			letters[last] = 'i' // country, countries
		}
		words[n] = string(letters[:min(len(letters), 6)])
	}
	return strings.Join(words, " ")
}
