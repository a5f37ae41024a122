package compare

import (
	"cmp"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

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
	a := atom{text: text, folded: strings.ToLower(text), number: quantityOf(text)}
	if a.number == nil {
		a.date = dateOf(text)
	}
	return a
}

func (a atom) isValue() bool { return a.number != nil || a.date != "" }

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
	leadingZero = lazy.Regexp(`^0\d`)
	groupMarks  = strings.NewReplacer(",", "", "'", "")
	units       = map[string]string{"percent": "%", "per cent": "%", "usd": "$", "dollars": "$",
		"eur": "€", "euro": "€", "euros": "€", "gbp": "£", "pounds": "£", "yen": "¥"}
)

// quantityOf returns the number that a text is, or nil.
func quantityOf(text string) *quantity {
	if !strings.ContainsAny(text, "0123456789") {
		return nil
	}
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

// times returns a number with its point moved by some places.
func (q quantity) times(power int) *quantity {
	q.value, q.decimals = new(big.Rat).Mul(q.value, tenth(-power)), q.decimals-power
	return &q
}

func (q *quantity) digits() int {
	n := new(big.Rat).Mul(q.value, tenth(-max(0, q.decimals))).FloatString(0)
	if q.decimals <= 0 {
		n = strings.TrimRight(n, "0")
	}
	return len(strings.TrimLeft(n, "-0"))
}

var dateForms = []string{"2006-1-2", "2006/1/2", "2006-1-2 15:04", "2006-1-2 15:04:05",
	"2006-1-2T15:04:05", "January 2 2006", "Jan 2 2006", "2 January 2006", "2 Jan 2006"}

// dateOf returns a date in one form; "" if the text is none, or can be mistaken.
func dateOf(text string) string {
	for _, form := range dateForms {
		if t, err := time.Parse(form, strings.Replace(text, ", ", " ", 1)); err == nil {
			return t.Format(time.RFC3339Nano)
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

func short(text string) string {
	const most = 60
	if chars := []rune(text); len(chars) > most {
		return string(chars[:most]) + "…"
	}
	return cmp.Or(text, "nothing")
}

func (asked Asked) atoms(x, y atom) Finding {
	sameness, why := asked.values(x, y)
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
func (asked Asked) values(x, y atom) (Sameness, string) {
	switch {
	case x.text == y.text:
		return Same, ""
	case x.number != nil && y.number != nil:
		return asked.quantities(x.number, y.number)
	case x.text == "" || y.text == "":
		return Different, ""
	case x.date != "" && y.date != "":
		return exactly(x.date == y.date), ""
	case truths[x.folded] != "" && truths[y.folded] != "":
		return exactly(truths[x.folded] == truths[y.folded]), ""
	case asked.None && noAnswers[x.folded] && noAnswers[y.folded]:
		return Same, ""
	case x.folded == y.folded && !strings.ContainsAny(x.text, "0123456789"):
		return Same, ""
	case x.folded == y.folded:
		return Unsure, "a code or unit in other letter case"
	}
	return asked.texts(strings.Fields(x.text), strings.Fields(y.text)), ""
}

// texts compares texts: their words must be the same, and their numbers as numbers are.
func (asked Asked) texts(x, y []string) (worst Sameness) {
	if len(x) != len(y) {
		return Unsure
	}
	for i := range x {
		p, q := quantityOf(x[i]), quantityOf(y[i])
		switch {
		case x[i] == y[i]:
		case p == nil || q == nil:
			return Unsure
		default:
			sameness, _ := asked.quantities(p, q)
			worst = max(worst, sameness)
		}
	}
	return worst
}

// quantities compares numbers with their units.
func (asked Asked) quantities(x, y *quantity) (Sameness, string) {
	switch {
	case x.unit == y.unit, x.unit == "" && strings.Contains("$€£¥", y.unit),
		y.unit == "" && strings.Contains("$€£¥", x.unit):
		return asked.numbers(x, y)
	case x.unit != "" && y.unit != "":
		return Unsure, "other units"
	case x.unit+y.unit == "%":
		return Unsure, "percent on one side, perhaps a factor of 100"
	}
	return Unsure, "a unit on one side"
}

// numbers compares numbers without their units.
func (asked Asked) numbers(x, y *quantity) (Sameness, string) {
	apart, larger := new(big.Rat).Sub(x.value, y.value), new(big.Rat).Abs(x.value)
	apart.Abs(apart)
	if other := new(big.Rat).Abs(y.value); other.Cmp(larger) > 0 {
		larger = other
	}
	within := func(part, of int64) bool {
		return apart.Cmp(new(big.Rat).Mul(larger, big.NewRat(part, of))) <= 0
	}
	shorter, longer, places := x, y, asked.Decimals
	if y.decimals < x.decimals {
		shorter, longer = y, x
	}
	switch {
	case (x.code || y.code) && apart.Sign() == 0:
		return Unsure, "a leading zero"
	case x.code || y.code || x.whole && y.whole:
		return exactly(apart.Sign() == 0), ""
	case within(1, 1e12) && (shorter.digits() >= 15 || isHalf(apart, max(places, shorter.decimals))):
		return Same, "" // what floats add
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
