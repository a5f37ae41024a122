package reply

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// A Judgement is a verdict with what follows from it.
type Judgement struct {
	record.Verdict
	Wrong int    // number of the step that is wrong; 0: none
	Code  string // the last cell, if the verdict is sufficient or inconclusive
}

// A Branch is the cell that takes another option of a reading.
type Branch struct {
	Point, Option int // from 1, as numbered in the request
	Steps         int // accepted steps that are kept
	Code          string
}

// A Ruling says why two derivations differ.
type Ruling struct {
	Ruling  string // see [record.RuledSame] and the others
	Reason  string
	Wrong   int    // of first: number of the wrong step; 0: not said
	Code    string // of second: its corrected cell
	Point   string // of reading
	Options []string
}

var (
	errNoStep     = errors.New("it gives no step")
	errNoBranch   = errors.New("it has no branch that was asked for, with its code")
	errSameBranch = errors.New("it gives two cells for one branch")
	errNoRuling   = errors.New("it gives no ruling")
	errRulings    = errors.New("it gives two rulings")
	errNoOptions  = errors.New("it does not say what is left open, with two different options")
)

const (
	numberWord  = `\d|none\b|no\b|null\b|` + numeral
	yesWord     = `yes\b|true\b|settled\b|no\b|false\b|not\b`
	rulingWord  = `same|first|second|reading|undecided`
	codeWords   = `(?:(?:last|corrected|python)\s+)?(?:code|cell)`
	optionWords = `options?|readings?\s+options?`
	pointWords  = `readings?|(?:open\s+)?points?|ambiguity`
	wrongWords  = `(?:wrong|incorrect|faulty|mistaken)\s+step|step\s+that\s+is\s+wrong|wrong`
)

var codeLabel = label{name: "code", words: codeWords}

var solutionLabels = newLabels(
	label{name: "step", words: `steps?`},
	codeLabel,
	label{name: "options", words: optionWords, part: true, item: true},
	label{name: "reading", words: pointWords, opens: true},
	label{name: "taken", words: `taken|chosen|choice|takes|selected`, part: true,
		value: `\d|[a-d]\b`},
	label{name: "evidence", words: `evidence`, part: true},
	label{name: "settled", words: `(?:is\s+)?settled`, part: true, value: yesWord},
)

// Solutions reads a step and its cell, and the readings if they are asked for.
func Solutions(readings bool) Format[Solution] {
	f := Format[Solution]{
		Rule:   "Reply in the form asked for: the step in words, and its cell as one block of Python.",
		Parse:  solutionIn,
		Form:   solutionForm,
		Schema: solutionSchema,
	}
	if readings {
		f.Form, f.Schema = firstSolutionForm, firstSolutionSchema
	}
	return f
}

func solutionIn(text string) (Solution, error) {
	f, err := solutionLabels.read(text)
	if err != nil {
		return Solution{}, err
	}
	code, err := f.code()
	s := Solution{Step: f.step(), Code: code}
	switch {
	case err != nil:
		return Solution{}, err
	case code == "":
		return Solution{}, errNoCode
	case s.Step == "":
		return Solution{}, errNoStep
	case refuses(s.Step):
		return Solution{}, errRefusal
	}
	for _, part := range f.parts {
		if r, ok := part.reading(); ok {
			s.Readings = append(s.Readings, r)
		}
	}
	return s, nil
}

var words = lazy.Regexp(`\pL+[^\pL]+\pL+`)

// step returns the step in one line; without a label, what stands before the code.
func (f *fields) step() string {
	text, labelled := f.text["step"]
	if !labelled {
		text = stepQuote().ReplaceAllString(f.lead, "")
		text = stepIntro().ReplaceAllString(strings.TrimSpace(text)+"\n", "")
		if text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n"); len(text) > 600 {
			return ""
		}
	}
	step := bareStep(text)
	if !labelled && !words().MatchString(step) || isNothing(step) {
		return ""
	}
	return brief.Clip(step, 2000)
}

var isYes = lazy.Regexp(`(?i)^\W*(?:it\s+is\s+)?(?:yes|true|settled)\b`)

// reading returns the reading of a part. ok is false if it cannot be read.
func (f *fields) reading() (r record.Reading, ok bool) {
	r.Point, r.Evidence = f.line("reading"), f.line("evidence")
	options := f.options()
	for _, text := range options {
		r.Options = append(r.Options, record.Option{Text: text})
	}
	r.Chosen = f.taken(options)
	r.Settled = r.Evidence != "" && isYes().MatchString(f.text["settled"])
	return r, r.Point != "" && len(options) > 1 && r.Chosen >= 0
}

