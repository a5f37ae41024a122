// Package ask asks a language model within limits, and reads its replies. It counts calls, tokens
// and cost, sends a reply that cannot be read back once with the rule, and shows less of earlier
// questions, files and outputs when a request is longer than the model's context.
//
// An [Asker] makes the requests of a run's roles, with [Role]. A [Budget] holds calls to [Limits].
//
// A [Format] reads replies, also as weak models write them: it reads what is clear, and makes an
// error of the rest. A new kind of reply is a struct, such as [Ruling], whose tags are the labels of
// its fields.
package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/llm"
	"dsstar/agent/mask"
	"dsstar/agent/record"
	"dsstar/notebook/lists"
	"dsstar/prompts"
)

// A Request is what a role asks, before it is put into words.
type Request struct {
	Role    string
	Subject string // which one, for people: "orders.csv", "round 3"; the reply does not rest on it
	Besides any    // plain data that the reply rests on, beside the words
	// Words returns the parts of the request. It is called again when they are too long.
	Words func() []prompts.Part
	// Talk is what was said after the words, by the model and to it in turn.
	Talk []llm.Message
}

// An Asker makes model calls within the limits and the model's context, and counts them: the
// requests of a run's roles, each once. It may be used by several goroutines at once.
type Asker struct {
	Settings
	*Budget
	Journal *journal.Journal // has the replies
	system  func() prompts.Part
	warn    func(text string) error

	mu    sync.Mutex
	sizes record.Sizes
	most  record.Sizes   // for what the model is still to be asked
	times map[string]int // requests since the beginning, by their grounds
	spent record.Spent
	busy  float64 // seconds
	about int     // the question, from 1; 0: none yet
}

// NewAsker returns an asker. Every request begins with system, if that is set; warn is told when
// less is shown from then on.
func NewAsker(s Settings, system func() prompts.Part, warn func(text string) error) *Asker {
	s.Mask = cmp.Or(s.Mask, mask.New(nil))
	sizes := firstSizes(s)
	a := &Asker{Settings: s, Budget: &Budget{Limits: s.Limits, Of: s.Of}, system: system,
		Journal: &journal.Journal{}, warn: warn, sizes: sizes, most: sizes, times: map[string]int{}}
	if s.Price != nil {
		a.spent.Cost = new(float64)
	}
	return a
}

// Begin has what a run asks about a question, by its number from 1, counted from the beginning: a
// request that it makes again is to have another reply, but when the run is retraced, the replies
// come in the same order.
func (a *Asker) Begin(question int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.times, a.about = map[string]int{}, question
}

// restsOn returns what a request of some parts says, as data.
func (r Request) restsOn(parts []prompts.Part) []any {
	if r.Talk != nil {
		return []any{parts, r.Talk}
	}
	return []any{parts}
}

// Role returns the reply to a request, which rests on its role and parts. A reply that cannot be
// read is sent back once with the rule; then the error is a *[Error]. While the request is longer
// than the model's context, all that the run shows is made shorter, for good.
func Role[T any](ctx context.Context, a *Asker, r Request, format Format[T]) (value T, err error) {
	for {
		sizes, parts := a.Sizes(), r.Words()
		ground := a.Journal.Digest(append([]any{r.Role, r.Besides}, r.restsOn(parts)...))
		a.mu.Lock()
		a.times[ground]++
		on := []any{ground, a.times[ground]}
		a.mu.Unlock()
		reply, err := journal.Once(ctx, a.Journal, "reply", on, func(ctx context.Context) (kept, error) {
			k, err := kept{}, llm.ErrContextLength
			if sizes == within(sizes, a.most) { // else they are those of a run that goes on
				k, err = askTwice(ctx, a, a.request(r, parts), format)
			}
			if errors.Is(err, llm.ErrContextLength) {
				return a.tooLong(sizes, r, parts, err)
			}
			return k, err
		})
		if err != nil {
			return value, err
		}
		if reply.Less != nil {
			a.ShowAs(within(a.Sizes(), *reply.Less))
			continue
		}
		if value, err = format.Read(llm.Reply{Text: reply.Text, Finish: reply.Finish}); err != nil {
			err = &Error{r.Role, r.Subject, err.Error(), visible(reply.Text), on}
		}
		return value, err
	}
}

