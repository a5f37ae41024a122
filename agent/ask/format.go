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
	errNoStep  = errors.New("it gives no step")
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
var anyText = Format[string]{Rule: "Reply with the shortened report alone.",
	Parse: func(text string) (string, error) { return text, isSaid(text) }}

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
	if strings.Trim(text, "`~ \t\r\n") == "" {
		return "", errEmpty
	}
	return strings.Trim(strings.TrimRight(text, " \t\n"), "\n"), nil
}

var (
	thinks     = lazy.Regexp(`(?i)<(?:think|thinking|thoughts?|reasoning)>|\[THINK\]`)
	hasThought = lazy.Regexp(`(?i)</(?:think|thinking|thoughts?|reasoning)>|\[/THINK\]`)
)

// withoutThoughts removes thoughts at the beginning, also those whose opening tag was not sent.
// Tags after the first words of the reply belong to it.
func withoutThoughts(text string) string {
	for range 10 { // more would take too long
		begin, end := thinks().FindStringIndex(text), hasThought().FindStringIndex(text)
		switch {
		case begin == nil && end == nil:
			return text
		case begin != nil && (end == nil || begin[0] < end[0]) && strings.TrimSpace(text[:begin[0]]) != "":
			return text
		case end == nil:
			return "" // nothing but thoughts
		}
		text = text[end[1]:]
	}
	return text
}

const cannot = `\b(?:cannot|can\s+not|can['’]?t|won['’]?t|(?:am\s+)?(?:un|not\s+)able\s+to|must\s+decline)\b`

var refusal = lazy.Regexp(`(?i)^\W*(?:as\s+an\s+ai\b` +
	`|[^.\n]*\b(?:sorry|unfortunately|apologi[sz]e)\b[^.\n]*` + cannot + `|i\s+` + cannot + `\s+(?:help|assist|comply|do|provide|fulfil+|answer|judge|write|engage|support|discuss)\b)`)

// refuses reports whether a text begins with a refusal.
func refuses(text string) bool { return refusal().MatchString(text[:min(len(text), 300)]) }

// isSaid returns why a text says nothing.
func isSaid(text string) error {
	switch {
	case text == "":
		return errNoStep
	case refuses(text):
		return errRefusal
	}
	return nil
}
