package reply

import "dsstar/notebook/lazy"

var forms = vocabulary{
	name:  "form",
	label: labelled("form"),
	value: lazy.Regexp(`(?i)^(?:(?:it|(?:the|this)\s+(?:form|answer)(?:['’]s\s+form)?)\s+)?(?:(?:is\s+)?(?:(fits?|ok|okay|yes|fine|correct|match(?:es)?|conforms)|(` +
		`(?:does\s+not|doesn['’]t|do\s+not|don['’]t|not|isn['’]t)\s+(?:quite\s+)?(?:fit|match|conform|ok|okay|fine|correct)|no|misfit|mismatch|incorrect|wrong)|(undecided)))\b`),
	mention: lazy.Regexp(`(?i)(?:\b((?:not|cannot)\s+(?:\w+\s+){0,2}(?:fit|match|conform)|mismatch|misfit)|n['’]t\s+(?:\w+\s+){0,2}(fit|match|conform)|(\b(?:fits|matches|conforms))|(\bundecided))\b`),
}

// noForm is the problem of a form that does not fit if the reply gives no other.
const noForm = "the form does not fit the guidelines"

// Form is a checker's judgement of an answer's form: the problem with it, or "" if it fits.
var Form = Format[string]{
	Rule: "Reply with `Form: fits`, or in two lines with `Form: does not fit` and then " +
		"`Problem:` with one sentence.",
	Parse:   formIn,
	longest: longestTalk,
}

func formIn(text string) (string, error) {
	text, err := fieldsAsLines(text)
	if err != nil {
		return "", err
	}
	said, err := forms.read(text)
	if err != nil {
		return "", err
	}
	problem, label := reasonIn(text)
	fits := said.sign == positive
	switch {
	case label == "problem" && fits && !isNothing(problem),
		label == "problem" && !fits && isNothing(problem) && problem != "":
		return "", forms.two()
	case said.sign == inconclusive:
		return "", forms.unknown()
	case fits:
		return "", nil
	case label == "":
		problem = said.reason(text, false)
	}
	if isNothing(problem) {
		return noForm, nil
	}
	return problem, nil
}
