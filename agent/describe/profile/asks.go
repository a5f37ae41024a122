package profile

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dsstar/notebook/lazy"
)

var (
	// units are what stands in brackets after a name.
	units = lazy.Regexp(`\s*[(\[][^()\[\]]*[)\]]\s*$`)
	// small are words that any question has, and units.
	small = lazy.Regexp(`(?i)^(?:and|by|for|from|in|of|on|or|per|the|to|with|` +
		`[kmc]?m|[km]?g|lbs?|usd|eur|pct)$`)
	// humps are the places within a name such as grossRate where a word begins.
	humps = lazy.Regexp(`(\p{Ll})(\p{Lu})`)
)

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
// of, or by two of three. A word of one or two letters, which any sentence may have, has to be
// written alike.
func asks(question, column string) bool {
	if plain, err := strconv.Unquote(column); err == nil {
		column = plain
	}
	asked, found, all := wordsOf(question), 0, 0
	for _, w := range wordsOf(units().ReplaceAllString(column, "")) {
		if small().MatchString(w) {
			continue
		}
		all++
		if slices.ContainsFunc(asked, func(a string) bool {
			return a == w && a != strings.ToLower(a) || len(w) > 2 && stem(a) == stem(w)
		}) {
			found++
		}
	}
	return found > 0 && (found == all || found > 1 && 3*found >= 2*all)
}

// Fold writes a text in words without what the forms of a word differ in: see stem.
func Fold(text string) string {
	words := wordsOf(text)
	for n, w := range words {
		words[n] = stem(w)
	}
	return strings.Join(words, " ")
}

// stem is a word without what its forms differ in, roughly: case, a final s, and what follows the
// sixth letter. One with a digit is a number or a code: only its case goes.
func stem(word string) string {
	if word = strings.ToLower(word); strings.ContainsAny(word, "0123456789") {
		return word
	}
	letters := []rune(strings.TrimSuffix(word, "s"))
	if n := len(letters); n > 3 && letters[n-1] == 'y' {
		letters[n-1] = 'i' // country, countries
	}
	return string(letters[:min(len(letters), 6)])
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(humps().ReplaceAllString(text, "$1 $2"), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c)
	})
}
