package ask

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"dsstar/agent/record"
	"dsstar/notebook/lazy"
	"dsstar/prompts"
)

// A Judgement is a verdict with what follows from it.
type Judgement struct {
	record.Verdict
	Wrong    int // number of the step that is wrong; 0: none
	Readings []record.Reading
	Takes    []int  // of each point of the request the option that the cells take, from 1; nil: not said
	Decided  []int  // points of the request that the words quoted for them decide; nil: not said
	Corrects []int  `json:",omitempty"` // numbers of earlier questions whose answers this one corrects
	Code     string // the last cell, if the verdict is sufficient or inconclusive
	Branches []Branch
}

type judgement struct {
	Readings []reading `json:"readings" jsonschema:"what question and files leave open; may be empty"`
	Verdict  string    `json:"verdict"`
	Reason   string    `json:"reason" jsonschema:"one or two sentences"`
	Wrong    int       `json:"wrong_step,omitempty" jsonschema:"the number of the wrong step; null: none is wrong"`
	Corrects string    `json:"corrects" jsonschema:"the numbers of the earlier questions whose answers the user corrects with this one, or none"`
	Code     string    `json:"code,omitempty" jsonschema:"the last Python cell, if sufficient or inconclusive"`
	Takes    string    `json:"takes" jsonschema:"of each reading in order the number of the option that the cells take, such as 1, 2"`
	Decided  string    `json:"decided" jsonschema:"the numbers of the readings that the words quoted for them decide, such as 1, 3, or none"`
	Branches []Branch  `json:"branches" jsonschema:"if sufficient or inconclusive, one for each branch asked for; else empty"`
}

const judgementRule = "Reply in the form asked for: one verdict, which is sufficient, unfinished, " +
	"insufficient or inconclusive, and the reason; with sufficient or inconclusive the last " +
	"cell; else the number of the wrong step, if one is."

var errTwo = errors.New("it gives two verdicts")

// Judgements reads the judgement of a plan. steps is the number of its steps, and points that of
// the readings that it takes. asked are the branches whose cells come with the judgement, if there
// are points; cells that cannot be read are left out. If readings is set, the judgement names the
// readings itself. earlier is the number of questions before this one.
func Judgements(steps, points int, asked []Branch, readings bool, earlier int) Format[Judgement] {
	rule, without := judgementRule, []string{"readings"}
	words := prompts.JudgementForm{Readings: readings, Points: points > 0 && !readings,
		Corrects: earlier > 0}
	if len(asked) > 0 {
		words.Point, words.Option = asked[0].Point, asked[0].Option
	}
	if readings {
		rule, without = judgementRule+readingRule, nil
	}
	if !words.Points {
		without = append(without, onPoints...)
	}
	if !words.Corrects {
		without = append(without, "corrects")
	}
	return formatOf("judgement", rule, words, func(form judgement) (Judgement, error) {
		return form.read(steps, earlier, asked)
	}, without...)
}

func (form judgement) read(steps, earlier int, asked []Branch) (j Judgement, err error) {
	j.Verdict, err = form.verdict()
	switch j.Wrong = form.Wrong; {
	case err != nil:
	case j.Wrong > steps:
		err = noSuchStep(j.Wrong, steps)
	case j.Sufficient && j.Wrong > 0:
		err = errTwo
	case j.Sufficient:
		j.Code, err = codeOf(form.Code)
		j.Corrects = slices.DeleteFunc(numbersIn(form.Corrects), func(n int) bool { return n < 1 || n > earlier })
		j.Branches, _ = branchesOf(form.Branches, asked, steps)
		if form.Takes+form.Decided != "" {
			j.Takes, j.Decided = numbersIn(form.Takes), numbersIn(form.Decided)
		}
	case j.Wrong > 0:
		j.Unfinished = false
	}
	if err == nil {
		j.Readings, err = readingsOf(form.Readings)
	}
	return j, err
}

// onPoints are the fields of a judgement that speak of the readings that there are.
var onPoints = []string{"takes", "decided", "branches"}

var (
	against = lazy.Regexp(`(?i)^(?:no|false)\b|` +
		`\b(?:insufficient|unfinished|inconclusive|(?:not|isn['’]t)\s+(?:\w+\s+)?sufficient)\b`)
	doubts = lazy.Regexp(`(?i)\b(?:but|however|except|unless|although|if|provided|assuming|` +
		`lacks?|needs?\s+to|must|should|incomplete|missing)\b`)
)

// verdict returns the verdict. Words that point both ways are an error: a verdict is never guessed.
func (form judgement) verdict() (v record.Verdict, err error) {
	value, rest, err := chosenIn("verdict", form.Verdict)
	v = record.Verdict{Reason: cmp.Or(form.Reason, rest), Unfinished: value == "unfinished",
		Inconclusive: value == "inconclusive"}
	v.Sufficient = v.Inconclusive || value == "sufficient"
	switch {
	case err != nil:
	case value == "sufficient" && (against().MatchString(rest) || against().MatchString(form.Reason)):
		err = errTwo
	case value == "sufficient" && doubts().MatchString(rest):
		err = errors.New("it makes a condition")
	case v.Inconclusive && v.Reason == "":
		err = errors.New("a reason is needed with `Verdict: inconclusive`")
	}
	return v, err
}

func noSuchStep(step any, steps int) error {
	return fmt.Errorf("it names step %v, and the plan has %d", step, steps)
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

// Branches reads the cells of branches; Point and Option of each say what is asked for. Cells that
// cannot be read are left out, unless none can.
func Branches(asked []Branch, steps int) Format[[]Branch] {
	rule := "Reply in the form asked for: for each branch its number, how many steps it keeps (0 to " +
		strconv.Itoa(steps) + "), and its cell."
	words := prompts.BranchesForm{Point: asked[0].Point, Option: asked[0].Option}
	return formatOf("branches", rule, words, func(form branches) ([]Branch, error) {
		return branchesOf(form.Branches, asked, steps)
	})
}

// branchesOf returns the branches that were asked for.
func branchesOf(said, asked []Branch, steps int) (all []Branch, err error) {
	for _, b := range said {
		b.Code, _ = codeOf(b.Code) // it is left out
		same := func(other Branch) bool { return b.Point == other.Point && b.Option == other.Option }
		switch {
		case b.Code == "" || b.Steps > steps || !slices.ContainsFunc(asked, same):
		case slices.ContainsFunc(all, same):
			return nil, errors.New("it gives two cells for one branch")
		default:
			all = append(all, b)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("it has no branch that was asked for, with its code")
	}
	return all, nil
}
