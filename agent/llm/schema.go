package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// A Schema is a JSON schema, strict: every property is required, and there are no others.
type Schema struct {
	Name string
	JSON json.RawMessage
}

// InText returns the request as it is sent without a schema.
func (r Request) InText() Request {
	if last := len(r.Messages) - 1; r.Form != "" && last >= 0 {
		r.Messages = slices.Clone(r.Messages)
		r.Messages[last].Text = strings.TrimRight(r.Messages[last].Text, "\n") + "\n\n" + r.Form
	}
	r.Schema, r.Form = nil, ""
	return r
}

// schemas is what is known of an endpoint's support for schemas.
type schemas struct {
	refused atomic.Bool // it has refused or ignored one: no more are sent
	taken   atomic.Bool // it has replied to one with an object
}

// ignored reports whether a reply shows that the endpoint ignores schemas. Once it has followed
// one, a reply without an object is the model's fault.
func (s *schemas) ignored(schema *Schema, reply Reply) bool {
	if schema.fits(reply.Text) {
		s.taken.Store(true)
	}
	return !s.taken.Load() && reply.Finish == "stop"
}

// fits reports whether a text has all names that the schema requires.
func (s *Schema) fits(text string) bool {
	var names struct{ Required []string }
	_ = json.Unmarshal(s.JSON, &names) // else every text fits
	return !slices.ContainsFunc(names.Required, func(name string) bool {
		return !strings.Contains(text, `"`+name+`"`)
	})
}

// Ask sends the request's images as long as the endpoint takes them. One that refuses them is asked
// again at once without, and from then on.
func (m chat) Ask(ctx context.Context, r Request) (Reply, error) {
	if m.noImages.Load() {
		r.Images = nil
	}
	reply, err := m.askInForm(ctx, r)
	if err == nil || len(r.Images) == 0 || !refuses(err, imageWords) {
		reply.Images = len(r.Images) > 0
		return reply, err
	}
	m.noImages.Store(true)
	r.Images = nil
	return m.askInForm(ctx, r)
}

// askInForm asks by the request's schema as long as the endpoint takes them. One that refuses or
// ignores a schema is asked again at once, in text, and from then on.
func (m chat) askInForm(ctx context.Context, r Request) (Reply, error) {
	if r.Schema == nil || m.schemas.refused.Load() {
		return m.ask(ctx, r.InText())
	}
	first, err := m.ask(ctx, r)
	switch {
	case err == nil && !m.schemas.ignored(r.Schema, first):
		first.Schema = true
		return first, nil
	case err != nil && !refuses(err, schemaWords):
		return first, err
	}
	m.schemas.refused.Store(true)
	reply, err := m.ask(ctx, r.InText())
	if err != nil {
		return reply, err
	}
	reply.Usage.Add(first.Usage)
	reply.Retries += first.Retries + 1
	reply.Seconds += first.Seconds
	return reply, nil
}

// refuses reports whether an error response is about what the words name.
func refuses(err error, words []string) bool {
	var refused *StatusError
	if !errors.As(err, &refused) || errors.Is(err, ErrContextLength) {
		return false
	}
	switch refused.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotFound,
		http.StatusNotImplemented, http.StatusUnsupportedMediaType:
	default:
		return false
	}
	said := strings.ToLower(refused.code + " " + refused.Message)
	return slices.ContainsFunc(words, func(word string) bool {
		return strings.Contains(said, word)
	})
}

// schemaWords are in the errors of endpoints that do not take a schema.
var schemaWords = []string{
	"response_format", "response format", "schema", "structured output", "grammar", "guided",
}
