package profile

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dsstar/notebook/lazy"
)

// units are what stands in brackets after a name.
var units = lazy.Regexp(`\s*[(\[][^()\[\]]*[)\]]\s*$`)

// small are words that any question has, and units.
var small = lazy.Regexp(`(?i)^(?:and|by|for|from|in|of|on|or|per|the|to|with|` +
	`[kmc]?m|[km]?g|lbs?|usd|eur|pct)$`)

// named are the values of a column that a question names.
func (c Column) named(question string) (values []string) {
	text := " " + Fold(question) + " "
	for _, v := range c.Among {
		if folded := Fold(v); folded != "" && strings.Contains(text, " "+folded+" ") {
			values = append(values, v)
		}
	}
	return values
}

// asks reports whether a question names a column: by all words of its name, which a unit is no part
// of, or by two of three.
func asks(question, column string) bool {
	if plain, err := strconv.Unquote(column); err == nil {
		column = plain
	}
	asked, name := wordsOf(question), wordsOf(units().ReplaceAllString(column, ""))
	name = slices.DeleteFunc(name, func(w string) bool {
		return len(name) > 1 && small().MatchString(w)
	})
	found := 0
	for _, w := range name {
		if slices.ContainsFunc(asked, func(a string) bool { return sameWord(a, w) }) {
			found++
		}
	}
	return found > 0 && (found == len(name) || found > 1 && 3*found >= 2*len(name))
}

// humps are the places within a name such as grossRate where a word begins.
var humps = lazy.Regexp(`(\p{Ll})(\p{Lu})`)

// Fold writes a text in words that are alike where [Profile.Text] takes them for the same but for
// the s of a plural.
func Fold(text string) string {
	words := wordsOf(text)
	for n, w := range words {
		if words[n] = strings.ToLower(w); len(w) > 3 {
			words[n] = strings.TrimSuffix(words[n], "s")
		}
	}
	return strings.Join(words, " ")
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(humps().ReplaceAllString(text, "$1 $2"), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c)
	})
}

// sameWord reports whether two words are the same but for case and an ending such as the s of a
// plural. A word of one or two letters, which any sentence may have, has to be written alike.
func sameWord(a, b string) bool {
	const stem, ending = 4, 3
	if len(a) <= 2 || len(b) <= 2 {
		return a == b && a != strings.ToLower(a)
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || a+"s" == b ||
		len(a) >= stem && len(b)-len(a) <= ending && strings.HasPrefix(b, a)
}
