package ask

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"dsstar/agent/brief"
	"dsstar/agent/llm"
	"dsstar/prompts"
)

// A Request is what a role asks, before it is put into words.
type Request struct {
	Role    string
	Subject string // which one: "orders.csv", "round 3"
	// Words returns the parts of the request. It is called again when they are too long.
	Words func() []prompts.Part
	// pictures that go with it, if the model takes any and they fit into its context
	Images []llm.Image
}

// An Asker makes the requests of a run's roles, and keeps them within the model's
// context.
type Asker struct {
	*Caller
	system func() prompts.Part
	warn   func(text string) error

	mu    sync.Mutex
	sizes Sizes
}

// NewAsker returns an asker. Every request begins with system; warn is told when
// less is shown from then on.
func NewAsker(s Settings, system func() prompts.Part, warn func(text string) error) *Asker {
	return &Asker{Caller: NewCaller(s), system: system, warn: warn, sizes: firstSizes(s)}
}

// Role makes a request and reads the reply. A reply that cannot be read is sent back
// once with the rule; then the error is a *[Error].
func Role[T any](ctx context.Context, a *Asker, r Request, format Format[T]) (T, error) {
	first, request, err := a.shorter(ctx, r, format.Schema, format.Form)
	if err != nil {
		return *new(T), err
	}
	return readOrAskAgain(ctx, a.Caller, request, first, format)
}

// shorter makes the first call of a request. While the request is longer than the
// model's context, all that the run shows is made shorter, for good.
func (a *Asker) shorter(ctx context.Context, r Request, schema *llm.Schema,
	form string) (llm.Reply, llm.Request, error) {
	for {
		sizes := a.Sizes()
		request, err := a.compose(r)
		if err != nil {
			return llm.Reply{}, request, err
		}
		request.Schema, request.Form = schema, form
		first, err := a.Call(ctx, request)
		for _, kind := range a.Mask.News() {
			if err := a.warn(fmt.Sprintf("the %s's request for %s would have had what looks like %s: it "+
				"is masked", r.Role, r.Subject, kind)); err != nil {
				return first, request, err
			}
		}
		if !errors.Is(err, llm.ErrContextLength) {
			return first, request, err
		}
		if len(r.Images) > 0 {
			r.Images = nil
			continue
		}
		shrunk, less := a.shrink(sizes)
		if !less {
			return first, request, err
		}
		if !shrunk {
			continue
		}
		if err := a.warn(fmt.Sprintf("the %s's request for %s was longer than the model's context: "+
			"from here on less of files and outputs is shown", r.Role, r.Subject)); err != nil {
			return first, request, err
		}
	}
}

// compose puts a request into words.
func (a *Asker) compose(r Request) (llm.Request, error) {
	system, err := a.Prompts.Text(a.system())
	if err != nil {
		return llm.Request{}, err
	}
	parts := r.Words()
	text, err := a.Prompts.Text(parts...)
	return llm.Request{
		Role: r.Role, Subject: r.Subject, RestsOn: []any{parts}, MaxTokens: a.MaxTokens, Images: r.Images,
		Messages: []llm.Message{{Role: "system", Text: system}, {Role: "user", Text: text}},
	}, err
}

// ReportChars is the length up to which an error report, already without the
// insides of libraries, is short enough for a debugger.
const ReportChars = 4000

// Summarize shortens a long error report by the model (DS-STAR section 3.3);
// one that no reply shortens is cut instead.
func (a *Asker) Summarize(ctx context.Context, subject, report, where string) (string, error) {
	if len(report) <= ReportChars {
		return report, nil
	}
	words := func() []prompts.Part {
		return []prompts.Part{prompts.Summarizer{Error: brief.Clip(report, a.Sizes().Result), Where: where}}
	}
	short, err := Role(ctx, a, Request{Role: "summarizer", Subject: subject, Words: words}, anyText)
	if _, unread := errors.AsType[*Error](err); unread {
		return brief.Clip(report, ReportChars), nil
	}
	return short, err
}
