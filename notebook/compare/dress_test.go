package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// A dress writes the parts of an answer. All dresses of a kind mean the same.
type dress func(parts []string) string

// one is the dress of a single value.
func one(write func(string) string) dress {
	return func(parts []string) string { return write(parts[0]) }
}

// joined is the dress of a list.
func joined(begin, mark, end string) dress {
	return func(parts []string) string { return begin + strings.Join(parts, mark) + end }
}

// filled replaces # in a form for each part by a name, and ~ by the part.
func filled(begin, form, mark, end string) dress {
	return func(parts []string) string {
		var all []string
		for i, part := range parts {
			all = append(all, strings.NewReplacer("#", "k"+strconv.Itoa(i), "~", part).Replace(form))
		}
		return begin + strings.Join(all, mark) + end
	}
}

// rows is the dress of a table with two columns, perhaps with columns and rows in another order.
func rows(other bool, before, mark, after, rule string) dress {
	return func(parts []string) string {
		lines := []string{}
		for i := 0; i+1 < len(parts); i += 2 {
			cells := []string{parts[i], parts[i+1]}
			if other {
				slices.Reverse(cells)
			}
			lines = append(lines, before+strings.Join(cells, mark)+after)
		}
		head := "name" + mark + "n"
		if other {
			slices.Reverse(lines)
			head = "n" + mark + "name"
		}
		return strings.Join(append([]string{before + head + after + rule}, lines...), "\n")
	}
}

func records(parts []string) string {
	var all []map[string]string
	for i := 0; i+1 < len(parts); i += 2 {
		all = append(all, map[string]string{"n": parts[i+1], "name": parts[i]})
	}
	text, _ := json.Marshal(all)
	return string(text)
}

// grouped writes a whole number as 1,234,567.
func grouped(n string) string {
	digits := strings.TrimPrefix(n, "-")
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return n[:strings.IndexAny(n, "0123456789")] + digits
}

// TestDresses: of every type an answer is the same in every dress, and a change of it in no dress,
// whichever is the first.
func TestDresses(t *testing.T) {
	same := one(func(s string) string { return s })
	quoted := one(strconv.Quote)
	whole := rapid.Map(rapid.IntRange(-1_000_000_000_000, 1_000_000_000_000), strconv.Itoa)
	cents := rapid.IntRange(-1_000_000, 1_000_000).Filter(func(n int) bool { return n != 0 })
	decimal := rapid.Map(cents, func(n int) string { return fmt.Sprintf("%.2f", float64(n)/100) })
	name := rapid.StringMatching(`[A-Z][a-zäé]{3,9}( [A-Z][a-zü]{3,9})?`)
	number := rapid.Map(rapid.IntRange(0, 5000), strconv.Itoa)
	for kind, c := range map[string]struct {
		part    func(i int) *rapid.Generator[string]
		least   int
		dresses []dress
	}{
		"whole": {func(int) *rapid.Generator[string] { return whole }, 1, []dress{same, one(grouped),
			one(func(s string) string { return s + ".0" }), one(func(s string) string { return strings.Replace(s, "-", "\u2212", 1) + "." }),
			one(func(s string) string { return "np.int64(" + s + ")" }), quoted, joined("[", ",", "]")}},
		"decimal": {func(int) *rapid.Generator[string] { return decimal }, 1, []dress{same, one(func(s string) string { return s + "0" }),
			one(func(s string) string { v, _ := strconv.ParseFloat(s, 64); return strconv.FormatFloat(v, 'f', -1, 64) }),
			one(func(s string) string { return s + "00000000001" }), quoted}},
		"percent": {func(int) *rapid.Generator[string] { return decimal }, 1, []dress{joined("", "", "%"), joined("", "", " %"),
			joined("", "", " percent"), joined("", "", " (%)")}},
		"name": {func(int) *rapid.Generator[string] { return name }, 1, []dress{same, quoted, one(strings.ToUpper), one(norm.NFD.String),
			joined(" ", "", ".\n"), one(func(s string) string { return strings.ReplaceAll(s, " ", "  ") })}},
		"names": {func(int) *rapid.Generator[string] { return name }, 3, []dress{joined("", ", ", ""), joined("", "; ", ""),
			joined("", "\n", "\n"), joined(`["`, `", "`, `"]`), joined("('", "', '", "')"), joined("[", ",", "]"),
			func(p []string) string { return strings.Join(p[:len(p)-1], ", ") + " and " + p[len(p)-1] }}},
		"numbers": {func(int) *rapid.Generator[string] { return decimal }, 2, []dress{joined("", ", ", ""), joined("", "\n", ""),
			joined("[", ", ", "]"), joined("(", ", ", ")"), joined("[np.float64(", "), np.float64(", ")]")}},
		"object": {func(int) *rapid.Generator[string] { return number }, 2, []dress{filled("", "#: ~", ", ", ""), filled("", "#=~", "\n", ""),
			filled("{", `"#": ~`, ", ", "}"), filled("{", "'#': ~.0", ",", "}"), filled("", "@#[~]", ", ", "")}},
		"table": {func(i int) *rapid.Generator[string] {
			if i%2 == 0 {
				return rapid.Map(name, func(s string) string { return s + " " + string(rune('A'+i)) })
			}
			return number
		}, 6, []dress{rows(false, "", ",", "", ""), rows(true, "", ",", "", ""), rows(false, "", "\t", "", ""), rows(true, "", "; ", "", ""),
			rows(true, "| ", " | ", " |", "\n|---|---|"), records}},
	} {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := c.least
				if n > 1 && n < 6 {
					n = rapid.IntRange(n, 6).Draw(t, "n")
				}
				parts := make([]string, n)
				for i := range parts {
					parts[i] = c.part(i).Draw(t, "part")
				}
				other := slices.Clone(parts)
				at := rapid.IntRange(0, n-1).Draw(t, "at")
				with, row := (at+2)%n, at/2*2
				switch change := rapid.SampledFrom([]string{"another", "exchanged", "less"}).Draw(t, "change"); {
				case n == 1 || change == "another":
					other[at] = c.part(at).Draw(t, "another")
				case change == "exchanged":
					other[at], other[with] = other[with], other[at]
				default:
					other = slices.Delete(other, row, min(row+2, n))
				}
				a, b := rapid.SampledFrom(c.dresses).Draw(t, "a"), rapid.SampledFrom(c.dresses).Draw(t, "b")
				compareBoth(t, a(parts), b(parts), true)
				if !slices.Equal(parts, other) && len(other) > 0 && (c.least < 6 || !sameRows(parts, other)) {
					compareBoth(t, a(parts), b(other), false)
				}
			})
		})
	}
}

// sameRows reports whether two tables have the same rows.
func sameRows(a, b []string) bool {
	sorted := func(parts []string) []string {
		all := slices.Collect(slices.Chunk(parts, 2))
		slices.SortFunc(all, slices.Compare)
		return slices.Concat(all...)
	}
	return slices.Equal(sorted(a), sorted(b))
}

func compareBoth(t *rapid.T, a, b string, same bool) {
	asked := Asked{Decimals: -1}
	got, back := Answers(Answer{Words: a}, Answer{Words: b}, asked), Answers(Answer{Words: b}, Answer{Words: a}, asked)
	if got.Sameness != back.Sameness || (got.Sameness == Same) != same {
		t.Errorf("%q and %q: %+v; the other way %+v", a, b, got, back)
	}
}
