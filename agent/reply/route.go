package reply

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

const (
	adding   = `add[\s_-]*(?:(?:a|the|one|another)\s+)?(?:(?:new|next|further)\s+)?step\b`
	wrong    = `(?:wrong|incorrect|erroneous|flawed|faulty|mistaken)\b`
	mending  = `(?:fix|redo|revise|correct|repair|rewrite|rework|replace|remove|drop|delete|discard|(?:go\s+|going\s+)?back\s+to|return\s+to)`
	choosing = `(?:(?:(?:my|the|final)\s+)*(?:answer|choice|decision|route|reply|option|action)(?:\s+is)?|i\s+(?:would\s+|will\s+)?(?:choose|pick|select|go\s+with)|i['’](?:d|ll)\s+(?:choose|pick|select|go\s+with))`

	numeral = `one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty`
	number  = `(?:\d+|` + numeral + `)`

	routeMarks = "(?:[\\s#>*_`\"'({✅❌\\x{FE0F}👉➡→•]|-\\s)*"
)

var (
	routeAlone = lazy.Regexp(
		`(?im)^` + routeMarks + `(?:(?:sure|okay|ok|so|thus|therefore)[,:.]?\s+)?(?:` + choosing + `[\s:="'*` + "`" + `-]*)?` + routeMarks +
			`(?:(` + adding + `)|(?:` + mending + `\s+)?(?:step(?:-|[\s_#*:"]*))?(\d+)(?:[\s*_` + "`" + `]+is[\s*_` + "`" + `]+` + wrong + `)?)` + "[\\s*_`\"').!}]*$",
	)
	routeAdd  = lazy.Regexp(`(?i)\b` + adding)
	routeStep = lazy.Regexp(`(?i)\bsteps?(?:-|[\s_#*]*)(\d+(?:\.\d+)?)`)

	routeWord = lazy.Regexp(`(?i)\bsteps?[\s_#*-]*(?:` + numeral + `)\b`)
	routeList = lazy.Regexp(
		`(?i)\bsteps?[\s#]*` + number + `(?:(?:\s*,\s*(?:and|or)?|\s*(?:and|or|&|/|to|through|-|–)\s*)(?:steps?)?[\s#]*` + number + `\b)+`,
	)
	routeAddNo = lazy.Regexp(
		`(?i)\b(add(?:ing)?[\s_-]*(?:(?:a|the)\s+)?(?:new\s+)?)step[\s_#*-]*(\d+)(?:\s+(?:again|anew)\b)?(\s*:[^\n]*)?`,
	)
	routeMend   = lazy.Regexp(`(?i)\b` + mending + `\s+(?:the\s+)?$`)
	routeWrong  = lazy.Regexp(`(?i)\b` + wrong)
	routeNumber = lazy.Regexp(`(?i)` + number + `\b`)
	allRight    = lazy.Regexp(
		`(?i)\b(?:none\s+of\s+(?:the|these)\s+(?:\w+\s+)?steps?|no\s+(?:\w+\s+)?steps?|nothing)\s+(?:is|are|was|were|seems?|looks?)\s+(?:to\s+be\s+)?` + wrong,
	)
	negation = lazy.Regexp(
		`(?i)\b(?:no|not|never|nothing|none|nor|neither|without|if|instead|rather|cannot|whether)\b|n['’]t\b`,
	)
)

var errChoices = errors.New("it makes more than one choice")

// Route is a route for a plan of the given number of steps: lines with nothing but a choice,
// or else the one choice that the text makes explicitly. Different choices are an error.
func Route(steps int) Format[record.Route] {
	rule := fmt.Sprintf(
		"Reply with `Add Step`, or with `Step` and a number from 1 to %d, and nothing else.",
		steps,
	)
	switch {
	case steps < 1:
		rule = "Reply with `Add Step`, and nothing else."
	case steps == 1:
		rule = "Reply with `Add Step` or `Step 1`, and nothing else."
	}
	parse := func(text string) (record.Route, error) { return routeIn(text, steps) }
	return Format[record.Route]{rule, parse, longestTalk}
}

