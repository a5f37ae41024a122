package reply

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

// A Solution is the next step and its cell; that of a first step has readings, too.
type Solution struct {
	Step, Code string
	Readings   []record.Reading
}

// A Ruling says why two derivations differ.
type Ruling struct {
	Ruling  string // see [record.RuledSame] and the others
	Reason  string
	Wrong   int    // of first: number of the wrong step; 0: not said
	Point   string // of reading
	Options []string
}

var (
	errNoStep     = errors.New("it gives no step")
	errNoBranch   = errors.New("it has no branch that was asked for, with its code")
	errSameBranch = errors.New("it gives two cells for one branch")
	errNoRuling   = errors.New("it gives no ruling")
	errRulings    = errors.New("it gives two rulings")
	errNoMistake  = errors.New("it does not say what the mistake is")
	errNoOptions  = errors.New("it does not say what is left open, with two different options")
	errNoVerdict  = errors.New("it gives no verdict")
	errVerdict    = errors.New("its verdict is not one of those asked for")
	errTwo        = errors.New("it gives two verdicts")
	errIf         = errors.New("it makes a condition")
	errNoReason   = errors.New("a reason is needed with `Verdict: inconclusive`")
	errChoices    = errors.New("it makes more than one choice")
)

// The labels of fields, as models write them.
const (
	codeWords   = `(?:(?:last|corrected|python)\s+)?(?:code|cell|python)`
	optionWords = `options?`
	takenWords  = `taken|chosen|choice|takes|selected`
	pointWords  = `readings?|(?:open\s+)?points?|ambiguity`
	wrongWords  = `(?:wrong|incorrect|faulty|mistaken)\s+step|wrong`
	reasonWords = `reason|explanation|mistake`
)

var solutionFields = newVocabulary("reading", "options taken evidence settled",
	"step", `steps?`, "code", codeWords, "options", optionWords, "reading", pointWords,
	"taken", takenWords, "evidence", `evidence`, "settled", `settled`)

// Solutions reads a step and its cell, and the readings if they are asked for.
func Solutions(readings bool) Format[Solution] {
	f := Format[Solution]{
		Rule:   "Reply in the form asked for: the step in words, and its cell as one block of Python.",
		Parse:  by(solutionFields, solutionIn),
		Form:   form("solution"),
		Schema: schema("solution", "solution"),
	}
	if readings {
		f.Rule += readingRule
		f.Form, f.Schema = form("readings"), schema("readings", "solution")
	}
	return f
}

const readingRule = " Of each reading it says what is left open, two different options or more, and the " +
	"number of the one that the cells take."

func solutionIn(f *fields) (s Solution, err error) {
	s.Step = f.step()
	s.Code, err = f.code()
	switch {
	case err != nil:
		return s, err
	case s.Step == "":
		return s, errNoStep
	case refuses(s.Step):
		return s, errRefusal
	}
	s.Readings, err = f.readings()
	return s, err
}

// readings returns the readings. That one cannot be read is a [*PartError].
func (f *fields) readings() (all []record.Reading, err error) {
	for _, part := range f.parts {
		if len(part.items) == 0 && noReading().MatchString(part.text["reading"]) {
			continue
		}
		r := part.reading()
		if r.Problem != "" {
			err = &PartError{fmt.Errorf("of the reading %q, %s", r.Point, r.Problem)}
		}
		all = append(all, r)
	}
	return all, err
}

// noReading matches what stands for a reading where there is none.
var noReading = lazy.Regexp(`(?i)^\W*(?:n/a\b|null\b|(?:there\s+(?:is|are)\s+)?(?:no|none|nothing)\b|$)`)

var words = lazy.Regexp(`\pL+[^\pL]+\pL+`)

// step returns the step in one line; without a label, what stands before the code.
func (f *fields) step() string {
	text, labelled := f.text["step"]
	if !labelled {
		text, _, _ = strings.Cut(withoutIntro(f.lead), "\n\n")
		if !words().MatchString(text) {
			return ""
		}
	}
	if text = bareStep(text); isNothing(text) {
		return ""
	}
	return brief.Clip(text, 2000)
}

var isYes = lazy.Regexp(`(?i)^\W*(?:yes|true|settled)\b`)

