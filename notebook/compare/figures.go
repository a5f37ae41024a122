package compare

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dsstar/notebook/lazy"
)

// Number returns the number that an answer is, perhaps with a unit.
func Number(answer string) (value float64, ok bool) {
	q := newAtom(cleaned(answer)).number
	if q == nil {
		return 0, false
	}
	value, _ = q.value.Float64()
	return value, true
}

// IsNone reports whether an answer, or each part of it, only says that there is none.
func IsNone(answer string) bool {
	isAnswer := func(a atom) bool { return !noAnswers[a.folded] }
	return !slices.ContainsFunc(parse(answer).values(), isAnswer)
}

// blanks are what programs print in place of a value.
var blanks = []string{"nan", "NaN", "None", "null", "NaT", "<NA>", "inf", "-inf", "Infinity"}

func notLetter(c rune) bool { return !unicode.IsLetter(c) }

// isBlank reports whether a value is none, perhaps with a label or unit.
func (a atom) isBlank() bool {
	isNaN := func(word string) bool { return word == "nan" || word == "NaN" }
	return slices.Contains(blanks, a.text) ||
		slices.ContainsFunc(strings.FieldsFunc(a.text, notLetter), isNaN)
}

// IsBlank reports whether each part of an answer is what programs print in place of a value.
func IsBlank(answer string) bool {
	values := parse(answer).values()
	return len(values) > 0 && !slices.ContainsFunc(values, func(a atom) bool { return !a.isBlank() })
}

// Lack returns what a table in text lacks, "a row of data" or "a value of" a column, or "".
func (f File) Lack() string {
	if !has(textTables, f.Name) || f.Text == "" {
		return ""
	}
	text := cleaned(f.Text)
	if !strings.Contains(text, "\n") && !strings.ContainsFunc(text, unicode.IsDigit) {
		return "a row of data"
	}
	t, _ := tableOf(text, 1)
	for i, name := range slices.Concat(t.items, []node{{}})[0].names {
		isFilled := func(n node) bool { return n.items[i].atom.text != "" && !n.items[i].atom.isBlank() }
		if name != "" && !slices.ContainsFunc(t.items, isFilled) {
			return "a value of " + name
		}
	}
	return ""
}

// maxFigures is the largest number of figures that a sentence is expected to repeat.
const maxFigures = 3

// Missing returns a figure of an answer that a sentence about it does not have, or "". The sentence
// may round it, to two digits at least, and say it in percent, thousands or millions. Nothing is
// said of answers that are more than a few figures with their labels, and of sentences without
// digits.
func Missing(answer, sentence string) string {
	var figures []atom
	sayable := strings.ContainsFunc(sentence, unicode.IsDigit)
	for _, a := range parse(answer).values() {
		if a.number != nil && !a.number.code {
			figures = append(figures, a)
		} else if strings.ContainsFunc(a.text, unicode.IsDigit) {
			sayable = false // a date, or a code, which can be said in other ways
		}
	}
	if !sayable || len(figures) > maxFigures {
		return ""
	}
	said := figuresIn(sentence)
	for _, f := range figures {
		says := func(q *quantity) bool {
			return f.number.isSaidBy(q) && (q.digits() > 1 || f.number.digits() < 2)
		}
		if !slices.ContainsFunc(said, says) {
			return f.text
		}
	}
	return ""
}

// Foreign returns a figure of a sentence that a source does not have, or "". The source may have
// more digits.
func Foreign(sentence, source string) string {
	had := figuresIn(source)
	for _, m := range figure().FindAllString(cleaned(sentence), -1) {
		q := quantityOf(m)
		stands := func(h *quantity) bool { return h.isSaidBy(q) && (q.whole || !h.whole) }
		if q != nil && !slices.ContainsFunc(had, stands) {
			return m
		}
	}
	return ""
}

var (
	figure = lazy.Regexp(`(?i)(\d[\d.,']*\d|\d)(e[-+]?\d+)?` +
		`(?: ?(thousand|k|million|mio|m|billion|mrd)\b)?`)
	scale  = lazy.Regexp(`(?i)\b(?:thousand|million|billion)`)
	spaced = lazy.Regexp(`(\d) (\d{3})\b`) // 1 234
	comma  = strings.NewReplacer(".", ",", ",", ".")
	powers = map[string]int{"thousand": 3, "k": 3, "million": 6, "mio": 6, "m": 6, "billion": 9,
		"mrd": 9}
	spelt = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")
)

// figuresIn returns the numbers of a sentence, also as those with a decimal comma.
func figuresIn(sentence string) (all []*quantity) {
	sentence = cleaned(sentence)
	joined := spaced().ReplaceAllString(sentence, "$1$2")
	for _, text := range []string{sentence, joined, comma.Replace(joined)} {
		for _, m := range figure().FindAllStringSubmatch(text, -1) {
			if q := quantityOf(m[1] + m[2]); q != nil {
				all = append(all, q.times(powers[strings.ToLower(m[3])]))
			}
		}
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(sentence), notLetter) {
		if n := slices.Index(spelt, word); n >= 0 {
			all = append(all, quantityOf(strconv.Itoa(n)))
		}
	}
	return all
}

// isSaidBy reports whether a number is said by another, without its sign: one of them is the other
// one, rounded. A share may be said in percent, and the other way round.
func (q *quantity) isSaidBy(other *quantity) bool {
	zeros := func(text string) int { return len(text) - len(strings.TrimRight(text, "0")) }
	for _, p := range []int{0, 2, -2} {
		x, size := q.times(p), new(big.Rat).Abs(q.value)
		if p == 2 && size.Cmp(big.NewRat(1, 1)) > 0 || p == -2 && q.unit != "%" {
			continue
		}
		size.Abs(x.value)
		away := new(big.Rat).Sub(size, other.value)
		away.Abs(away)
		round := other.decimals - zeros(other.value.FloatString(0))
		if isHalf(away, min(x.decimals, other.decimals)) || isHalf(away, round) &&
			away.Cmp(new(big.Rat).Mul(size, big.NewRat(1, 20))) <= 0 {
			return true
		}
	}
	return false
}
