package agent

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A ReplyError says that a model's reply could not be read, even after the
// rule was quoted to it. What follows from it depends on the role.
type ReplyError struct {
	Role, Subject, Problem, Reply string
}

func (e *ReplyError) Error() string {
	return fmt.Sprintf("the %s's reply for %s could not be used: %s", e.Role, e.Subject, e.Problem)
}

// reading is how a role's replies are read: a parser, and the rule that is
// quoted when it fails.
type reading[T any] struct {
	parse func(reply string) (T, error)
	rule  string
}

var (
	readCode        = reading[string]{parseCode, "Reply with one ```python code block that holds the whole code, and nothing else."}
	readStep        = reading[string]{parseStep, "Reply with the step alone, in a few short sentences, without code."}
	readVerdict     = reading[Verdict]{parseVerdict, "Reply in two lines: first `Verdict: sufficient` or `Verdict: insufficient`, then `Reason:` or `Missing:` with one sentence."}
	readTwoVerdicts = readVerdict
	readYesNo       = readVerdict
	readForm        = reading[string]{func(string) (string, error) { return "", nil }, ""}
	readText        = reading[string]{parseText, "Reply with the shortened report alone."}
)

func readRoute(steps int) reading[Route] {
	return reading[Route]{
		func(reply string) (Route, error) { return parseRoute(reply, steps) },
		fmt.Sprintf("Reply with `Add Step`, or with `Step` and a number from 1 to %d, and nothing else.", steps),
	}
}

var (
	errEmpty = errors.New("it is empty")
	errCut   = errors.New("it was cut off by the limit on its length")
	thinking = lazy(`(?is)<(think|thinking|reasoning)>.*?</(think|thinking|reasoning)>`)
	openTag  = lazy(`(?is)^\s*.*?</(think|thinking|reasoning)>`)
	unended  = lazy(`(?is)^\s*<(think|thinking|reasoning)>.*`)
)

// visible is the reply without the thoughts that some models send before it.
func visible(reply string) string {
	reply = thinking().ReplaceAllString(strings.ReplaceAll(reply, "\r\n", "\n"), "")
	return strings.TrimSpace(unended().ReplaceAllString(openTag().ReplaceAllString(reply, ""), ""))
}

func parseText(reply string) (string, error) {
	if reply = visible(reply); reply == "" {
		return "", errEmpty
	}
	return reply, nil
}

// fenceLine opens or closes a code block: ``` or ~~~, three or more, with an
// optional word after the opening one.
var fenceLine = lazy("^[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^`]*?)[ \t]*$")

// parseCode returns the code of the reply's Python block, or block without a
// language if there is none. With several it is the one that is longer than all
// others together, as models show excerpts beside the whole.
func parseCode(reply string) (string, error) {
	reply = visible(reply)
	if reply == "" {
		return "", errEmpty
	}
	python, plain, err := codeBlocks(reply)
	if err != nil {
		return "", err
	}
	if len(python) == 0 {
		python = plain
	}
	best, rest := "", 0
	for _, code := range python {
		rest += min(len(code), len(best))
		if len(code) > len(best) {
			best = code
		}
	}
	switch {
	case best == "":
		return "", errors.New("it has no code block")
	case rest >= len(best):
		return "", errors.New("it has several code blocks, and none is the whole")
	}
	return best, nil
}

// codeBlocks returns the blocks that are marked as Python and those that are
// not marked, without empty lines around them.
func codeBlocks(reply string) (python, plain []string, err error) {
	var block strings.Builder
	var language, open string
	for line := range strings.Lines(reply) {
		m := fenceLine().FindStringSubmatch(strings.TrimRight(line, "\n"))
		switch {
		case open == "" && m != nil:
			open, language = m[1], strings.ToLower(m[2])
			block.Reset()
		case open != "" && m != nil && m[2] == "" && strings.HasPrefix(m[1], open):
			code := strings.TrimRight(strings.TrimLeft(block.String(), "\n"), " \t\n")
			if strings.HasPrefix(strings.TrimLeft(language, "{."), "py") || strings.HasPrefix(language, "ipython") {
				python = append(python, code)
			} else if language == "" {
				plain = append(plain, code)
			}
			open = ""
		case open != "":
			block.WriteString(line)
		}
	}
	if open != "" {
		return nil, nil, errors.New("its code block is not closed")
	}
	return python, plain, nil
}

var (
	stepLabel = lazy(`(?i)^[\s#*_>-]*(?:(?:next |first |new )?step(?:\s+\d+)?[\s*_]*(?:[:.)]|\s[-–—]\s|\n)|\d{1,2}[.)]\s)[\s*_]*`)
	stepIntro = lazy(`(?i)^(?:sure|certainly|of course|okay|ok|here)\b[^\n]*[:!]\s*\n`)
	refusal   = lazy(`(?i)^(?:i['’]m sorry|i am sorry|sorry|i cannot|i can['’]t|i['’]m unable|i am unable|as an ai)\b`)
)

// parseStep returns a step as one paragraph, without a label such as "Step 3:".
func parseStep(reply string) (string, error) {
	reply = stepIntro().ReplaceAllString(visible(reply), "")
	if strings.Contains(reply, "```") || strings.Contains(reply, "~~~") {
		return "", errors.New("it has code in it")
	}
	step := strings.Join(strings.Fields(stepLabel().ReplaceAllString(reply, "")), " ")
	if inner := strings.Trim(step, "*"); !strings.Contains(inner, "*") {
		step = inner // all of it was bold
	}
	switch {
	case step == "":
		return "", errEmpty
	case refusal().MatchString(step):
		return "", errors.New("it is a refusal")
	case len(step) > 2000:
		return "", errors.New("it is far longer than a step")
	}
	return step, nil
}

