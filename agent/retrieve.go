package agent

import (
	"math"
	"slices"
	"strings"
)

var words = lazy(`[\p{L}\p{N}]+`)

// nearest returns the indexes, in their order, of the k descriptions that have
// most in common with the question, by the cosine of their weighted words
// (DS-STAR section 3.3 does the same with embeddings). With k or fewer
// descriptions it is all of them.
func nearest(question string, descriptions []Description, k int) []int {
	order := make([]int, len(descriptions))
	for i := range order {
		order[i] = i
	}
	if len(descriptions) <= k {
		return order
	}
	counts := make([]map[string]float64, len(descriptions))
	inFiles := map[string]float64{}
	for i, d := range descriptions {
		counts[i] = wordCounts(d.File + " " + d.File + " " + d.Text)
		for w := range counts[i] {
			inFiles[w]++
		}
	}
	weight := func(w string) float64 { return math.Log(1 + float64(len(descriptions))/(1+inFiles[w])) }
	asked := wordCounts(question)
	score := make([]float64, len(descriptions))
	for i, c := range counts {
		var dot, norm float64
		for w, n := range c {
			v := (1 + math.Log(n)) * weight(w)
			norm += v * v
			if asked[w] > 0 {
				dot += v * weight(w)
			}
		}
		if norm > 0 {
			score[i] = dot / math.Sqrt(norm)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	chosen := order[:k]
	slices.Sort(chosen)
	return chosen
}

func wordCounts(text string) map[string]float64 {
	counts := map[string]float64{}
	for _, w := range words().FindAllString(strings.ToLower(text), -1) {
		counts[w]++
	}
	return counts
}