// options returns the options that are not empty; nil if two are the same, or there are too many.
func (f *fields) options() (all []string) {
	if len(f.items) > 20 {
		return nil
	}
	for _, text := range f.items {
		text = bareStep(text)
		if slices.ContainsFunc(all, func(o string) bool { return strings.EqualFold(o, text) }) {
			return nil
		}
		if !isNothing(text) {
			all = append(all, brief.Clip(text, 600))
		}
	}
	return all
}

var letterIn = lazy.Regexp(`(?i)^\W*(?:option\s+)?([a-d])\b`)

// taken returns the index of the option that is taken; -1 if it is not said.
func (f *fields) taken(options []string) int {
	said := oneParagraph(f.text["taken"])
	for i, text := range options {
		if strings.EqualFold(strings.Trim(said, `"'.`), strings.Trim(text, `"'.`)) {
			return i
		}
	}
	n := 0
	if m := letterIn().FindStringSubmatch(said); m != nil {
		n = int(m[1][0]|0x20-'a') + 1
	} else if all := f.numbers("taken"); len(all) > 0 {
		n = all[0]
	}
	if f.again["taken"] || n > len(options) {
		n = 0
	}
	return n - 1
}

var judgementLabels = newLabels(
	label{name: "wrong", words: wrongWords, value: numberWord},
	label{name: "verdict", words: `verdict`, talk: true,
		value: `(?:not\s+)?(?:in)?sufficient|unfinished|inconclusive|$`},
	label{name: "reason", words: `reason|missing|problem`, talk: true},
	codeLabel,
)

// Judgements reads the judgement of a plan with that many steps.
func Judgements(steps int) Format[Judgement] {
	return Format[Judgement]{
		Rule: "Reply in the form asked for: one verdict, which is sufficient, unfinished, " +
			"insufficient or inconclusive, and the reason; with sufficient or inconclusive the last " +
			"cell; else the number of the wrong step, if one is.",
		Parse:  func(text string) (Judgement, error) { return judgementIn(text, steps) },
		Form:   judgementForm,
		Schema: judgementSchema,
	}
}

func judgementIn(text string, steps int) (Judgement, error) {
	f, err := judgementLabels.read(text)
	switch {
	case err != nil:
		return Judgement{}, err
	case f.talk.Len() > longestTalk:
		return Judgement{}, errLong
	}
	j := Judgement{}
	if j.Verdict, err = verdictIn(f.talk.String()); err != nil {
		return Judgement{}, err
	}
	if j.Wrong, err = f.wrong(steps); err != nil {
		return Judgement{}, err
	}
	if _, said := f.text["wrong"]; !said && !j.Sufficient && !j.Unfinished {
		j.Wrong = onlyFault(f.talk.String(), steps)
	}
	switch {
	case j.Sufficient && j.Wrong > 0:
		return Judgement{}, errTwo
	case j.Sufficient:
		if j.Code, err = f.code(); err == nil && j.Code == "" {
			err = errNoCode
		}
		if err != nil {
			return Judgement{}, err
		}
	case j.Wrong > 0:
		j.Unfinished = false
	}
	return j, nil
}

// wrong returns the number of the step that is wrong; 0 if none is.
func (f *fields) wrong(steps int) (int, error) {
	all := slices.DeleteFunc(f.numbers("wrong"), func(n int) bool { return n == 0 })
	switch {
	case f.again["wrong"]:
		return 0, errChoices
	case len(all) == 0:
		return 0, nil
	case all[0] > steps:
		return 0, fmt.Errorf("it names step %d, and the plan has %d (%s)", all[0], steps, span(steps))
	}
	return all[0], nil
}

// onlyFault returns the one step that a text calls wrong; 0 if there is none or more.
func onlyFault(text string, steps int) (wrong int) {
	for number := range faults(text) {
		n, err := strconv.Atoi(number)
		if err != nil || wrong > 0 || n > steps {
			return 0
		}
		wrong = n
	}
	return wrong
}

var branchLabels = newLabels(
	label{name: "reading", words: `branch(?:es)?|readings?|points?`, opens: true, value: `\d`},
	label{name: "option", words: `option`, part: true, value: `\d`},
	label{name: "keeps", words: `keeps?|kept|steps`, part: true, value: numberWord},
	label{name: "code", words: codeWords, part: true},
)

// Branches reads the cells of branches, of which Point and Option say what is asked for. Cells that
// cannot be read are left out, as long as there is one.
func Branches(asked []Branch, steps int) Format[[]Branch] {
	return Format[[]Branch]{
		Rule: "Reply in the form asked for: for each branch its number, how many steps it keeps (0 to " +
			strconv.Itoa(steps) + "), and its cell.",
		Parse:  func(text string) ([]Branch, error) { return branchesIn(text, asked, steps) },
		Form:   branchesForm,
		Schema: branchesSchema,
	}
}

