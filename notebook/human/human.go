// Package human formats values for people: sizes, numbers, money, and words to paste into a shell.
package human

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// Bytes formats a number of bytes in decimal units: "1 byte", "512 bytes", "3.4 MB".
func Bytes(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	}
	size, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB"}
	for size >= 999.95 && len(units) > 1 {
		size, units = size/1000, units[1:]
	}
	return fmt.Sprintf("%.1f %s", size, units[0])
}

// Count formats a number in few digits: "812", "5.5k", "1.2M".
func Count(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Dollars formats US dollars, with more digits for small amounts: "$12.35", "$0.012", "$0.0004".
func Dollars(usd float64) string {
	switch {
	case usd == 0:
		return "$0"
	case usd < 0.01:
		return fmt.Sprintf("$%.4f", max(usd, 0.0001))
	case usd < 0.1:
		return fmt.Sprintf("$%.3f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// Plural returns a number with its noun: "1 cell", "2 cells".
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Some joins the first names, up to most of them, and says how many more there are.
func Some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Shell quotes a word for a POSIX shell if it needs quotes.
func Shell(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+,@%:=", r)
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

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
