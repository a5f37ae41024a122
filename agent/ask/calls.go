package ask

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"dsstar/agent/llm"
	"dsstar/agent/mask"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// Settings say how a model is asked. Model is required.
type Settings struct {
	Model  llm.Model
	Limits Limits
	Of     *Budget                             // of which these are calls, too; nil: none
	Price  func(role string) (llm.Price, bool) // nil: no price is known

	MaxTokens        int // of one reply; 0: the model's own limit
	Context          int // tokens that the model's context holds; 0: enough for the sizes below
	ResultChars      int // of one step's output
	DescriptionChars int // of one file's description
	ContextChars     int // of all descriptions together

	Mask *mask.Masker // of what goes to the model; nil: masks credentials

	// Stream, if set, is told of a request when it is sent, with nil, and of the reply as it comes,
	// from the beginning when a call is repeated: soFar returns all of it up to then, and may be
	// called later. Stream must not block. Calls for different subjects may be concurrent.
	Stream func(role, subject string, soFar func() string)
}

// Spent returns what the calls so far have used, and their seconds.
func (a *Asker) Spent() (spent record.Spent, seconds float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.spent, a.busy
}

// Continue counts on from what was used before. The limits begin anew.
func (a *Asker) Continue(before record.Spent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent = before
}

// Call makes a request of the model and counts it. What is to be masked leaves as stand-ins, and they
// are turned back in the reply: nothing else asks a model. Errors are a *[BudgetError], those of the
// model, and ctx's.
func (a *Asker) Call(ctx context.Context, request llm.Request) (llm.Reply, error) {
	if err := a.reserve(); err != nil {
		return llm.Reply{}, err
	}
	if a.Stream != nil {
		request.OnText = func(soFar func() string) {
			unmasked := func() string { return a.Mask.Unmask(soFar()) }
			a.Stream(request.Role, request.Subject, unmasked)
		}
		a.Stream(request.Role, request.Subject, nil)
	}
	a.mask(&request)
	reply, err := a.Model.Ask(ctx, request)
	if err != nil {
		return reply, Overdue(ctx, err)
	}
	// as notebooks are
	reply.Text = a.Mask.Unmask(strings.ToValidUTF8(reply.Text, "\uFFFD"))
	a.pay(request, reply)
	return reply, nil
}

// mask puts stand-ins into a request, whose system message says what they are.
func (a *Asker) mask(request *llm.Request) {
	var texts []string
	for _, m := range request.Messages {
		texts = append(texts, m.Text)
	}
	request.Messages = slices.Clone(request.Messages)
	for i, text := range a.Mask.MaskAll(texts) {
		request.Messages[i].Text = text
	}
	request.Messages[0].Text += a.Mask.Note()
	request.Ground = llm.GroundOf(a.Mask.MaskAll, request.RestsOn...)
}

// pay counts the calls of a request and their cost. A sum that lacks a part is none.
func (a *Asker) pay(request llm.Request, reply llm.Reply) {
	price, known := llm.Price{}, false
	if a.Price != nil {
		price, known = a.Price(request.Role)
	}
	cost := price.Cost(reply.Usage)
	a.Budget.pay(cost)
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.spent
	a.busy += reply.Seconds
	if s.Cost != nil && known {
		s.Cost = new(*s.Cost + cost)
	} else {
		s.Cost = nil
	}
	own := s.ByRole[request.Role]
	for _, sum := range []*record.Usage{&own, &s.Usage} {
		sum.Calls++
		sum.Add(reply.Usage)
	}
	s.ByRole = maps.Collect(maps.All(s.ByRole)) // another one has been returned
	s.ByRole[request.Role] = own
	if reply.Model != "" && !slices.Contains(s.Models, reply.Model) {
		s.Models = append(s.Models, reply.Model)
	}
}

// A kept reply is what is recorded of it.
type kept struct {
	Text   string        `json:"text"`
	Finish string        `json:"finish,omitempty"`
	Less   *record.Sizes `json:"less,omitempty"` // it was too long: what is shown instead
}

// askTwice makes a request, and makes it again with the rule if the reply cannot be read.
func askTwice[T any](ctx context.Context, a *Asker, request llm.Request,
	format Format[T]) (kept, error) {
	if last := &request.Messages[len(request.Messages)-1].Text; format.Form != "" {
		*last = strings.TrimRight(*last, "\n") + "\n\n" + format.Form
	}
	reply, err := a.Call(ctx, request)
	if err != nil {
		return kept{}, err
	}
	if _, problem := format.Read(reply); problem != nil {
		again := prompts.Text(prompts.Reask{Problem: problem.Error(), Rule: format.Rule})
		request.Subject += ", asked again"
		request.Messages = append(slices.Clip(request.Messages),
			llm.Message{Role: "assistant", Text: reply.Text}, llm.Message{Role: "user", Text: again})
		if reply, err = a.Call(ctx, request); err != nil {
			return kept{}, err
		}
	}
	return kept{Text: reply.Text, Finish: reply.Finish}, nil
}

// A Stopwatch adds up how long operations take, also of those at the same time.
type Stopwatch struct{ total atomic.Int64 }

// Start begins an operation; the function that it returns ends it.
func (w *Stopwatch) Start() (stop func()) {
	begin := time.Now()
	return func() { w.total.Add(int64(time.Since(begin))) }
}

// Seconds returns the time of the operations that have ended.
func (w *Stopwatch) Seconds() float64 { return time.Duration(w.total.Load()).Seconds() }
