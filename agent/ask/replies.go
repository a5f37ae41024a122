package ask

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/lazy"
	"dsstar/prompts"
)

// A Solution is the next step and its cell, of a second derivation the cell alone, with the readings named.
type Solution struct {
	Step, Code string
	Readings   []record.Reading
	Other      string `json:",omitempty"` // of a second derivation, the cell with the reading's other option
}

type solution struct {
	Readings []reading `form:"readings"`
	Step     string    `form:"step"`
	Code     string    `form:"code"`
}

type reading struct {
	Point    string   `form:"point"`
	Options  []string `form:"options"`
	Taken    int      `form:"taken"`
	Evidence string   `form:"evidence"`
	Settled  bool     `form:"settled"`
}

// Solutions reads a step and its cell, and the readings if they are asked for.
func Solutions(words prompts.SolutionForm) Format[Solution] {
	var without []string
	if !words.Readings && !words.Late {
		without = []string{"readings"}
	}
	return formatOf(words, func(form solution) (s Solution, err error) {
		s.Step, s.Readings = form.Step, readingsOf(form.Readings, !words.Readings)
		code := form.Code
		if words.Second && len(s.Readings) == 1 {
			code, s.Other = twoCells(code)
		}
		if s.Code, err = codeOf(code); err == nil && s.Step == "" && !words.Second {
			err = errNoStep
		}
		return s, err
	}, without...)
}

// twoCells parts code with two cells that end alike, of which neither is an excerpt of the other one. The second
// is "" if there are not just two.
func twoCells(code string) (first, second string) {
	all := Blocks(code)
	last := func(b Block) string { return b.Code[strings.LastIndex(b.Code, "\n")+1:] }
	if _, err := codeOf(code); err == nil || len(all) != 2 || last(all[0]) != last(all[1]) {
		return code, ""
	}
	second, _ = codeOf(all[1].text)
	return all[0].text, second
}

// different reports whether there are two options that differ by more than case.
func different(options []string) bool {
	return len(slices.CompactFunc(slices.Clone(options), strings.EqualFold)) > 1
}

// readingsOf returns readings. One that cannot be read has a problem and no options. One that comes late is
// open, and words without options say that there is none.
func readingsOf(said []reading, late bool) (all []record.Reading) {
	for _, one := range said {
		if len(one.Options) == 0 && (late || one.Point == "") {
			continue
		}
		r := record.Reading{Point: cmp.Or(one.Point, strings.Join(one.Options, " / "))}
		switch {
		case one.Point == "" || !different(one.Options):
			r.Problem = "it is not said what is left open, with two different options"
		case one.Taken < 1 || one.Taken > len(one.Options):
			r.Problem = "it is not said which option is taken"
		default:
			r.Chosen, r.Evidence = one.Taken-1, one.Evidence
			r.Settled = one.Settled && one.Evidence != "" && !late
			for _, text := range one.Options {
				r.Options = append(r.Options, record.Option{Text: text})
			}
		}
		all = append(all, r)
	}
	return all
}

// A Judgement is a verdict with what follows from it.
type Judgement struct {
	record.Verdict
	Wrong    int // number of the step that is wrong; 0: none
	Readings []record.Reading
	Printed  []Printed `json:",omitempty"`
	Takes    []int     // of each point of the request the option that the cells take, from 1; nil: not said
	Decided  []int     // points of the request that the words quoted for them decide; nil: not said
	Corrects []int     `json:",omitempty"` // numbers of earlier questions whose answers this one corrects
	Code     string    // the last cell, if the verdict is enough or no answer
	Branches []Branch
}

// A Printed is what is quoted of outputs against a branch, by its numbers; Option 0: all of a point.
type Printed struct {
	Point, Option int
	Quote         string
}

type judgement struct {
	Readings []reading `form:"readings"`
	Verdict  string    `form:"verdict"`
	Reason   string    `form:"reason"`
	Wrong    int       `form:"wrong step"`
	Corrects string    `form:"corrects"`
	Code     string    `form:"code"`
	Warnings string    `form:"warnings"`
	Takes    string    `form:"takes"`
	Decided  string    `form:"decided"`
	Printed  []string  `form:"printed"`
	Branches []Branch  `form:"branches"`
}

// onPoints are the fields of a judgement that speak of the readings that there are.
var onPoints = []string{"takes", "decided", "printed", "branches"}

