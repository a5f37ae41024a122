package agent

import (
	"errors"
	"fmt"
	"strings"

	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

// A ReplyError says that a model's reply could not be read, even after the
// rule was quoted to it. What follows from it depends on the role.
type ReplyError struct {
	Role, Subject, Problem, Reply string
	Kind                          ReplyKind
}

func (e *ReplyError) Error() string {
	return fmt.Sprintf("the %s's reply for %s could not be used: %s", e.Role, e.Subject, e.Problem)
}

// A ReplyKind tells apart the ways in which a reply is of no use, as each asks
// for something else of the user: another prompt, another model, a higher limit.
type ReplyKind string

const (
	ReplyEmpty      ReplyKind = "empty"      // nothing, or nothing but thoughts
	ReplyRefusal    ReplyKind = "refusal"    // the model will not do it, or its provider withheld what it said
	ReplyCut        ReplyKind = "cut"        // the limit on its length ended it
	ReplyUnreadable ReplyKind = "unreadable" // it says something else, or two things at once
)

var (
	errEmpty   = errors.New("it is empty")
	errCut     = errors.New("it was cut off by the limit on its length")
	errRefusal = errors.New("it is a refusal")
	errLong    = errors.New("it is far too long")
)

// kindOf is the kind of a parser's error.
func kindOf(err error) ReplyKind {
	switch {
	case errors.Is(err, errEmpty):
		return ReplyEmpty
	case errors.Is(err, errRefusal):
		return ReplyRefusal
	case errors.Is(err, errCut):
		return ReplyCut
	}
	return ReplyUnreadable
}

// unfinished says what is wrong with a reply that ended before its end,
// however well its beginning reads.
func unfinished(reply llm.Reply) error {
	switch reply.Finish {
	case "length":
		return errCut
	case "content_filter":
		return errRefusal
	}
	return nil
}

// reading is how a role's replies are read: a parser, and the rule that is
// quoted when it fails.
type reading[T any] struct {
	parse func(reply string) (T, error)
	rule  string
}

var (
	readCode        = reading[string]{parseCode, "Reply with one ```python code block that holds the whole code, and nothing else."}
	readStep        = reading[string]{parseStep, "Reply with the step alone, one step, in a few short sentences, without code."}
	readVerdict     = reading[record.Verdict]{parseVerdict, "Reply in two lines: first `Verdict: sufficient`, `Verdict: unfinished`, `Verdict: insufficient` or `Verdict: inconclusive`, then `Reason:` or `Missing:` with one sentence."}
	readTwoVerdicts = reading[record.Verdict]{parseTwoVerdicts, "Reply in two lines: first `Verdict: sufficient`, `Verdict: unfinished` or `Verdict: insufficient`, then `Reason:` or `Missing:` with one sentence."}
	readYesNo       = reading[record.Verdict]{parseYesNo, "Reply with `Yes` or `No`, and nothing else."}
	readForm        = reading[string]{parseForm, "Reply with `Form: fits`, or in two lines with `Form: does not fit` and then `Problem:` with one sentence."}
	readText        = reading[string]{parseText, "Reply with the shortened report alone."}
)

// readRoute is how a route is read for a plan of the given number of steps.
func readRoute(steps int) reading[record.Route] {
	rule := fmt.Sprintf("Reply with `Add Step`, or with `Step` and a number from 1 to %d, and nothing else.", steps)
	switch {
	case steps < 1:
		rule = "Reply with `Add Step`, and nothing else."
	case steps == 1:
		rule = "Reply with `Add Step` or `Step 1`, and nothing else."
	}
	return reading[record.Route]{func(reply string) (record.Route, error) { return parseRoute(reply, steps) }, rule}
}

// The lengths, in bytes, beyond which nothing is read. A regular expression
// takes up to some microseconds per byte, and no judgement needs ten pages.
const (
	longest  = 2 << 20
	longTalk = 32 << 10 // of what is not code
)

// read lets a parser read the visible part of a reply of at most most bytes.
// What it cannot read may be a refusal.
func read[T any](reply string, most int, parse func(text string) (T, error)) (T, error) {
	var none T
	text, err := visible(reply)
	switch {
	case err != nil:
		return none, err
	case len(text) > most:
		return none, errLong
	}
	value, err := parse(text)
	if err == nil {
		return value, nil
	}
	if refuses(text) {
		return none, errRefusal
	}
	return none, err
}

// parseText reads a text of which nothing is asked but that there is one.
func parseText(reply string) (string, error) {
	return read(reply, longest, func(text string) (string, error) {
		if refuses(text) {
			return "", errRefusal
		}
		return text, nil
	})
}

var (
	sorry   = lazy.Regexp(`(?i)^(?:unfortunately|(?:i['’]m|i\s+am|we['’]re)\s+(?:\w+\s+)?(?:sorry|afraid)|sorry|(?:i\s+|my\s+)?apolog(?:i[sz]e|ies))\b`)
	cannot  = lazy.Regexp(`(?i)\b(?:cannot|can\s+not|can['’]?t|won['’]?t|will\s+not|(?:un|not\s+)able\s+to|must\s+decline)\b`)
	refusal = lazy.Regexp(`(?i)^(?:as\s+an\s+ai\b|i\s+(?:must|have\s+to)\s+(?:decline|refuse)\b|` +
		`i\s*(?:cannot|can\s+not|can['’]?t|won['’]?t|will\s+not|am\s+(?:un|not\s+)able\s+to|['’]m\s+(?:un|not\s+)able\s+to)\s+(?:\w+\s+)?` +
		`(?:help|assist|comply|do|provide|fulfil+|answer|continue|complete|process|generate|create|write|engage|support|discuss|perform|access)\b)`)
	notYet = lazy.Regexp(`(?i)\b(?:yet|until|before)\b`)
)

// refuses reports whether a text begins with a refusal. One that says what it
// cannot do yet is a plan instead.
func refuses(text string) bool {
	text = strings.TrimLeft(text, "*_#>\"'` \t\n")
	if len(text) > 300 {
		text = text[:300]
	}
	first, _, _ := strings.Cut(text, ". ")
	if notYet().MatchString(first) {
		return false
	}
	return refusal().MatchString(text) || sorry().MatchString(text) && cannot().MatchString(text)
}
