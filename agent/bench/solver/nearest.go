package solver

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

var word = regexp.MustCompile(`[\p{L}\p{N}]+`)

func wordsOf(text string) []string { return word.FindAllString(strings.ToLower(text), -1) }

// byNearness returns the indexes of the texts by their similarity to a query (Okapi BM25 with
// its usual parameters), and how many of them share a word with it.
func byNearness(texts []string, query string) (order []int, sharing int) {
	const k, b = 1.5, 0.75
	total := 0
	in := map[string]int{} // number of texts that contain a word
	counts := make([]map[string]int, len(texts))
	lengths := make([]int, len(texts))
	for i, text := range texts {
		counts[i] = map[string]int{}
		for _, w := range wordsOf(text) {
			if counts[i][w]++; counts[i][w] == 1 {
				in[w]++
			}
			lengths[i]++
			total++
		}
	}
	scores := make([]float64, len(texts))
	mean := float64(max(total, 1)) / float64(max(len(texts), 1))
	asked := wordsOf(query)
	slices.Sort(asked)
	for _, w := range slices.Compact(asked) {
		rare := math.Log(1 + (float64(len(texts)-in[w])+0.5)/(float64(in[w])+0.5))
		for i := range texts {
			n := float64(counts[i][w])
			scores[i] += rare * n * (k + 1) / (n + k*(1-b+b*float64(lengths[i])/mean))
		}
	}
	for i := range texts {
		if order = append(order, i); scores[i] > 0 {
			sharing++
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(scores[y], scores[x]) })
	return order, sharing
}