// Judgements reads the judgement of a plan of some steps, in a form that says what of readings it is about.
// asked are the branches whose cells come with it; those that cannot be read are left out. earlier is the
// number of questions before this one.
func Judgements(words prompts.JudgementForm, steps, earlier int, asked []Branch) Format[Judgement] {
	var without []string
	if !words.Readings {
		without = append(without, "readings")
	}
	if !words.Points {
		without = append(without, onPoints...)
	}
	if words.Corrects = earlier > 0; !words.Corrects {
		without = append(without, "corrects")
	}
	if len(asked) > 0 {
		words.Point, words.Option = asked[0].Point, asked[0].Option
	}
	if words.Warnings == 0 {
		without = append(without, "warnings")
	}
	format := formatOf(words, func(form judgement) (Judgement, error) {
		j, err := form.read(steps, earlier, asked)
		j.Warnings = brief.Clip(brief.OneLine(form.Warnings), 2000)
		j.Unanswered = j.Sufficient && answered(form.Warnings) < words.Warnings
		return j, err
	}, without...)
	format.Lacks = func(j Judgement) (err error) {
		if j.Unanswered {
			err = fmt.Errorf("its line `Warnings` does not answer each of the %d warnings on rows by its "+
				"number; if one changes the answer, the verdict is another", words.Warnings)
		}
		return err
	}
	if parse := format.Parse; words.Late && !words.Readings { // beside branches, which look like them
		format.Parse = func(text string) (Judgement, error) {
			rest, lines := "", ""
			for _, p := range pieces(fenced(formOf[judgement](without).unJSON(text))) {
				if !p.isCode {
					lines += strings.Join(lateReading().FindAllString(p.text, -1), "\n") + "\n"
					p.text = lateReading().ReplaceAllString(p.text, "")
				}
				rest += p.text
			}
			j, err := parse(rest)
			late, _ := Solutions(prompts.SolutionForm{Late: true}).Parse(lines) // has no step
			j.Readings = late.Readings
			return j, cmp.Or(err, unreadReading(Prose(rest)))
		}
	}
	return format
}

// answer matches where the answer to a warning begins; one for all has no number.
var (
	answer = lazy.Regexp(`(?i)(?:^|[;,.]|\n)[\s*_(#•-]*(?:warning[\s#]*)?\d{1,2}[\s*_)]*(?:[:.)]|\s[-–—])[*_]*\s`)

	answerAll = lazy.Regexp(`(?i)^\W*(?:all|both|each|every|none of)\b|\b1\s*[-–]\s*\d`)
)

// answered returns how many warnings a reply answers.
func answered(said string) int {
	if answerAll().MatchString(said) {
		return math.MaxInt
	}
	return len(answer().FindAllString(said, -1))
}

const aReading = `(?:(?:open|new)\s+)?(?:readings?|points?|ambiguity)`

// lateReading matches the lines of a reading, of which a branch has one at most. Options may be a list.
var (
	lateReading = lazy.Regexp(`(?im)^` + marks + aReading + `\b.*\n(?:.*\n){0,2}?` +
		`(?:[\s#>*_|-]*(?:\d[.)]\s+)?(?:options?\W*\n(?:\s*(?:[-*•]|\(?\d{1,2}[.)])[ \t]+.*\n?)+|` +
		`(?:options?|taken|evidence|settled)\b.*\n?)){2,}`)

	// unread matches a line of a reading, and not of a branch, or of the option that it takes.
	unread = lazy.Regexp(`(?im)^` + marks + `(?:` + aReading + `[*_"'|)]*[ \t]*[:：][*_ \t]*(.*)|` +
		`(taken[\s*_:]*(?:option\s*)?\d)\W*)$`)
	noReading = lazy.Regexp(`(?i)^\W*(?:none\b.*|n/?a\b.*|nothing\b.*|not (?:applicable|open|needed).*|\d{1,2}(?:\.\d{1,2})?\W*|` +
		`no\W*|no\s+(?:\w+\s+){0,2}(?:points?|readings?|ambigu\w+|others?|one)\b.*)?$`)
)

// unreadReading returns an error if the lines beside late readings have another one.
func unreadReading(rest string) error {
	for _, m := range unread().FindAllStringSubmatch(rest, -1) {
		if m[2] != "" || !noReading().MatchString(m[1]) {
			return errors.New("its `Reading` lacks lines `Option 1`, `Option 2` and `Taken` below it")
		}
	}
	return nil
}

