package ask

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

type judgement struct {
	Readings []reading `json:"readings" jsonschema:"what question and files leave open; may be empty"`
	Verdict  string    `json:"verdict"`
	Reason   string    `json:"reason" jsonschema:"one or two sentences"`
	Wrong    int       `json:"wrong_step,omitempty" jsonschema:"the number of the wrong step; null: none is wrong"`
	Code     string    `json:"code,omitempty" jsonschema:"the last Python cell, if sufficient or inconclusive"`
	Takes    numbers   `json:"takes" jsonschema:"of each reading in order the number of the option that the cells take, such as 1, 2"`
	Decided  numbers   `json:"decided" jsonschema:"the numbers of the readings that the words quoted for them decide, such as 1, 3, or none"`
	Branches []Branch  `json:"branches" jsonschema:"if sufficient or inconclusive, one for each branch asked for; else empty"`
}

const judgementRule = "Reply in the form asked for: one verdict, which is sufficient, unfinished, " +
	"insufficient or inconclusive, and the reason; with sufficient or inconclusive the last " +
	"cell; else the number of the wrong step, if one is."

var (
	errNoVerdict = errors.New("it gives no verdict")
	errVerdict   = errors.New("its verdict is not one of those asked for")
	errTwo       = errors.New("it gives two verdicts")
	errIf        = errors.New("it makes a condition")
	errNoReason  = errors.New("a reason is needed with `Verdict: inconclusive`")
	errChoices   = errors.New("it makes more than one choice")
)

// Judgements reads the judgement of a plan. steps is the number of its steps, and points that of the
// readings that it takes. asked are the branches whose cells come with the judgement, if there are
// points; cells that cannot be read are left out. If readings is set, the judgement names the
// readings itself.
func Judgements(steps, points int, asked []Branch, readings bool) Format[Judgement] {
	take := func(form judgement, f *said) (Judgement, error) { return f.judgement(form, steps, asked) }
	if readings {
		return formatOf("judgement", "judgement_readings", judgementRule+readingRule, take,
			"takes", "decided", "branches")
	}
	if points == 0 {
		return formatOf("judgement", "judgement", judgementRule, take, bareJudgement...)
	}
	f := formatOf("judgement", "judgement_points", judgementRule, take, "readings")
	if len(asked) > 0 {
		f.Form += "\n\n" + words("branching") + "\n\n" + branchForm(asked)
	}
	return f
}

// bareJudgement are the fields that a judgement need not have.
var bareJudgement = []string{"readings", "takes", "decided", "branches"}

func (f *said) judgement(form judgement, steps int, asked []Branch) (j Judgement, err error) {
	if j.Verdict, err = f.verdict(); err != nil {
		return j, err
	}
	j.Wrong, err = f.wrong(steps)
	switch {
	case err != nil:
	case j.Sufficient && j.Wrong > 0:
		err = errTwo
	case j.Sufficient:
		j.Takes, j.Decided = form.Takes, form.Decided
		if len(asked) > 0 {
			j.Branches, _ = f.branches(asked, steps)
		}
		j.Code, err = f.code()
	case j.Wrong > 0:
		j.Unfinished = false
	}
	if err == nil && len(asked) == 0 {
		j.Readings, err = f.readings()
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

// verdict returns the verdict: what the label says, or else the first words. A reply whose words
// point both ways is an error: a verdict is never guessed.
func (f *said) verdict() (v record.Verdict, err error) {
	said, labelled := f.text["verdict"]
	if !labelled {
		said = f.text[""]
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
func (f *said) wrong(steps int) (int, error) {
	all := slices.DeleteFunc(f.numbers("wrong_step"), func(n int) bool { return n == 0 })
	m := wrongStep().FindStringSubmatch(f.line("reason") + f.line("missing"))
	if m != nil && f.text["wrong_step"] == "" {
		n, _ := strconv.Atoi(m[1]) // a few digits
		all = []int{n}
	}
	switch {
	case f.again["wrong_step"]:
		return 0, errChoices
	case len(all) == 0:
		return 0, nil
	case all[0] > steps:
		return 0, noSuchStep(strconv.Itoa(all[0]), steps)
	}
	return all[0], nil
}

func noSuchStep(step string, steps int) error {
	has := fmt.Sprintf("steps 1 to %d", steps)
	switch {
	case steps < 1:
		has = "no step to go back to"
	case steps == 1:
		has = "step 1"
	}
	return fmt.Errorf("it names step %s, and the plan has %d (%s)", step, steps, has)
}

// A Branch is the cell that takes another option of a reading.
type Branch struct {
	Point  int    `json:"reading" jsonschema:"the first number of the branch"` // from 1, as in the request
	Option int    `json:"option" jsonschema:"the second number of the branch"` // from 1
	Steps  int    `json:"keeps" jsonschema:"the number of accepted steps that it begins with"`
	Code   string `json:"code" jsonschema:"the Python cell that goes on from there"`
}

type branches struct {
	Branches []Branch `json:"branches" jsonschema:"one for each branch asked for"`
}

var (
	errNoBranch   = errors.New("it has no branch that was asked for, with its code")
	errSameBranch = errors.New("it gives two cells for one branch")
)

// Branches reads the cells of branches; Point and Option of each say what is asked for. Cells that
// cannot be read are left out, unless none can.
func Branches(asked []Branch, steps int) Format[[]Branch] {
	rule := "Reply in the form asked for: for each branch its number, how many steps it keeps (0 to " +
		strconv.Itoa(steps) + "), and its cell."
	f := formatOf("branches", "branches", rule, func(_ branches, f *said) ([]Branch, error) {
		if len(f.parts) == 0 && len(asked) == 1 {
			f.parts = []*said{f} // one branch needs no name
		}
		return f.branches(asked, steps)
	})
	f.Form += "\n\n" + branchForm(asked)
	return f
}

// branchForm returns the form of a branch's cell, with the number of the first one that is asked
// for.
func branchForm(asked []Branch) string {
	return strings.Replace(words("branch"), "NUMBER", fmt.Sprintf("%d.%d", asked[0].Point, asked[0].Option), 1)
}

func (f *said) branches(asked []Branch, steps int) (all []Branch, err error) {
	problem := errNoBranch
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
func (f *said) branch() Branch {
	b := Branch{Steps: -1}
	if numbers := append(f.numbers("reading"), f.numbers("option")...); len(numbers) > 1 {
		b.Point, b.Option = numbers[0], numbers[1]
	}
	if all := f.numbers("keeps"); len(all) > 0 {
		b.Steps = slices.Max(all)
	} else if said := f.text["keeps"]; said != "" && f.line("keeps") == "" {
		b.Steps = 0
	}
	return b
}
