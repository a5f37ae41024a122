package ask

import (
	"errors"
	"fmt"
	"strings"

	"dsstar/agent/llm"
	"dsstar/notebook/lazy"
)

// An Error says that a model's reply could not be read even after the rule was quoted to it.
// The role decides what follows.
type Error struct{ Role, Subject, Problem, Reply string }

func (e *Error) Error() string {
	return fmt.Sprintf("the %s's reply for %s could not be used: %s", e.Role, e.Subject, e.Problem)
}

// A PartError says that one part of a reply cannot be read. The value has the others, and says of
// that part that it could not be read.
type PartError struct{ error }

func isPart(err error) bool {
	_, is := errors.AsType[*PartError](err)
	return is
}

var (
	errEmpty   = errors.New("it is empty")
	errCut     = errors.New("it was cut off by the limit on its length")
	errRefusal = errors.New("it is a refusal")
	errLong    = errors.New("it is far too long")
)

// A Format reads the replies of one kind.
type Format[T any] struct {
	Rule  string                       // quoted to the model when its reply cannot be read
	Parse func(text string) (T, error) // reads a reply without its thoughts

	// Form asks for the form in text, where the endpoint takes no schema. Only requests whose words
	// do not say so themselves need it.
	Form   string
	Schema *llm.Schema // nil: the reply is text
}

// Read reads a reply. One that was cut off is not read, however well its beginning reads.
func (f Format[T]) Read(reply llm.Reply) (T, error) {
	var none T
	switch reply.Finish {
	case "length":
		return none, errCut
	case "content_filter":
		return none, errRefusal
	}
	text, err := Visible(reply.Text)
	if err != nil {
		return none, err
	}
	value, err := f.Parse(text)
	switch {
	case err == nil || isPart(err):
		return value, err
	case refuses(text):
		return none, errRefusal
	}
	return none, err
}

// anyText is any text except a refusal.
var anyText = Format[string]{
	Rule: "Reply with the shortened report alone.",
	Parse: func(text string) (string, error) {
		if refuses(text) {
			return "", errRefusal
		}
		return text, nil
	},
}

// longestReply is the length, in bytes, beyond which nothing is read.
const longestReply = 1 << 20

// Visible returns a reply without the thoughts that some models send in tags before it. The
// result is never empty; an empty fence counts as empty.
func Visible(reply string) (string, error) {
	if len(reply) > longestReply {
		return "", errLong
	}
	text := strings.ReplaceAll(strings.TrimPrefix(reply, "\ufeff"), "\r\n", "\n")
	text = withoutThoughts(text)
	if strings.Trim(text, "`~ \t\n") == "" {
		return "", errEmpty
	}
	return strings.Trim(strings.TrimRight(text, " \t\n"), "\n"), nil
}

var thoughtTag = lazy.Regexp(`(?i)<(/?)(?:think|thinking|thought|thoughts|reasoning)>|\[(/?)THINK\]`)

// withoutThoughts removes thoughts at the beginning, also those whose opening tag was not sent. Tags
// after the first words of the reply belong to it.
func withoutThoughts(text string) string {
	start, thinking := 0, false // start: of what is no thought
	for _, m := range thoughtTag().FindAllStringSubmatchIndex(text, -1) {
		closing := m[2] != m[3] || m[4] != m[5]
		switch {
		case closing && (thinking || start == 0):
			start, thinking = m[1], false
		case thinking:
		case closing, strings.TrimSpace(text[start:m[0]]) != "":
			return text[start:]
		default:
			thinking = true
		}
	}
	if thinking {
		return "" // nothing but thoughts
	}
	return text[start:]
}

var (
	sorry   = lazy.Regexp(`(?i)^(?:unfortunately|(?:i['’]m|i\s+am|we['’]re)\s+(?:\w+\s+)?(?:sorry|afraid)|sorry|(?:i\s+|my\s+)?apolog(?:i[sz]e|ies))\b`)
	cannot  = lazy.Regexp(`(?i)\b(?:cannot|can\s+not|can['’]?t|won['’]?t|will\s+not|(?:un|not\s+)able\s+to|must\s+decline)\b`)
	refusal = lazy.Regexp(`(?i)^(?:as\s+an\s+ai\b|i\s+(?:must|have\s+to)\s+(?:decline|refuse)\b|` +
		`i\s*(?:cannot|can\s+not|can['’]?t|won['’]?t|will\s+not|am\s+(?:un|not\s+)able\s+to|['’]m\s+(?:un|not\s+)able\s+to)\s+(?:\w+\s+)?` +
		`(?:help|assist|comply|do|provide|fulfil+|answer|continue|complete|process|generate|create|write|engage|support|discuss|perform|access)\b)`)
	notYet = lazy.Regexp(`(?i)\b(?:yet|until|before)\b`)
)

// refuses reports whether a text begins with a refusal. A text that says what it cannot do
// yet is a plan instead.
func refuses(text string) bool {
	text = strings.TrimLeft(text, "*_#>\"'` \t\n")
	text = text[:min(len(text), 300)]
	first, _, _ := strings.Cut(text, ". ")
	if notYet().MatchString(first) {
		return false
	}
	return refusal().MatchString(text) || sorry().MatchString(text) && cannot().MatchString(text)
}