func (form judgement) read(steps, earlier int, asked []Branch) (j Judgement, err error) {
	j.Verdict, err = form.verdict()
	if m := wrongStep().FindStringSubmatch(form.Verdict); m != nil && !j.Sufficient && !j.Unfinished {
		form.Wrong, _ = strconv.Atoi(m[1])
	}
	switch j.Wrong = form.Wrong; {
	case err != nil:
	case j.Wrong > steps:
		err = noSuchStep(j.Wrong, steps)
	case j.Sufficient && j.Wrong > 0:
		err = errors.New("it gives two verdicts")
	case j.Sufficient:
		j.Code, err = codeOf(form.Code)
		j.Corrects = slices.DeleteFunc(numbersIn(form.Corrects), func(n int) bool {
			return n < 1 || n > earlier
		})
		j.Branches, _ = branchesOf(form.Branches, asked, steps)
		if form.Takes+form.Decided != "" {
			j.Takes, j.Decided = numbersIn(form.Takes), numbersIn(form.Decided)
		}
	case j.Wrong > 0:
		j.Unfinished = false
	}
	for _, said := range form.Printed {
		if m := printed().FindStringSubmatch(said); m != nil {
			point, _ := strconv.Atoi(m[1])
			option, _ := strconv.Atoi(m[2] + m[3])
			j.Printed = append(j.Printed, Printed{point, option, strings.TrimSpace(m[4] + m[5])})
		}
	}
	j.Readings = readingsOf(form.Readings, false)
	return j, err
}

var (
	printed = lazy.Regexp(`(?i)^\W*(?:(?:reading|branch|point)\W*)?(\d{1,2})` +
		`(?:\.(\d{1,2})|\W+option\W+(\d{1,2}))?\b` + "(?:[^\"“„«`]*[\"“„«`](.+)[\"”“»`].*|(.*))$")

	wrongStep = lazy.Regexp(`(?i)^\W*step\W{0,4}(\d+)\W{1,4}is\W{1,4}wrong\b`)
	beside    = lazy.Regexp(`(?i)^\W*(?:(?:to|and|or)\s+)?(?:go\s+on|no\s+answer|(?:as\s+)?(?:yet|so\s+far))\b`)

	against = lazy.Regexp(`(?i)^(?:no|false)\b|` +
		`\b(?:insufficient|unfinished|inconclusive|step\W{0,4}(?:n|\d+)\W{1,4}is\W{1,4}wrong|(?:not|isn['’]t)\s+(?:\w+\s+)?(?:enough|sufficient))\b`)
	doubts = lazy.Regexp(`(?i)\b(?:but|however|except|unless|although|if|provided|assuming|` +
		`lacks?|needs?\s+to|must|should|incomplete|(?:is|are|was|were|be|still)\s+missing)\b|` +
		`\bmissing(?:\W*$|\s*[:.,;]|\s+(?:the|an?|one|some)\b)`)
)

// verdict returns the verdict. Words that point both ways are an error: a verdict is never guessed.
func (form judgement) verdict() (v record.Verdict, err error) {
	value, rest, err := chosenIn("verdict", form.Verdict)
	v = record.Verdict{Reason: cmp.Or(form.Reason, rest), Unfinished: value == "unfinished",
		Inconclusive: value == "inconclusive"}
	v.Sufficient = v.Inconclusive || value == "sufficient"
	switch {
	case err != nil:
	case v.Sufficient && beside().MatchString(rest),
		value == "sufficient" && (against().MatchString(rest) || against().MatchString(form.Reason)):
		err = errors.New("it gives two verdicts")
	case value == "sufficient" && doubts().MatchString(rest):
		err = errors.New("it makes a condition")
	case v.Inconclusive && v.Reason == "":
		err = errors.New("a reason is needed with `Verdict: no answer`")
	}
	return v, err
}

func noSuchStep(step any, steps int) error {
	return fmt.Errorf("it names step %v, and the plan has %d", step, steps)
}

// A Branch is the cell that takes another option of a reading, both by their numbers in the request,
// from 1.
type Branch struct {
	Point  int    `form:"reading"`
	Option int    `form:"option"`
	Steps  int    `form:"keeps"`
	Code   string `form:"code"`
}

type branches struct {
	Branches []Branch `form:"branches"`
}

// Branches reads the cells of the branches that are asked for. Cells that cannot be read are left
// out, unless none can.
func Branches(asked []Branch, steps int) Format[[]Branch] {
	words := prompts.BranchesForm{Point: asked[0].Point, Option: asked[0].Option}
	return formatOf(words, func(form branches) ([]Branch, error) {
		return branchesOf(form.Branches, asked, steps)
	})
}

