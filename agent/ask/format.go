package ask

import (
	"errors"
	"fmt"
	"strings"

	"dsstar/agent/llm"
	"dsstar/notebook/lazy"
)

// An Error says that a model's reply could not be read even after the rule was quoted to it. The
// role decides what follows.
type Error struct {
	Role, Subject, Problem string
	Reply                  string // without thoughts
	on                     []any  // what it rests on
}

func (e *Error) Error() string {
	return fmt.Sprintf("the %s's reply for %s could not be used: %s", e.Role, e.Subject, e.Problem)
}

var (
	errNoStep  = errors.New("it gives no step")
	errEmpty   = errors.New("it is empty")
	errCut     = errors.New("it was cut off by the limit on its length")
	errRefusal = errors.New("it is a refusal")
)

// A Format reads the replies of one kind.
type Format[T any] struct {
	Rule  string                       // quoted to the model when its reply cannot be read
	Parse func(text string) (T, error) // reads a reply without its thoughts
	Form  string                       // asked for at the end of the request; "": none
}

// Read reads a reply. One that was cut off is not read, however well its beginning reads.
func (f Format[T]) Read(reply llm.Reply) (value T, err error) {
	text := visible(reply.Text)
	switch {
	case reply.Finish == "length":
		return value, errCut
	case reply.Finish == "content_filter":
		return value, errRefusal
	case text == "":
		return value, errEmpty
	}
	if value, err = f.Parse(text); err != nil {
		return *new(T), err
	}
	return value, nil
}

// AnyText is any text that is whole.
var AnyText = Format[string]{Rule: "Reply again, whole and shorter.",
	Parse: func(text string) (string, error) { return text, nil }}

// visible returns a reply without the thoughts that some models send in tags before it; "" if nothing
// is left but an empty fence.
func visible(reply string) string {
	text := strings.ReplaceAll(strings.TrimPrefix(reply, "\ufeff"), "\r\n", "\n")
	text = withoutThoughts(text)
	if strings.Trim(text, "`~ \t\r\n") == "" {
		return ""
	}
	return strings.Trim(strings.TrimRight(text, " \t\n"), "\n")
}

var (
	thinks   = lazy.Regexp(`(?i)<(?:think|thinking|thoughts?|reasoning)>|\[THINK\]`)
	thoughts = lazy.Regexp(`(?i)</(?:think|thinking|thoughts?|reasoning)>|\[/THINK\]`)
)

// withoutThoughts removes thoughts at the beginning, also those whose opening tag was not sent.
// Tags after the first words of the reply belong to it.
func withoutThoughts(text string) string {
	open, end := thinks().FindStringIndex(text), thoughts().FindStringIndex(text)
	begins := open != nil && strings.TrimSpace(text[:open[0]]) == ""
	switch {
	case end != nil && (open == nil || begins || end[0] < open[0]):
		return text[end[1]:]
	case begins:
		return "" // nothing but thoughts
	}
	return text
}