func branchesIn(text string, asked []Branch, steps int) (all []Branch, err error) {
	f, err := branchLabels.read(text)
	if err != nil {
		return nil, err
	}
	problem := errNoBranch
	if len(f.parts) == 0 && len(asked) == 1 {
		f.parts = []*fields{f} // one branch needs no name
	}
	for _, part := range f.parts {
		b := part.branch()
		if len(asked) == 1 && b.Point == 0 {
			b.Point, b.Option = asked[0].Point, asked[0].Option
		}
		same := func(other Branch) bool { return b.Point == other.Point && b.Option == other.Option }
		code, err := part.code()
		switch {
		case err != nil:
			problem = err
		case code == "" || b.Steps < 0 || b.Steps > steps || !slices.ContainsFunc(asked, same):
		case slices.ContainsFunc(all, same):
			return nil, errSameBranch
		default:
			b.Code = code
			all = append(all, b)
		}
	}
	if len(all) == 0 {
		return nil, problem
	}
	return all, nil
}

// branch returns the numbers of a part: Point is 0 if it has none, Steps is -1 if it does not say.
func (f *fields) branch() Branch {
	b := Branch{Steps: -1}
	numbers := append(f.numbers("reading"), f.numbers("option")...)
	if len(numbers) > 1 {
		b.Point, b.Option = numbers[0], numbers[1]
	}
	if all := f.numbers("keeps"); len(all) > 0 {
		b.Steps = slices.Max(all)
	} else if said := f.text["keeps"]; said != "" && f.line("keeps") == "" {
		b.Steps = 0
	}
	return b
}

var rulingLabels = newLabels(
	label{name: "wrong", words: wrongWords, value: numberWord},
	label{name: "ruling", words: `ruling|decision|verdict`, value: rulingWord},
	label{name: "reason", words: `reason|explanation|problem|mistake`},
	codeLabel,
	label{name: "options", words: optionWords, item: true},
	label{name: "reading", words: pointWords},
)

// Rulings reads a ruling on two derivations, of which the first has that many steps.
func Rulings(steps int) Format[Ruling] {
	return Format[Ruling]{
		Rule: "Reply in the form asked for: one ruling, which is same, first, second, reading or " +
			"undecided, and the reason; with second its whole corrected cell; with reading what is left " +
			"open and the two options.",
		Parse:  func(text string) (Ruling, error) { return rulingIn(text, steps) },
		Form:   rulingForm,
		Schema: rulingSchema,
	}
}

var (
	rulingFirst = lazy.Regexp(`(?i)^\W*(?:the\s+)?(` + rulingWord + `)\b`)
	rulingAlone = lazy.Regexp(`(?im)^` + marks + `(` + rulingWord + ")[\\s*_`.!]*$")
	rulingMore  = lazy.Regexp(
		`(?i)^[\s*_]*(?:[,/|&]|\bor\b|\band\b)[\s*_]*(?:the\s+)?(?:` + rulingWord + `)\b`)
	rulingRight = lazy.Regexp(`(?i)^\W*(?:(?:derivation|answer|one|cell)\s+)?` +
		`(?:(?:is|was|seems|looks)\s+)?(?:right|correct|better)\b`)
)

// ruling returns the ruling and the rest of its line.
func (f *fields) ruling() (ruling, rest string, err error) {
	said := f.text["ruling"]
	if alone := rulingAlone().FindStringSubmatch(f.talk.String()); said == "" && alone != nil {
		said = alone[1]
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
	return ruling, oneParagraph(rest), nil
}

func rulingIn(text string, steps int) (Ruling, error) {
	f, err := rulingLabels.read(text)
	if err != nil {
		return Ruling{}, err
	}
	r, rest := Ruling{Reason: f.line("reason")}, ""
	if r.Ruling, rest, err = f.ruling(); err != nil {
		return Ruling{}, err
	}
	if r.Reason == "" {
		r.Reason = rest
	}
	switch r.Ruling {
	case record.RuledFirst:
		r.Wrong, err = f.wrong(steps)
	case record.RuledSecond:
		if r.Code, err = f.code(); err == nil && r.Code == "" {
			err = errNoCode
		}
	case record.RuledReading:
		r.Point, r.Options = f.line("reading"), f.options()
		if r.Point == "" || len(r.Options) != 2 {
			err = errNoOptions
		}
	}
	if err != nil {
		return Ruling{}, err
	}
	return r, nil
}