// reading returns the reading of a part. If that cannot be read, it has a problem and no options.
func (f *fields) reading() record.Reading {
	point, options := f.line("reading"), f.options()
	taken := f.taken(options)
	switch {
	case point == "":
		point = brief.OneLine(strings.Join(f.items, " / "))
		return record.Reading{Point: point, Problem: "it is not said what is left open"}
	case len(options) < 2:
		return record.Reading{Point: point, Problem: "there are no two different options"}
	case taken < 0:
		return record.Reading{Point: point, Problem: "it is not said which option is taken"}
	}
	r := record.Reading{Point: point, Chosen: taken, Evidence: f.line("evidence")}
	for _, text := range options {
		r.Options = append(r.Options, record.Option{Text: text})
	}
	r.Settled = r.Evidence != "" && isYes().MatchString(f.text["settled"])
	return r
}

// options returns the options that are not empty; nil if two are the same, or there are too many.
func (f *fields) options() (all []string) {
	if len(f.items) > 20 {
		return nil
	}
	for _, text := range f.items {
		text = bareStep(text)
		if slices.ContainsFunc(all, func(o string) bool { return sameWords(o, text) }) {
			return nil
		}
		if !isNothing(text) {
			all = append(all, brief.Clip(text, 600))
		}
	}
	return all
}

// sameWords reports whether two options differ in case, spaces and marks around words at most.
func sameWords(a, b string) bool {
	bare := func(word string) string { return strings.Trim(word, "\"'“”‘’`*_()[].,;:!?") }
	word := func(text string) []string {
		return slices.DeleteFunc(strings.Fields(text), func(w string) bool { return bare(w) == "" })
	}
	return slices.EqualFunc(word(a), word(b), func(a, b string) bool {
		return strings.EqualFold(bare(a), bare(b))
	})
}

var letterIn = lazy.Regexp(`(?i)^\W*(?:option\s+)?([a-d])\b`)

// taken returns the index of the option that is taken; -1 if it is not said.
func (f *fields) taken(options []string) int {
	said := f.line("taken")
	if i := slices.IndexFunc(options, func(text string) bool {
		return sameWords(said, text)
	}); i >= 0 {
		return i
	}
	n := 0
	if m := letterIn().FindStringSubmatch(said); m != nil {
		n = int(m[1][0]|0x20-'a') + 1
	} else if all := f.numbers("taken"); len(all) > 0 {
		n = all[0]
	}
	if f.again["taken"] || n > len(options) {
		return -1
	}
	return n - 1
}

const rulingWord = `same|first|second|reading|undecided`

var rulingFields = newVocabulary("", "", "wrong", wrongWords, "ruling", `ruling|decision|verdict`,
	"reason", reasonWords+`|problem`, "options", optionWords, "reading", pointWords)

// Rulings reads a ruling on two derivations. steps is the number of steps of the first.
func Rulings(steps int) Format[Ruling] {
	return Format[Ruling]{
		Rule: "Reply in the form asked for: one ruling, which is same, first, second, reading or " +
			"undecided, and the reason; with reading what is left open and the two options.",
		Parse:  by(rulingFields, func(f *fields) (Ruling, error) { return f.ruled(steps) }),
		Form:   form("ruling"),
		Schema: schema("ruling", "ruling"),
	}
}

var (
	rulingFirst = lazy.Regexp(`(?i)^\W*(?:the\s+)?(` + rulingWord + `)\b`)
	rulingMore  = lazy.Regexp(
		`(?i)^[\s*_]*(?:[,/|&]|\bor\b|\band\b)[\s*_]*(?:the\s+)?(?:` + rulingWord + `)\b`)
	rulingRight = lazy.Regexp(`(?i)^\W*(?:(?:derivation|answer|one|cell)\s+)?` +
		`(?:(?:is|was|seems|looks)\s+)?(?:right|correct|better)\b`)
)

// ruling returns the ruling and the rest of its line.
func (f *fields) ruling() (ruling, rest string, err error) {
	said := f.text["ruling"]
	if said == "" {
		said, _, _ = strings.Cut(strings.TrimSpace(f.talk.String()), "\n")
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

func (f *fields) ruled(steps int) (r Ruling, err error) {
	rest := ""
	if r.Ruling, rest, err = f.ruling(); err != nil {
		return r, err
	}
	r.Reason = cmp.Or(f.line("reason"), rest)
	switch r.Ruling {
	case record.RuledFirst:
		r.Wrong, err = f.wrong(steps)
	case record.RuledSecond:
		if r.Reason == "" {
			err = errNoMistake
		}
	case record.RuledReading:
		r.Point, r.Options = f.line("reading"), f.options()
		if r.Point == "" || len(r.Options) != 2 {
			err = errNoOptions
		}
	}
	return r, err
}
