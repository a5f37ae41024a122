package agent

import (
	"errors"
	"fmt"
	"regexp"
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
	readCode    = reading[string]{parseCode, "Reply with one ```python code block that holds the whole code, and nothing else."}
	readStep    = reading[string]{parseStep, "Reply with the step alone, in one or two sentences, without code."}
	readVerdict = reading[Verdict]{parseVerdict, "Reply in two lines: first `Verdict: sufficient` or `Verdict: insufficient`, then `Reason:` or `Missing:` with one sentence."}
	readText    = reading[string]{parseText, "Reply with the shortened report alone."}
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
	thinking = regexp.MustCompile(`(?is)<(think|thinking|reasoning)>.*?</(think|thinking|reasoning)>`)
	openTag  = regexp.MustCompile(`(?is)^\s*.*?</(think|thinking|reasoning)>`)
)

// visible is the reply without the thoughts that some models send before it.
func visible(reply string) string {
	reply = thinking.ReplaceAllString(strings.ReplaceAll(reply, "\r\n", "\n"), "")
	return strings.TrimSpace(openTag.ReplaceAllString(reply, ""))
}

func parseText(reply string) (string, error) {
	if reply = visible(reply); reply == "" {
		return "", errEmpty
	}
	return reply, nil
}

// fenceLine opens or closes a code block: ``` or ~~~, three or more, with an
// optional word after the opening one.
var fenceLine = regexp.MustCompile("^[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^`]*?)[ \t]*$")

// parseCode returns the code of the reply's one Python block. With several
// blocks it is the longest, as models show excerpts beside the whole.
func parseCode(reply string) (string, error) {
	reply = visible(reply)
	if reply == "" {
		return "", errEmpty
	}
	var best string
	var block []string
	var open string
	for line := range strings.Lines(reply) {
		m := fenceLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		switch {
		case open == "" && m != nil:
			open, block = m[1], nil
		case open != "" && m != nil && m[2] == "" && strings.HasPrefix(m[1], open):
			if code := strings.Join(block, ""); len(code) > len(best) {
				best = code
			}
			open = ""
		case open != "":
			block = append(block, line)
		}
	}
	if open != "" {
		return "", errors.New("its code block is not closed")
	}
	best = strings.TrimRight(strings.TrimLeft(best, "\n"), " \t\n")
	if best == "" {
		return "", errors.New("it has no code block")
	}
	return best, nil
}

var stepLabel = regexp.MustCompile(`(?i)^[\s#*_>-]*(?:(?:next |first |new )?step(?:\s+\d+)?\s*[:.)-]|\d+[.)])[\s*_]*`)

// parseStep returns a step as one paragraph, without a label such as "Step 3:".
func parseStep(reply string) (string, error) {
	reply = visible(reply)
	if strings.Contains(reply, "```") {
		return "", errors.New("it has code in it")
	}
	step := strings.Join(strings.Fields(stepLabel.ReplaceAllString(reply, "")), " ")
	step = strings.Trim(step, "*_ ")
	if step == "" {
		return "", errEmpty
	}
	if len(step) > 2000 {
		return "", errors.New("it is far longer than a step")
	}
	return step, nil
}

var (
	verdictLine = regexp.MustCompile(`(?im)^[\s#>*_` + "`" + `-]*(?:final\s+)?verdict[\s*_` + "`" + `]*[:=-]+[\s*_` + "`" + `"']*(insufficient|not\s+sufficient|sufficient|yes|no)\b`)
	verdictWord = regexp.MustCompile(`(?i)\b(not\s+(?:yet\s+)?sufficient|insufficient|sufficient)\b`)
	verdictBare = regexp.MustCompile(`(?i)^[\s*_` + "`" + `"']*(yes|no)\b`)
	reasonLine  = regexp.MustCompile(`(?im)^[\s#>*_` + "`" + `-]*(?:missing|reason)[\s*_` + "`" + `]*[:=-]+[\s*_]*(.+)$`)
)

// parseVerdict reads a verdict. Where the words of a reply point both ways it
// is not read at all: a verdict is never guessed.
func parseVerdict(reply string) (Verdict, error) {
	reply = visible(reply)
	word, err := verdictIn(reply)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Sufficient: word == "sufficient" || word == "yes"}
	if m := reasonLine.FindStringSubmatch(reply); m != nil {
		v.Reason = strings.TrimSpace(m[1])
	} else {
		rest := verdictBare.ReplaceAllString(verdictLine.ReplaceAllString(reply, ""), "")
		v.Reason = clip(strings.Join(strings.Fields(strings.TrimLeft(rest, " .,:;-*\n")), " "), 600)
	}
	return v, nil
}

func verdictIn(reply string) (string, error) {
	if reply == "" {
		return "", errEmpty
	}
	found := map[string]bool{}
	for _, patterns := range [][]*regexp.Regexp{{verdictLine}, {verdictBare, verdictWord}} {
		var matches [][]string
		for _, p := range patterns {
			matches = append(matches, p.FindAllStringSubmatch(reply, -1)...)
		}
		for _, m := range matches {
			word := strings.ToLower(m[1])
			if strings.HasPrefix(word, "not") || word == "no" {
				word = "insufficient"
			}
			if word == "yes" {
				word = "sufficient"
			}
			found[word] = true
		}
		if len(found) == 1 {
			for word := range found {
				return word, nil
			}
		}
		if len(found) > 1 {
			return "", errors.New("it gives two verdicts")
		}
	}
	return "", errors.New("it gives no verdict")
}

var (
	routeAdd  = regexp.MustCompile(`(?i)\badd(?:\s+(?:a|the|one|another))?(?:\s+(?:new|next|further))?[\s_-]*step\b`)
	routeStep = regexp.MustCompile(`(?i)\bstep[\s_#*-]*(\d+)`)
	routeBare = regexp.MustCompile(`^[\s*_` + "`" + `"'(]*(\d+)[\s*_` + "`" + `"').]*$`)
)

// parseRoute reads a route for a plan of the given number of steps. The first
// line that holds a choice decides, and it must hold only one.
func parseRoute(reply string, steps int) (Route, error) {
	reply = visible(reply)
	if reply == "" {
		return Route{}, errEmpty
	}
	for line := range strings.Lines(reply) {
		add := routeAdd.MatchString(line)
		numbers := map[int]bool{}
		for _, m := range append(routeStep.FindAllStringSubmatch(line, -1), routeBare.FindAllStringSubmatch(line, -1)...) {
			n, err := strconv.Atoi(m[1])
			if err != nil || n < 1 || n > steps {
				return Route{}, fmt.Errorf("it names step %s, and the plan has %d", m[1], steps)
			}
			numbers[n] = true
		}
		switch {
		case add && len(numbers) == 0:
			return Route{}, nil
		case !add && len(numbers) == 1:
			for n := range numbers {
				return Route{Back: n}, nil
			}
		case add || len(numbers) > 1:
			return Route{}, errors.New("it makes more than one choice")
		}
	}
	return Route{}, errors.New("it makes no choice")
}
