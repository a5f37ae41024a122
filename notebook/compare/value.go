package compare

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"dsstar/notebook/lazy"
)

// An atom is one value of an answer: a number, a date, or words.
type atom struct {
	text   string // with single spaces, without outer quotes and final point
	folded string // in lower case
	number *quantity
	date   string // in one form for all; "" if it is none
}

func newAtom(text string) atom {
	text = strings.Join(strings.Fields(text), " ")
	for len(text) > 1 && text[0] == text[len(text)-1] && strings.IndexByte("\"'`", text[0]) >= 0 {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	text = strings.TrimSuffix(text, ".")
	a := atom{text: text, folded: strings.ToLower(text)}
	if strings.ContainsAny(text, "0123456789") {
		a.number = quantityOf(text)
	}
	if a.number == nil {
		a.date = dateOf(text)
	}
	return a
}

func (a atom) isYear() bool {
	return a.number != nil && len(a.text) == 4 && "1900" <= a.text && a.text <= "2100"
}

// A quantity is a number with its unit.
type quantity struct {
	value    *big.Rat
	decimals int // below zero for a number such as 1e5
	whole    bool
	code     bool // a leading zero makes it a name
	unit     string
}

const unitForm = `(%|[$€£¥]|\pL[\pL /µ°^-]{0,20})`

var (
	quantityForm = lazy.Regexp(`^([$€£¥]?)([-+]?)([$€£¥]?) ?` +
		`((?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:'\d{3})+|\d+)?(?:\.\d*)?)([eE][-+]?\d{1,3})?` +
		` ?(?:` + unitForm + `|\(` + unitForm + `\))?$`)
	decimalComma = lazy.Regexp(`^[-+$€£¥]{0,2}(?:\d{1,3}(?:\.\d{3})+|\d+),\d+(?: ?` + unitForm + `)?$`)
	leadingZero  = lazy.Regexp(`^0\d`)
	symbol       = lazy.Regexp(`\d ?\pL{1,3}\b`) // of a unit
	capital      = lazy.Regexp(`\b[A-Z]\pL{3,}`)
	groupMarks   = strings.NewReplacer(",", "", "'", "")
	pointMarks   = strings.NewReplacer(".", "", ",", ".") // of 1.234,56
	units        = map[string]string{"percent": "%", "per cent": "%", "usd": "$", "dollars": "$",
		"eur": "€", "euro": "€", "euros": "€", "gbp": "£", "pounds": "£", "yen": "¥"}
)

// quantityOf returns the number that a text is, or nil.
func quantityOf(text string) *quantity {
	m := quantityForm().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	digits := groupMarks.Replace(m[4])
	value, ok := new(big.Rat).SetString(m[2] + digits + m[5])
	if !ok {
		return nil
	}
	_, fraction, point := strings.Cut(digits, ".")
	power, _ := strconv.Atoi(strings.TrimLeft(m[5], "eE"))
	unit := cmp.Or(m[6], m[7])
	return &quantity{value: value, decimals: len(fraction) - power, whole: !point && m[5] == "",
		code: leadingZero().MatchString(digits),
		unit: m[1] + m[3] + cmp.Or(units[strings.ToLower(unit)], unit)}
}

var (
	dateForms = []string{"2006-1-2", "2006/1/2", "2006-1-2 15:04", "2006-1-2 15:04:05",
		"2006-1-2T15:04:05", "January 2 2006", "Jan 2 2006", "2 January 2006", "2 Jan 2006"}
	zonedForms = []string{"2006-1-2T15:04:05Z07:00", "2006-1-2 15:04:05Z07:00"}
	year       = lazy.Regexp(`\b\d{4}\b`)
)

// dateOf returns a date in one form, which ends with Z if the text names a time zone; "" if the
// text is none, or can be mistaken.
func dateOf(text string) string {
	if len(text) < 8 || len(text) > 35 || !year().MatchString(text) {
		return ""
	}
	text = strings.Replace(text, ", ", " ", 1)
	for _, form := range slices.Concat(dateForms, zonedForms) {
		t, err := time.Parse(form, text)
		switch date := t.UTC().Format(time.RFC3339Nano); {
		case err != nil:
		case slices.Contains(zonedForms, form):
			return date
		default:
			return strings.TrimSuffix(date, "Z")
		}
	}
	return ""
}

var (
	truths    = map[string]string{"yes": "yes", "true": "yes", "no": "no", "false": "no"}
	noAnswers = map[string]bool{"not applicable": true, "n/a": true, "na": true, "no data": true,
		"no answer": true, "none": true, "null": true, "nan": true, "not available": true,
		"unknown": true, "cannot be determined": true}
)

func exactly(same bool) Sameness {
	if same {
		return Same
	}
	return Different
}

// short clips a text.
func short(text string) string {
	const most = 60
	if chars := []rune(text); len(chars) > most {
		return string(chars[:most]) + "…"
	}
	return cmp.Or(text, "nothing")
}

func (c comparison) atoms(x, y atom) Finding {
	sameness, why := c.values(x, y)
	if sameness == Same {
		return Finding{}
	}
	found := Finding{sameness, short(x.text) + " / " + short(y.text)}
	if why != "" {
		return found.under(why)
	}
	return found
}

// values compares two values, and says why they are perhaps the same.
func (c comparison) values(x, y atom) (Sameness, string) {
	if x.text == y.text {
		return Same, ""
	}
	x.number, y.number = beside(x, y), beside(y, x)
	isCode := func() bool { // or has units
		return strings.ContainsFunc(x.text, unicode.IsDigit) && !strings.Contains(x.text, " ") ||
			!slices.Equal(symbol().FindAllString(x.text, -1), symbol().FindAllString(y.text, -1))
	}
	switch {
	case x.number != nil && y.number != nil:
		return c.quantities(x.number, y.number)
	case x.folded == y.folded && !isCode():
		return Same, ""
	case x.text == "" || y.text == "":
		return Different, ""
	case x.date != "" && y.date != "":
		return dates(x.date, y.date)
	case truths[x.folded] != "" && truths[y.folded] != "":
		return exactly(truths[x.folded] == truths[y.folded]), ""
	case c.asked.None && noAnswers[x.folded] && noAnswers[y.folded]:
		return Same, ""
	case x.folded == y.folded:
		return Unsure, "a code in other letter case"
	case c.common[x.folded] && c.common[y.folded]:
		return Different, ""
	}
	return c.texts(x.folded, y.folded), ""
}

// dates compares dates. A day is its midnight, in any time zone.
func dates(x, y string) (Sameness, string) {
	a, zoned := strings.CutSuffix(x, "Z")
	b, other := strings.CutSuffix(y, "Z")
	if isDay := a == b && strings.HasSuffix(a, "T00:00:00"); zoned != other && !isDay {
		return Unsure, "a time zone on one side"
	}
	return exactly(a == b), ""
}

// beside returns x's number; beside one with a decimal point its comma is one, too, and its points
// are none.
func beside(x, y atom) *quantity {
	hasPoint := y.number != nil && strings.Contains(y.text, ".")
	if x.number == nil && hasPoint && decimalComma().MatchString(x.text) {
		return quantityOf(pointMarks.Replace(x.text))
	}
	return x.number
}

// numberIn matches a number in a text, and the mark before it.
var numberIn = lazy.Regexp(`(^|[\s("'=<>~≈])([-+]?[$€£¥]?\d(?:[\d,.']*\d)?%?)`)

// texts compares texts: their words must be the same, and their numbers as numbers are.
func (c comparison) texts(x, y string) (worst Sameness) {
	v, w := numberIn().FindAllStringSubmatch(x, -1), numberIn().FindAllStringSubmatch(y, -1)
	if numberIn().ReplaceAllString(x, "$1#") != numberIn().ReplaceAllString(y, "$1#") {
		return Unsure
	}
	for i := range v {
		p, q := quantityOf(v[i][2]), quantityOf(w[i][2])
		if p == nil || q == nil {
			return Unsure
		}
		sameness, _ := c.quantities(p, q)
		worst = max(worst, sameness)
	}
	return worst
}

// quantities compares numbers with their units.
func (c comparison) quantities(x, y *quantity) (Sameness, string) {
	sameness, why := c.numbers(x, y)
	if y.unit == "%" {
		x, y = y, x
	}
	switch {
	case uncapital(x.unit) == uncapital(y.unit):
		return sameness, why
	case x.unit == "%" && y.unit == "":
		if sameness == Same {
			return Unsure, "percent on one side"
		}
		share := *y
		share.value = new(big.Rat).Mul(y.value, big.NewRat(100, 1))
		share.decimals, share.whole = y.decimals-2, false
		if s, _ := c.numbers(x, &share); s == Same {
			return Unsure, "percent on one side, and a factor of 100"
		}
		return sameness, why
	case x.unit != "" && y.unit != "":
		return Unsure, "other units"
	case strings.Contains("$€£¥", x.unit+y.unit), c.isCounted(x.unit + y.unit):
		return sameness, why
	}
	return Unsure, "a unit on one side"
}

// uncapital returns a unit without the capitals of its words. Those of symbols, mW and MW, count.
func uncapital(unit string) string {
	return capital().ReplaceAllStringFunc(unit, func(word string) string {
		return strings.ToLower(word[:1]) + word[1:]
	})
}

// isCounted reports whether question or form ask how many of something there are.
func (c comparison) isCounted(what string) bool {
	for _, m := range howMany().FindAllStringSubmatch(c.asked.Words, -1) {
		if strings.EqualFold(m[1], what) {
			return true
		}
	}
	return false
}

// howMany matches what is counted.
var howMany = lazy.Regexp(`(?i)\b(?:how many|number of|wie ?viele|anzahl der|combien d[e'’]|` +
	`cu[aá]nt[ao]s) ?(\pL+)`)

// numbers compares numbers without their units.
func (c comparison) numbers(x, y *quantity) (Sameness, string) {
	apart, larger := new(big.Rat).Sub(x.value, y.value), new(big.Rat).Abs(x.value)
	apart.Abs(apart)
	if other := new(big.Rat).Abs(y.value); other.Cmp(larger) > 0 {
		larger = other
	}
	within := func(part, of int64) bool {
		return apart.Cmp(new(big.Rat).Mul(larger, big.NewRat(part, of))) <= 0
	}
	shorter, longer, places := x, y, c.asked.Decimals
	if y.decimals < x.decimals {
		shorter, longer = y, x
	}
	isNoise := func() bool { // also if both are printed in full
		return isHalf(apart, max(places, shorter.decimals)) ||
			shorter.decimals > places && larger.Cmp(tenth(shorter.decimals-14)) >= 0
	}
	switch {
	case (x.code || y.code) && apart.Sign() == 0:
		return Unsure, "a leading zero"
	case x.code || y.code || x.whole && y.whole:
		return exactly(apart.Sign() == 0), ""
	case within(1, 1e12) && isNoise():
		return Same, ""
	case within(1, 1e12):
		return Unsure, "the last digits"
	case places >= 0 && shorter.decimals > places:
		return exactly(x.value.FloatString(places) == y.value.FloatString(places)), ""
	case places >= 0:
		return exactly(longer.decimals > places && isHalf(apart, places)), ""
	case !isHalf(apart, shorter.decimals) || apart.Cmp(larger) >= 0: // the shorter one is zero
		return Different, ""
	case shorter.decimals > 0 && within(5, 1000):
		return Same, ""
	}
	return Unsure, "one is rounded further"
}

// isHalf reports whether a difference is at most half a unit of a decimal, and what floats add.
func isHalf(apart *big.Rat, decimal int) bool {
	return apart.Cmp(new(big.Rat).Mul(tenth(decimal), big.NewRat(500_000_001, 1e9))) <= 0
}

// tenth returns a unit of a decimal.
func tenth(decimal int) *big.Rat {
	unit, _ := new(big.Rat).SetString(fmt.Sprintf("1e%d", -decimal))
	return unit
}