// branchesOf returns the branches that were asked for.
func branchesOf(said, asked []Branch, steps int) (all []Branch, err error) {
	for _, b := range said {
		b.Code, _ = codeOf(b.Code) // it is left out
		same := func(other Branch) bool { return b.Point == other.Point && b.Option == other.Option }
		if b.Code != "" && b.Steps <= steps && slices.ContainsFunc(asked, same) &&
			!slices.ContainsFunc(all, same) {
			all = append(all, b)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("it has no branch that was asked for, with its code")
	}
	return all, nil
}

// A Ruling says why two derivations differ.
type Ruling struct {
	Ruling  string   `form:"ruling"` // see [record.RuledSame] and the others
	Reason  string   `form:"reason"`
	Wrong   int      `form:"wrong step"` // 0: not said
	Point   string   `form:"reading"`
	Options []string `form:"options"`
}

// Rulings reads a ruling on two derivations. steps is the number of steps of the first.
func Rulings(steps int) Format[Ruling] {
	return formatOf(prompts.RulingForm{}, func(r Ruling) (Ruling, error) {
		ruling, rest, err := chosenIn("ruling", r.Ruling)
		r.Ruling, r.Reason = ruling, cmp.Or(r.Reason, rest)
		switch {
		case err != nil:
		case r.Wrong > steps:
			err = noSuchStep(r.Wrong, steps)
		case ruling == record.RuledSecond && r.Reason == "":
			err = errors.New("it does not say what the mistake is")
		case ruling == record.RuledReading && (r.Point == "" || len(r.Options) != 2 || !different(r.Options)):
			err = errors.New("it does not say what is left open, with two different options")
		}
		return r, err
	})
}

// Code is the code of the reply's Python block, or if there is none, of a block without a language.
var Code = Format[string]{
	Rule:  "Reply with one ```python code block that holds the whole code, and nothing else.",
	Parse: reads(func(form solution) (string, error) { return codeOf(form.Code) }, "readings"),
}

// Step is a step of --paper as one paragraph, without a label such as "Step 3:".
var Step = Format[string]{
	Rule: "Reply with the step alone, one step, in a few short sentences, without code.",
	Parse: reads(func(form solution) (string, error) {
		switch _, err := codeOf(form.Code); {
		case err != errNoCode:
			return "", errors.New("it has code in it")
		case form.Step == "":
			return "", errNoStep
		}
		return form.Step, nil
	}, "readings"),
}

// YesNo is a verdict of --paper in the words of the paper: Yes or No.
var YesNo = Format[record.Verdict]{
	Rule: "Reply with `Yes` or `No`, and nothing else.",
	Parse: reads(func(form judgement) (record.Verdict, error) {
		v, err := form.verdict()
		if v.Inconclusive {
			err = errors.New("it is neither Yes nor No")
		}
		return v, err
	}, append(onPoints, "readings")...),
}

// routeLine matches a line with nothing but a choice, or one that says that a step is wrong.
var routeLine = lazy.Regexp(`(?im)^` + marks + `(?:(?:my|the|final|answer|choice|decision|route|option)\b[\s:="*|]*(?:is\b[\s:]*)?)*` +
	`(?:add[\s_-]*(?:(?:a|the|one|another)\s+)?(?:(?:new|next|further)\s+)?step\b(?:[\s#]*\d+\b.*)?` +
	`|(?:(?:fix|redo|revise|(?:go\s+)?back\s+to|step)[\s_#*:"]*)*(\d+)(?:[\s*_]+is[\s*_]+(?:wrong|incorrect|flawed)\b.*)?)` +
	"[\\s*_`\"').!}|]*$")

// Route is a route for a plan of the given number of steps. Different choices are an error.
func Route(steps int) Format[record.Route] {
	rule := "Reply with `Add Step`, or with `Step` and a number from 1 to " + strconv.Itoa(steps)
	return Format[record.Route]{Rule: rule + ", and nothing else.",
		Parse: func(text string) (r record.Route, err error) {
			err = errors.New("it makes no choice")
			for i, m := range routeLine().FindAllStringSubmatch(text, -1) {
				n, bad := strconv.Atoi(cmp.Or(m[1], "0"))
				switch {
				case m[1] != "" && (bad != nil || n < 1 || n > steps):
					return record.Route{}, noSuchStep(m[1], steps)
				case i > 0 && n != r.Back:
					return record.Route{}, errors.New("it makes more than one choice")
				}
				r.Back, err = n, nil
			}
			return r, err
		}}
}
