package profile

import (
	"strings"
	"unicode"

	"dsstar/notebook/lazy"
)

// humps are the places within a name such as grossRate where a word begins.
var humps = lazy.Regexp(`(\p{Ll})(\p{Lu})`)

// Fold writes a text in words without what the forms of a word differ in: see stem.
func Fold(text string) string {
	words := strings.FieldsFunc(humps().ReplaceAllString(text, "$1 $2"), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c)
	})
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
