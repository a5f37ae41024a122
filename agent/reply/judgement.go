package reply

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

// A Judgement is a verdict with what follows from it.
type Judgement struct {
	record.Verdict
	Wrong    int // number of the step that is wrong; 0: none
	Readings []record.Reading
	Takes    []int  // of each point of the request the option that the cells take, from 1; nil: not said
	Decided  []int  // points of the request that the words quoted for them decide; nil: not said
	Code     string // the last cell, if the verdict is sufficient or inconclusive
	Branches []Branch
}

// A Branch is the cell that takes another option of a reading.
type Branch struct {
	Point, Option int // from 1, as numbered in the request
	Steps         int // accepted steps that are kept
	Code          string
}

var verdictFields = newVocabulary("", "", "wrong", wrongWords, "verdict", `verdict|answer|judge?ment`,
	"missing", `missing|problem`, "reason", reasonWords, "code", codeWords)

// The fields of a judgement that comes with readings.
var rereadFields = newVocabulary("reading", "options taken evidence settled",
	"wrong", wrongWords, "verdict", `verdict|judge?ment`, "missing", `missing|problem`, "reason", reasonWords,
	"code", codeWords, "options", optionWords, "reading", pointWords,
	"taken", takenWords, "evidence", `evidence`, "settled", `settled`)

// The fields of a judgement about the points of a request.
var pointFields = newVocabulary("", "", "wrong", wrongWords, "verdict", `verdict|answer|judge?ment`,
	"missing", `missing|problem`, "reason", reasonWords, "code", codeWords, "takes", `takes`,
	"decided", `decided`)

// Judgements reads the judgement of a plan. steps is the number of its steps, and points that of the
// readings that it takes. asked are the branches whose cells come with the judgement; cells that
// cannot be read are left out. If readings is set, the judgement names the readings itself.
func Judgements(steps, points int, asked []Branch, readings bool) Format[Judgement] {
	f := Format[Judgement]{
		Rule: "Reply in the form asked for: one verdict, which is sufficient, unfinished, " +
			"insufficient or inconclusive, and the reason; with sufficient or inconclusive the last " +
			"cell; else the number of the wrong step, if one is.",
		Parse: by(verdictFields, func(f *fields) (Judgement, error) {
			return f.judgement(steps)
		}),
		Form:   form("judgement"),
		Schema: schema("judgement", "judgement"),
	}
	if readings {
		f.Rule += readingRule
		f.Form, f.Schema = form("judgement_readings"), schema("judgement_readings", "judgement")
		f.Parse = by(rereadFields, func(f *fields) (Judgement, error) {
			j, err := f.judgement(steps)
			if err == nil {
				j.Readings, err = f.readings()
			}
			return j, err
		})
	}
	if points > 0 {
		f.Form, f.Schema = form("judgement_points"), schema("judgement_points", "judgement")
		f.Parse = by(pointFields, func(f *fields) (Judgement, error) {
			j, err := f.judgement(steps)
			if err == nil && j.Sufficient {
				j.Takes, j.Decided = f.listed("takes"), f.listed("decided")
			}
			return j, err
		})
	}
	if len(asked) > 0 {
		verdict := f.Parse
		f.Form += "\n\n" + form("branching") + "\n\n" + branchForm(asked)
		f.Parse = func(text string) (Judgement, error) {
			first, rest := cutBranches(text)
			j, err := verdict(first)
			if err == nil && j.Sufficient {
				j.Branches, _ = by(branchFields, func(f *fields) ([]Branch, error) {
					if len(f.parts) == 0 {
						return nil, errNoBranch
					}
					return f.branches(asked, steps)
				})(rest)
			}
			return j, err
		}
	}
	return f
}

// listed returns the numbers of a field; nil if the reply does not have it.
func (f *fields) listed(name string) []int {
	if _, said := f.text[name]; !said {
		return nil
	}
	return append([]int{}, f.numbers(name)...)
}

var branchLine = lazy.Regexp(`(?i)^` + marks + `branch\s+\d{1,2}\.\d{1,2}\b`)

// cutBranches cuts a reply at the line that begins its first branch. JSON has none, and is in both.
func cutBranches(text string) (before, after string) {
	var open fence
	at := 0
	for line := range strings.Lines(text) {
		next := open.after(line)
		if !open.isOpen() && !next.isOpen() && branchLine().MatchString(line) {
			return text[:at], text[at:]
		}
		open = next
		at += len(line)
	}
	return text, text
}

func (f *fields) judgement(steps int) (j Judgement, err error) {
	if j.Verdict, err = f.verdict(); err != nil {
		return j, err
	}
	j.Wrong, err = f.wrong(steps)
	switch {
	case err != nil:
	case j.Sufficient && j.Wrong > 0:
		err = errTwo
	case j.Sufficient:
		j.Code, err = f.code()
	case j.Wrong > 0:
		j.Unfinished = false
	}
	return j, err
}