const (
	marks   = "(?:[\\s#>*_`\"'({]|-\\s)*" // what may stand around a choice
	judging = `(not\s+(?:\w+\s+)?sufficient|insufficient|sufficient|yes|no)\b`
)

var (
	verdictLine = lazy(`(?im)^` + marks + `(?:(?:my|the|final|overall)\s+)*verdict[\s*_"'` + "`" + `]*(?:[:=-]+|is\b)` + marks + judging + `(.*)$`)
	verdictLead = lazy(`(?im)^` + marks + `(?:(?:the|this)\s+(?:current\s+)?plan\s+is\s+(?:now\s+|already\s+)?)?` + judging + "([*_`\"']*\\s*(?:[.,:;!)—–-].*)?)$")
	mention     = lazy(`(?i)(\bnot\s+(?:\w+\s+){0,2}|n['’]t\s+(?:\w+\s+){0,2}|\bin)?sufficient\b`)
	condition   = lazy(`(?i)\b(?:but|however|except|unless|although|if|provided|assuming)\b`)
	reasonLine  = lazy(`(?im)^[\s#>*_` + "`" + `-]*(?:missing|reason)[\s*_` + "`" + `]*[:=-]+[\s*_]*(.+)$`)
)

// parseVerdict reads a verdict: a line "Verdict: …", or a line that begins with
// the verdict alone. Where the words of a reply point both ways it is not read
// at all: a verdict is never guessed, and least of all that the plan suffices.
func parseVerdict(reply string) (Verdict, error) {
	reply = visible(reply)
	if reply == "" {
		return Verdict{}, errEmpty
	}
	pattern, said := verdictLine(), ""
	if !pattern.MatchString(reply) {
		pattern, said = verdictLead(), reply // without a label all of it counts
	}
	lines := pattern.FindAllStringSubmatch(reply, -1)
	if len(lines) == 0 {
		return Verdict{}, errors.New("it gives no verdict")
	}
	rest := pattern.ReplaceAllString(reply, "$2")
	v := Verdict{Sufficient: suffices(lines[0][1])}
	for _, m := range lines {
		said += m[2] + "\n"
		if suffices(m[1]) != v.Sufficient {
			return Verdict{}, errors.New("it gives two verdicts")
		}
	}
	for _, m := range mention().FindAllStringSubmatch(said, -1) {
		if (m[1] == "") != v.Sufficient {
			return Verdict{}, errors.New("it gives two verdicts")
		}
	}
	if v.Sufficient && condition().MatchString(said) {
		return Verdict{}, errors.New("it makes a condition")
	}
	if m := reasonLine().FindStringSubmatch(reply); m != nil {
		v.Reason = strings.TrimSpace(m[1])
		return v, nil
	}
	v.Reason = clip(strings.Join(strings.Fields(strings.TrimLeft(rest, " .,:;!)}—–-*_`\"'\n")), " "), 600)
	return v, nil
}

func suffices(word string) bool {
	word = strings.ToLower(word)
	return word == "sufficient" || word == "yes"
}

const adding = `add[\s_-]*(?:(?:a|the|one|another)\s+)?(?:(?:new|next|further)\s+)?step\b`

var (
	routeAlone = lazy(`(?im)^` + marks + `(?:(?:(?:my|the|final)\s+)*(?:answer|choice|decision|route|reply)(?:\s+is)?[\s:=*-]*)?` + marks +
		`(?:(` + adding + `)|(?:step(?:-|[\s_#*]*))?(\d+)(?:\s+is\s+(?:wrong|incorrect))?)` + "[\\s*_`\"').!}]*$")
	routeAdd   = lazy(`(?i)\b` + adding)
	routeStep  = lazy(`(?i)\bsteps?[\s_#*-]*(\d+)`)
	routeFault = lazy(`(?i)\bstep[\s_#*-]*\d+\b([^.!?\n]*?)\b(?:wrong|incorrect|erroneous|flawed|faulty|mistaken)\b`)
	negation   = lazy(`(?i)\b(?:no|not|never|nothing|none|nor|neither|without|if|instead|rather)\b|n['’]t\b`)
)

// parseRoute reads a route for a plan of the given number of steps: lines that
// hold nothing but a choice, or else the one choice that the text makes in so
// many words. Choices that differ are not read at all.
func parseRoute(reply string, steps int) (Route, error) {
	reply = visible(reply)
	if reply == "" {
		return Route{}, errEmpty
	}
	chosen := map[string]bool{} // numbers; "" to add a step
	for _, m := range routeAlone().FindAllStringSubmatch(reply, -1) {
		chosen[m[2]] = true
	}
	if len(chosen) == 0 {
		chosen = choicesIn(reply)
	}
	if len(chosen) > 1 {
		return Route{}, errors.New("it makes more than one choice")
	}
	for number := range chosen {
		if number == "" {
			return Route{}, nil
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > steps {
			return Route{}, fmt.Errorf("it names step %s, and the plan has %d", number, steps)
		}
		return Route{Back: n}, nil
	}
	return Route{}, errors.New("it makes no choice")
}

// choicesIn finds the choices that a text makes: a step counts as one when it is
// called wrong, or when another choice stands beside it.
func choicesIn(text string) map[string]bool {
	chosen := map[string]bool{}
	for _, m := range routeStep().FindAllStringSubmatch(text, -1) {
		chosen[m[1]] = true
	}
	add := routeAdd().MatchString(text)
	fault := routeFault().FindStringSubmatch(text)
	switch {
	case add && len(chosen) == 0 && negation().MatchString(text):
	case add:
		chosen[""] = true
	case len(chosen) == 1 && (fault == nil || negation().MatchString(fault[1])):
		return nil
	}
	return chosen
}
