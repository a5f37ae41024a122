package ask

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

// The forms of --paper: a step alone, Yes or No, a route. A code block is [Code].

var (
	stepLabel = lazy.Regexp(`(?i)^[\s#*_-]*(?:(?:the\s+)?(?:next |first |new )?step(?:\s+#?\d+)?[\s*_]*(?:[:.)]|\s[-–—]\s|\n)|\d{1,2}[.)]\s)[\s*_]*`)
	stepIntro = lazy.Regexp(`(?i)^(?:sure|certainly|of course|okay|ok|here)\b[^\n]*[:!](?:\s*\n|$)`)
	stepQuote = lazy.Regexp(`(?m)^[ \t]*>[ \t]?`)
	stepItem  = lazy.Regexp(`(?i)(?:^|\n|[.;:]\s)[\s#>*_-]*(?:step\s+#?)?(\d{1,2})[*_]*[.):][*_]*\s`)
)

// Step is a step as one paragraph, without a label such as "Step 3:".
var Step = Format[string]{
	Rule: "Reply with the step alone, one step, in a few short sentences, without code.",
	Parse: reads("step", func(_ stepAlone, f *said) (string, error) {
		return stepIn(cmp.Or(f.whole, f.text["step"]))
	}),
}

type stepAlone struct {
	Step string `json:"step"`
}

func stepIn(text string) (string, error) {
	text = withoutIntro(text)
	step := bareStep(text)
	switch {
	case strings.Contains(text, "```") || strings.Contains(text, "~~~"):
		return "", errors.New("it has code in it")
	case hasSteps(text):
		return "", errors.New("it has several steps")
	case step == "" || strings.HasPrefix(step, "{"):
		return "", errNoStep
	case refuses(step):
		return "", errRefusal
	case len(step) > 2000:
		return "", errors.New("it is far longer than a step")
	}
	return step, nil
}

// withoutIntro returns a text without quotation marks and a first line such as "Here it is:".
func withoutIntro(text string) string {
	text = strings.TrimSpace(stepQuote().ReplaceAllString(text, ""))
	return strings.TrimSpace(stepIntro().ReplaceAllString(text, ""))
}

// hasSteps reports whether a text numbers more than one step.
func hasSteps(text string) bool {
	numbers := map[string]bool{}
	for _, m := range stepItem().FindAllStringSubmatch(text+"\n", -1) {
		numbers[m[1]] = true
	}
	return len(numbers) > 1
}

// bareStep returns a text as one line, without its label and without a list mark, quotation marks or
// bold marks around all of it.
func bareStep(text string) string {
	step := strings.TrimSpace(text)
	for _, item := range []string{"- ", "* ", "• "} {
		step = strings.TrimPrefix(step, item)
	}
	step = strings.Join(strings.Fields(stepLabel().ReplaceAllString(unquote(step), "")), " ")
	if inner := strings.Trim(step, "*"); !strings.Contains(inner, "*") {
		step = inner
	}
	return unquote(step)
}

// unquote removes quotation marks around all of a text.
func unquote(text string) string {
	for _, marks := range [][2]string{{`"`, `"`}, {"“", "”"}, {"'", "'"}, {"`", "`"}} {
		inner, opened := strings.CutPrefix(text, marks[0])
		inner, closed := strings.CutSuffix(inner, marks[1])
		if opened && closed && !strings.Contains(inner, marks[0]) && !strings.Contains(inner, marks[1]) {
			return strings.TrimSpace(inner)
		}
	}
	return text
}

// YesNo is a verdict in the words of the paper: Yes or No.
var YesNo = Format[record.Verdict]{
	Rule: "Reply with `Yes` or `No`, and nothing else.",
	Parse: func(text string) (record.Verdict, error) {
		v, err := verdictIn(text)
		if v.Inconclusive || errors.Is(err, errNoReason) {
			return record.Verdict{}, errors.New("it is neither Yes nor No")
		}
		return v, err
	},
}

var verdictIn = reads("judgement", func(_ judgement, f *said) (record.Verdict, error) {
	return f.verdict()
}, bareJudgement...)

// routeLine matches a line with nothing but a choice, or one that says that a step is wrong.
var routeLine = lazy.Regexp(`(?im)^` + marks + `(?:(?:my|the|final|answer|choice|decision|route|option)\b[\s:="*|]*(?:is\b[\s:]*)?)*` +
	`(?:(add[\s_-]*(?:(?:a|the|one|another)\s+)?(?:(?:new|next|further)\s+)?step\b)(?:[\s#]*(\d+)\b.*)?` +
	`|(?:(?:fix|redo|revise|(?:go\s+)?back\s+to)\s+)?step[\s_#*:"]*(\d+)(?:[\s*_]+is[\s*_]+(?:wrong|incorrect|flawed)\b.*)?|(\d+))` +
	"[\\s*_`\"').!}|]*$")

// Route is a route for a plan of the given number of steps. Different choices are an error.
func Route(steps int) Format[record.Route] {
	others := fmt.Sprintf(", or with `Step` and a number from 1 to %d", steps)
	switch {
	case steps < 1:
		others = ""
	case steps == 1:
		others = " or `Step 1`"
	}
	return Format[record.Route]{
		Rule:  "Reply with `Add Step`" + others + ", and nothing else.",
		Parse: func(text string) (record.Route, error) { return routeIn(text, steps) },
	}
}

func routeIn(text string, steps int) (record.Route, error) {
	if strings.HasPrefix(text, "{") {
		text = strings.NewReplacer("{", "\n", ",", "\n").Replace(text) // a JSON object
	}
	chosen := map[int]bool{} // 0: add a step
	for _, m := range routeLine().FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[2] + m[3] + m[4])
		switch {
		case m[1] == "" && (err != nil || n < 1 || n > steps):
			return record.Route{}, noSuchStep(m[3]+m[4], steps)
		case m[1] != "" && m[2] != "" && n <= steps:
			return record.Route{}, errChoices
		case m[1] != "":
			n = 0
		}
		chosen[n] = true
	}
	if len(chosen) > 1 {
		return record.Route{}, errChoices
	}
	for n := range chosen {
		return record.Route{Back: n}, nil
	}
	return record.Route{}, errors.New("it makes no choice")
}
