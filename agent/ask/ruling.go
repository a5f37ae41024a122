package ask

import (
	"cmp"
	"errors"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

// A Ruling says why two derivations differ.
type Ruling struct {
	Ruling  string   `json:"ruling"` // see [record.RuledSame] and the others
	Reason  string   `json:"reason" jsonschema:"one or two sentences"`
	Wrong   int      `json:"wrong_step,omitempty" jsonschema:"of first: the number of the wrong step"` // 0: not said
	Point   string   `json:"reading,omitempty" jsonschema:"of reading: what the derivations take differently"`
	Options []string `json:"options" jsonschema:"of reading: how the first takes it, how the second does; else empty"`
}

var (
	errNoRuling  = errors.New("it gives no ruling")
	errRulings   = errors.New("it gives two rulings")
	errNoMistake = errors.New("it does not say what the mistake is")
	errNoOptions = errors.New("it does not say what is left open, with two different options")
)

// Rulings reads a ruling on two derivations. steps is the number of steps of the first.
func Rulings(steps int) Format[Ruling] {
	const rule = "Reply in the form asked for: one ruling, which is same, first, second, reading or " +
		"undecided, and the reason; with reading what is left open and the two options."
	return formatOf("ruling", "ruling", rule, func(r Ruling, f *said) (_ Ruling, err error) {
		rest := ""
		if r.Ruling, rest, err = f.ruling(); err != nil {
			return r, err
		}
		r.Reason, r.Wrong = cmp.Or(r.Reason, rest), 0
		point, options := r.Point, r.Options
		r.Point, r.Options = "", nil
		switch r.Ruling {
		case record.RuledFirst:
			r.Wrong, err = f.wrong(steps)
		case record.RuledSecond:
			if r.Reason == "" {
				err = errNoMistake
			}
		case record.RuledReading:
			r.Point, r.Options = point, options
			if r.Point == "" || len(r.Options) != 2 {
				err = errNoOptions
			}
		}
		return r, err
	})
}

const rulingWord = `same|first|second|reading|undecided`

var (
	rulingFirst = lazy.Regexp(`(?i)^\W*(?:the\s+)?(` + rulingWord + `)\b`)
	rulingMore  = lazy.Regexp(
		`(?i)^[\s*_]*(?:[,/|&]|\bor\b|\band\b)[\s*_]*(?:the\s+)?(?:` + rulingWord + `)\b`)
	rulingRight = lazy.Regexp(`(?i)^\W*(?:(?:derivation|answer|one|cell)\s+)?` +
		`(?:(?:is|was|seems|looks)\s+)?(?:right|correct|better)\b`)
)

// ruling returns the ruling and the rest of its line.
func (f *said) ruling() (ruling, rest string, err error) {
	said := f.text["ruling"]
	if said == "" {
		said, _, _ = strings.Cut(f.text[""], "\n")
	}
	m := rulingFirst().FindStringSubmatch(said)
	switch {
	case f.again["ruling"]:
		return "", "", errRulings
	case m == nil:
		return "", "", errNoRuling
	}
	ruling, rest = strings.ToLower(m[1]), said[len(m[0]):]
	isOne := ruling == record.RuledFirst || ruling == record.RuledSecond
	if rulingMore().MatchString(rest) || isOne && rulingRight().MatchString(rest) {
		return "", "", errRulings
	}
	return ruling, paragraph(strings.TrimLeft(rest, " .,:;-–—*_")), nil
}