func routeIn(text string, steps int) (record.Route, error) {
	text, err := fieldsAsLines(text)
	if err != nil {
		return record.Route{}, err
	}
	text = plainNumbers(text, steps)
	chosen := map[string]bool{} // numbers; "" to add a step
	for _, m := range routeAlone().FindAllStringSubmatch(text, -1) {
		chosen[m[2]] = true
	}
	if len(chosen) == 0 {
		chosen = choicesIn(text)
	} else {
		for number := range faults(text) {
			chosen[number] = true // said beside the choice
		}
	}
	if len(chosen) > 1 {
		return record.Route{}, errChoices
	}
	for number := range chosen {
		if number == "" {
			return record.Route{}, nil
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > steps {
			return record.Route{}, fmt.Errorf(
				"it names step %s, and the plan has %d (%s)",
				number,
				steps,
				span(steps),
			)
		}
		return record.Route{Back: n}, nil
	}
	return record.Route{}, errors.New("it makes no choice")
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

// plainNumbers normalizes the names of steps: "step two" to "step 2", "steps 2 and 3" to
// "step 2 step 3", and "add step 4" to "Add Step" if the plan has no such step, or to "step
// 4" after "remove step 4".
func plainNumbers(text string, steps int) string {
	text = routeList().ReplaceAllStringFunc(text, func(found string) string {
		return "step " + strings.Join(routeNumber().FindAllString(found, -1), " step ")
	})
	text = routeWord().ReplaceAllStringFunc(text, func(found string) string {
		for i, word := range strings.Split(numeral, "|") {
			if start := len(found) - len(word); start > 0 && strings.EqualFold(found[start:], word) &&
				!isWord(found[start-1]) {
				return found[:start] + strconv.Itoa(i+1)
			}
		}
		return found
	})
	removed := ""
	if m := routeRemoved().FindStringSubmatch(text); m != nil {
		removed = m[1]
	}
	return routeAddNo().ReplaceAllStringFunc(text, func(found string) string {
		m := routeAddNo().FindStringSubmatch(found)
		n, err := strconv.Atoi(m[2])
		switch {
		case m[2] == removed:
			return "do step " + m[2]
		case err == nil && n > max(steps, 0) && len(faults(m[3])) == 0:
			return m[1] + "step"
		}
		return found
	})
}

var routeRemoved = lazy.Regexp(`(?i)\b(?:remove|drop|delete|discard)\s+step[\s_#*-]*(\d+)`)

// choicesIn finds the choices that a text makes. A step counts if it is called wrong or
// stands beside another choice.
func choicesIn(text string) map[string]bool {
	chosen := map[string]bool{}
	for _, m := range routeStep().FindAllStringSubmatch(text, -1) {
		chosen[m[1]] = true
	}
	add := routeAdd().MatchString(text)
	switch {
	case add && len(chosen) == 0 && negation().MatchString(allRight().ReplaceAllString(text, "")):
	case add:
		chosen[""] = true
	case len(chosen) == 1 && len(faults(text)) == 0:
		return nil
	}
	return chosen
}

// faults returns the steps that a text calls wrong or wants redone. Questions, denials and
// conditions do not count.
func faults(text string) map[string]bool {
	faulty := map[string]bool{}
	for _, sentence := range sentences(text) {
		steps := routeStep().FindAllStringSubmatchIndex(sentence, -1)
		for i, m := range steps {
			before, after := sentence[:m[0]], sentence[m[1]:]
			if i > 0 {
				before = sentence[steps[i-1][1]:m[0]]
			}
			if i+1 < len(steps) {
				after = sentence[m[1]:steps[i+1][0]]
			}
			end := 0 // of what must not deny it
			if at := routeWrong().FindStringIndex(after); at != nil {
				end = at[0]
			} else if !routeMend().MatchString(before) {
				continue
			}
			if !negation().MatchString(before+" "+after[:end]) && !strings.HasSuffix(sentence, "?") {
				faulty[sentence[m[2]:m[3]]] = true
			}
		}
	}
	return faulty
}

var sentenceEnd = lazy.Regexp(`[.!;](?:\s|$)|[?\n]`)

// sentences returns the sentences of a text with their punctuation.
func sentences(text string) []string {
	var all []string
	from := 0
	for _, m := range sentenceEnd().FindAllStringIndex(text, -1) {
		all = append(all, strings.TrimSpace(text[from:m[1]]))
		from = m[1]
	}
	return append(all, text[from:])
}
