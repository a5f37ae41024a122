package ask

import (
	"cmp"
	"errors"
	"strconv"

	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

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
