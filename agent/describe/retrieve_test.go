package describe

import (
	"maps"
	"slices"
	"testing"
)

func TestByWords(t *testing.T) {
	texts := []string{
		"fees.json fee rules by card scheme", "rain.csv rain in mm, by day", "manual.md what a fee is; what a merchant is",
		"payments.csv merchant, card scheme, amount", "données.csv",
	}
	cases := []struct {
		question string
		want     []int // the first ones
	}{
		{"How much RAIN fell?", []int{1}},
		{"Fees by card scheme?", []int{0, 3}},
		{"Combien dans données?", []int{4}},
		{"xyz", []int{0, 1, 2, 3, 4}}, // nothing in common: as they come
		{"", []int{0, 1, 2, 3, 4}},
	}
	for _, c := range cases {
		if got := ByWords(c.question, texts)[:len(c.want)]; !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.question, got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	order := make([]int, 1000)
	for i := range order {
		order[i] = 999 - i
	}
	taken := spread(order, 100)
	if len(taken) != 100 || !taken[999] || !taken[950] || !taken[949] || taken[948] || !taken[18] {
		t.Errorf("%d taken: %v", len(taken), slices.Sorted(maps.Keys(taken)))
	}
}
