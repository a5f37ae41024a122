package reply

import (
	"errors"
	"slices"
	"strings"

	"dsstar/notebook/lazy"
)

var (
	stepLabel = lazy.Regexp(`(?i)^[\s#*_-]*(?:(?:the\s+)?(?:next |first |new )?step(?:\s+#?\d+)?[\s*_]*(?:[:.)]|\s[-–—]\s|\n)|\d{1,2}[.)]\s)[\s*_]*`)
	stepIntro = lazy.Regexp(`(?i)^(?:sure|certainly|of course|okay|ok|here)\b[^\n]*[:!]\s*\n`)
	stepQuote = lazy.Regexp(`(?m)^[ \t]*>[ \t]?`)
	stepItem  = lazy.Regexp(`(?i)(?:^|\n|[.;:]\s)[\s#>*_-]*(?:step\s+#?)?(\d{1,2})[*_]*[.):][*_]*\s`)
	codeTag   = lazy.Regexp(`(?im)^[ \t]*<(?:pre|code|python)\b`)
)

// Step is a step as one paragraph, without a label such as "Step 3:".
var Step = Format[string]{
	Rule:    "Reply with the step alone, one step, in a few short sentences, without code.",
	Parse:   stepIn,
	longest: longestTalk,
}

func stepIn(text string) (string, error) {
	fields, object, err := jsonFields(text)
	if err != nil {
		return "", err
	}
	if object {
		i := slices.IndexFunc(fields, func(f field) bool {
			return f.name == "step" || f.name == "next_step" || f.name == "next step"
		})
		if i < 0 {
			return "", errors.New("it gives no step")
		}
		text = fields[i].value
	}
	text = stepQuote().ReplaceAllString(text, "")
	text = stepIntro().ReplaceAllString(strings.TrimSpace(text), "")
	switch {
	case strings.Contains(text, "```") || strings.Contains(text, "~~~") || codeTag().MatchString(text):
		return "", errors.New("it has code in it")
	case refuses(text):
		return "", errRefusal
	case hasSteps(text):
		return "", errors.New("it has several steps")
	}
	step := bareStep(text)
	switch {
	case step == "":
		return "", errEmpty
	case refuses(step):
		return "", errRefusal
	case len(step) > 2000:
		return "", errors.New("it is far longer than a step")
	}
	return step, nil
}

// hasSteps reports whether a text numbers more than one step.
func hasSteps(text string) bool {
	items := stepItem().FindAllStringSubmatch(text+"\n", -1)
	return slices.ContainsFunc(items, func(m []string) bool { return m[1] != items[0][1] })
}

// bareStep returns a text as one line, without its label and without quotation marks, a list
// mark or bold marks around all of it.
func bareStep(text string) string {
	step := strings.TrimSpace(text)
	for _, item := range []string{"- ", "* ", "• "} {
		step = strings.TrimPrefix(step, item)
	}
	step = strings.Join(strings.Fields(stepLabel().ReplaceAllString(unquote(step), "")), " ")
	if inner := strings.Trim(step, "*"); !strings.Contains(inner, "*") {
		step = inner // all of it was bold
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
