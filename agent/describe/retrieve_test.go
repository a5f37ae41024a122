package describe

import (
	"slices"
	"testing"
)

func TestByWords(t *testing.T) {
	texts := []string{
		"fees.json fee rules by card scheme", "rain.csv rain in mm, by day",
		"manual.md what a fee is; what a merchant is",
		"payments.csv merchant, card scheme, amount", "données.csv",
	}
	for _, c := range []struct {
		question string
		want     []int // the first ones
	}{
		{"How much RAIN fell?", []int{1}},
		{"Fees by card scheme?", []int{0, 3}},
		{"Combien dans données?", []int{4}},
		{"xyz", []int{0, 1, 2, 3, 4}}, // nothing in common: as they come
		{"", []int{0, 1, 2, 3, 4}},
	} {
		if got := ByWords(c.question, texts)[:len(c.want)]; !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.question, got, c.want)
		}
	}
}
