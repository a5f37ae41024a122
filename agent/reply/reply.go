package reply

import (
	"errors"
	"fmt"
	"strings"

	"dsstar/agent/llm"
	"dsstar/notebook/lazy"
)

// An Error says that a model's reply could not be read even after the rule was quoted to it.
// The role decides what follows.
type Error struct {
	Role, Subject, Problem, Reply string
	Kind                          Kind
}

func (e *Error) Error() string {
	return fmt.Sprintf("the %s's reply for %s could not be used: %s", e.Role, e.Subject, e.Problem)
}

// A PartError says that one part of a reply cannot be read. The value has the others, and says of
// that part that it could not be read.
type PartError struct{ error }

// IsPart reports whether an error is a [*PartError].
func IsPart(err error) bool {
	_, is := errors.AsType[*PartError](err)
	return is
}

// A Kind is the way in which a reply is unusable. Each has another remedy: another prompt,
// another model, a higher limit.
type Kind string

const (
	Empty      Kind = "empty"      // nothing, or nothing but thoughts
	Refusal    Kind = "refusal"    // the model will not do it, or its provider withheld what it said
	Cut        Kind = "cut"        // the limit on its length ended it
	Unreadable Kind = "unreadable" // it says something else, or two things at once
)

var (
	errEmpty   = errors.New("it is empty")
	errCut     = errors.New("it was cut off by the limit on its length")
	errRefusal = errors.New("it is a refusal")
	errLong    = errors.New("it is far too long")
)

// KindOf returns the kind of an error of [Format.Read].
func KindOf(err error) Kind {
	switch {
	case errors.Is(err, errEmpty):
		return Empty
	case errors.Is(err, errRefusal):
		return Refusal
	case errors.Is(err, errCut):
		return Cut
	}
	return Unreadable
}

// A Format reads the replies of one kind.
type Format[T any] struct {
	Rule  string                       // quoted to the model when its reply cannot be read
	Parse func(text string) (T, error) // reads a reply without its thoughts

	// Form asks for the form in text, where the endpoint takes no schema. Only requests whose words
	// do not say so themselves need it.
	Form   string
	Schema *llm.Schema // nil: the reply is text
}

// longestReply is the length, in bytes, beyond which nothing is read.
const longestReply = 1 << 20

// Read reads a reply. One that was cut off is not read, however well its beginning reads.
func (f Format[T]) Read(reply llm.Reply) (T, error) {
	var none T
	switch reply.Finish {
	case "length":
		return none, errCut
	case "content_filter":
		return none, errRefusal
	}
	return f.readText(reply.Text)
}

func (f Format[T]) readText(reply string) (T, error) {
	var none T
	text, err := Visible(reply)
	if err != nil {
		return none, err
	}
	value, err := f.Parse(text)
	if err == nil || IsPart(err) {
		return value, err
	}
	if refuses(text) {
		return none, errRefusal
	}
	return none, err
}

// Text is any text except a refusal.
var Text = Format[string]{
	Rule: "Reply with the shortened report alone.",
	Parse: func(text string) (string, error) {
		if refuses(text) {
			return "", errRefusal
		}
		return text, nil
	},
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
	if len(text) > 300 {
		text = text[:300]
	}
	first, _, _ := strings.Cut(text, ". ")
	if notYet().MatchString(first) {
		return false
	}
	return refusal().MatchString(text) || sorry().MatchString(text) && cannot().MatchString(text)
}