var (
	verdictFirst = lazy.Regexp(`(?i)^` + marks + `(?:(?:so|thus|overall),?\s+)?(?:(?:it|(?:the|this)\s+plan)\s+is\s+)?` +
		`(?:(sufficient|yes)|(insufficient|(?:not|isn['’]t)\s+(?:\w+\s+)?sufficient|no)|(unfinished)|` +
		`(inconclusive|not\s+applicable))` +
		"[*_\"'`|)}]*(?:\\s*$|\\s*[.,:;!(\\n]|\\s+[-–—]|\\s+(?:because|since|as|to)\\b)")
	against   = lazy.Regexp(`(?i)\b(?:insufficient|unfinished|inconclusive|(?:not|isn['’]t)\s+(?:\w+\s+)?sufficient)\b`)
	inFavour  = lazy.Regexp(`(?i)\b(?:sufficient|yes)\b`)
	denied    = lazy.Regexp(`(?i)^\W*(?:no|false)\b`)
	condition = lazy.Regexp(`(?i)\b(?:but|however|except|unless|although|if|provided|assuming)\b`)
	lacking   = lazy.Regexp(`(?i)\b(?:missing|lacks?|needs?\s+to|must|should|incomplete)\b`)
	nothing   = lazy.Regexp(`(?i)\b(?:no|not|nothing|none)\b`)
)

var verdictIn = by(verdictFields, (*fields).verdict)

// verdict returns the verdict: what the label says, or else the first words. A reply whose words
// point both ways is an error: a verdict is never guessed.
func (f *fields) verdict() (v record.Verdict, err error) {
	said, labelled := f.text["verdict"]
	if !labelled {
		said = strings.TrimSpace(f.talk.String())
	}
	if !labelled && !verdictFirst().MatchString(said) {
		said = said[strings.LastIndex(said, "\n")+1:] // after its reasons
	}
	m := verdictFirst().FindStringSubmatchIndex(said)
	switch {
	case m == nil && labelled:
		return v, errVerdict
	case m == nil:
		return v, errNoVerdict
	}
	rest := said[max(m[3], m[5], m[7], m[9]):]
	v.Sufficient, v.Unfinished = m[2] >= 0 || m[8] >= 0, m[6] >= 0
	v.Inconclusive = m[8] >= 0
	reason, missing := f.line("reason"), f.line("missing")
	if v.Reason = cmp.Or(reason, missing); v.Reason == "" && !isNothing(rest) {
		v.Reason = paragraph(strings.TrimLeft(rest, " .,:;!-–—*_`\"')}\n"))
	}
	positive := v.Sufficient && !v.Inconclusive
	switch {
	case f.again["verdict"],
		positive && (against().MatchString(rest+" "+reason) || labelled && missing != ""),
		positive && denied().MatchString(rest),
		!positive && inFavour().MatchString(against().ReplaceAllString(rest, "")),
		v.Inconclusive && against().MatchString(rest):
		return record.Verdict{}, errTwo
	case positive && condition().MatchString(rest),
		positive && !labelled && lacking().MatchString(rest) && !nothing().MatchString(rest):
		return record.Verdict{}, errIf
	case v.Inconclusive && !labelled:
		return record.Verdict{}, errNoVerdict
	case v.Inconclusive && v.Reason == "":
		return record.Verdict{}, errNoReason
	}
	return v, nil
}

var wrongStep = lazy.Regexp(`(?i)^step\s+(\d{1,3})\s+is\s+(?:wrong|incorrect|flawed|faulty)\b`)

// wrong returns the number of the step that is wrong; 0 if none is.
func (f *fields) wrong(steps int) (int, error) {
	all := slices.DeleteFunc(f.numbers("wrong"), func(n int) bool { return n == 0 })
	if m := wrongStep().FindStringSubmatch(f.line("reason") + f.line("missing")); m != nil && f.text["wrong"] == "" {
		n, _ := strconv.Atoi(m[1]) // a few digits
		all = []int{n}
	}
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

func span(steps int) string {
	switch {
	case steps < 1:
		return "no step to go back to"
	case steps == 1:
		return "step 1"
	}
	return fmt.Sprintf("steps 1 to %d", steps)
}

var branchFields = newVocabulary("branch", "option keeps code", "branch", `branch(?:es)?|readings?|points?`,
	"option", `option`, "keeps", `keeps?|kept|steps`, "code", codeWords)

// Branches reads the cells of branches; Point and Option of each say what is asked for. Cells that
// cannot be read are left out, unless none can.
func Branches(asked []Branch, steps int) Format[[]Branch] {
	return Format[[]Branch]{
		Rule: "Reply in the form asked for: for each branch its number, how many steps it keeps (0 to " +
			strconv.Itoa(steps) + "), and its cell.",
		Parse: by(branchFields, func(f *fields) ([]Branch, error) {
			return f.branches(asked, steps)
		}),
		Form:   form("branches") + "\n\n" + branchForm(asked),
		Schema: schema("branches", "branches"),
	}
}

func (f *fields) branches(asked []Branch, steps int) (all []Branch, err error) {
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
		b.Code, err = part.code()
		switch {
		case err != nil && !errors.Is(err, errNoCode):
			problem = err
		case err != nil || b.Steps < 0 || b.Steps > steps || !slices.ContainsFunc(asked, same):
		case slices.ContainsFunc(all, same):
			return nil, errSameBranch
		default:
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
	numbers := append(f.numbers("branch"), f.numbers("option")...)
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