// request puts a request of some parts into words.
func (a *Asker) request(r Request, parts []prompts.Part) llm.Request {
	said := llm.Request{Role: r.Role, Subject: r.Subject, Question: a.about, RestsOn: r.restsOn(parts),
		MaxTokens: a.MaxTokens, Messages: []llm.Message{{Role: "user", Text: prompts.Text(parts...)}}}
	said.Messages = append(said.Messages, r.Talk...)
	if a.system != nil {
		said.Messages = slices.Insert(said.Messages, 0, llm.Message{Role: "system", Text: prompts.Text(a.system())})
	}
	return said
}

// ForgetUnread has the request made again whose reply could not be read.
func (a *Asker) ForgetUnread(e *Error) { a.Journal.Forget("reply", e.on) }

// ReportChars is the length up to which an error report, already without the insides of libraries,
// is short enough for a debugger.
const ReportChars = 4000

// Summarize shortens a long error report by the model (DS-STAR section 3.3); one that no reply
// shortens is cut instead.
func (a *Asker) Summarize(ctx context.Context, subject, report, where string) (string, error) {
	if len(report) <= ReportChars {
		return report, nil
	}
	short, err := Role(ctx, a, Request{Role: "summarizer", Subject: subject, Words: func() []prompts.Part {
		return []prompts.Part{prompts.Summarizer{Error: brief.Clip(report, a.Sizes().Result), Where: where}}
	}}, AnyText)
	if _, unread := errors.AsType[*Error](err); unread {
		return brief.Clip(report, ReportChars), nil
	}
	return short, err
}

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
			a.Stream(request.Role, request.Subject, func() string { return a.Mask.Unmask(soFar()) })
		}
		a.Stream(request.Role, request.Subject, nil)
	}
	a.mask(&request)
	reply, err := a.Model.Ask(ctx, request)
	if err != nil {
		return reply, Overdue(ctx, err)
	}
	reply.Text = a.Mask.Unmask(strings.ToValidUTF8(reply.Text, "\uFFFD")) // as notebooks are
	a.pay(request, reply)
	if u := reply.Usage; !u.Estimated && u.InputTokens >= 1024 && u.InputTokens%1024 <= 2 &&
		utf8.RuneCountInString(fmt.Sprint(request.Messages)) > 5*u.InputTokens {
		// Ollama cuts to its context, or to half of it and two.
		err = fmt.Errorf("%w: of it the server has read only %d tokens", llm.ErrContextLength, u.InputTokens)
	}
	return reply, err
}

// mask puts stand-ins into a request, whose system message says what they are.
func (a *Asker) mask(request *llm.Request) {
	texts := lists.Map(request.Messages, func(m llm.Message) string { return m.Text })
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
func askTwice[T any](ctx context.Context, a *Asker, request llm.Request, format Format[T]) (kept, error) {
	if last := &request.Messages[len(request.Messages)-1].Text; format.Form != "" {
		*last = strings.TrimRight(*last, "\n") + "\n\n" + format.Form
	}
	reply, err := a.Call(ctx, request)
	if err != nil {
		return kept{}, err
	}
	if serves, problem := format.problem(reply); problem != nil {
		first := reply
		again := prompts.Text(prompts.Reask{Problem: problem.Error(), Rule: format.Rule})
		request.Subject += ", asked again"
		said := brief.Clip(cmp.Or(visible(reply.Text), "(nothing)"), ReportChars/2) // empty ones are refused, loops long
		request.Messages = append(slices.Clip(request.Messages),
			llm.Message{Role: "assistant", Text: said}, llm.Message{Role: "user", Text: again})
		if reply, err = a.Call(ctx, request); err != nil {
			return kept{}, err
		}
		if again, _ := format.problem(reply); serves && !again {
			reply = first
		} else if filled(first, reply) {
			return kept{}, fmt.Errorf("%w: it leaves no room for the reply", llm.ErrContextLength)
		}
	}
	return kept{Text: reply.Text, Finish: reply.Finish}, nil
}

// filled reports whether two replies of no great length were both cut where the same context ended.
func filled(first, second llm.Reply) bool {
	u, v := first.Usage, second.Usage
	return first.Finish == "length" && second.Finish == "length" && u.InputTokens > max(1024, 2*u.OutputTokens) &&
		(u.InputTokens+u.OutputTokens-v.InputTokens-v.OutputTokens)/8 == 0
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
