package human

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// What counts as similar: least is a likeness, and most the number of names that are advised.
const least, most = 0.5, 5

// Near returns the names similar to name, the most similar first.
func Near(name string, names []string) []string {
	like := func(other string) float64 {
		return max(likeness(name, other), likeness(filepath.Base(name), filepath.Base(other)))
	}
	names = slices.DeleteFunc(slices.Clone(names), func(other string) bool { return like(other) < least })
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(like(b), like(a)), strings.Compare(a, b))
	})
	return names[:min(len(names), most)]
}

// likeness is Dice's coefficient of the letter pairs of two words, from 0 to 1.
func likeness(a, b string) float64 {
	count := map[string]int{}
	pairs := func(s string, each func(string)) (n int) {
		runes := []rune(" " + strings.ToLower(s) + " ")
		for i := range len(runes) - 1 {
			each(string(runes[i : i+2]))
		}
		return len(runes) - 1
	}
	common := 0
	n := pairs(a, func(p string) { count[p]++ })
	n += pairs(b, func(p string) {
		if count[p] > 0 {
			count[p]--
			common++
		}
	})
	return 2 * float64(common) / float64(n)
}
