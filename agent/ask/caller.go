package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"dsstar/agent/llm"
	"dsstar/agent/mask"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// Settings say how a model is asked. Model and Prompts are required.
type Settings struct {
	Model   llm.Model
	Prompts *prompts.Set
	Limits  Limits
	Price   func(role string) (llm.Price, bool) // nil: no price is known

	MaxTokens        int // of one reply; 0: the model's own limit
	Context          int // tokens that the model's context holds; 0: enough for the sizes below
	ResultChars      int // of one step's output
	DescriptionChars int // of one file's description
	ContextChars     int // of all descriptions together

	Mask *mask.Masker // of what goes to the model; nil: masks credentials

	// Stream, if set, is told of a request when it is sent, with nil, and of the reply as
	// it comes: soFar returns all of it up to then, and may be called later. The reply
	// begins again when a call is repeated. Stream must not block. Calls for different
	// subjects may be concurrent.
	Stream func(role, subject string, soFar func() string)
}

// A Caller makes model calls within the limits, and counts them. It may be used by
// several goroutines at once.
type Caller struct {
	Settings
	*Budget

	mu    sync.Mutex
	spent Spent
	asked int // bytes of all requests
	busy  Stopwatch
}

// Spent is what calls have used.
type Spent struct {
	Usage  record.Usage            `json:"usage"`
	ByRole map[string]record.Usage `json:"by_role,omitempty"`
	Cost   *float64                `json:"cost_usd"` // nil: a price is not known
	Models []string                `json:"models,omitempty"`
	Model  float64                 `json:"seconds"` // during which a call was under way
}

// NewCaller returns a caller that has made no calls yet.
func NewCaller(s Settings) *Caller {
	if s.Mask == nil {
		s.Mask = mask.New(nil)
	}
	c := &Caller{Settings: s, Budget: &Budget{Limits: s.Limits, Price: s.Price}}
	if s.Price != nil {
		c.spent.Cost = new(float64)
	}
	return c
}

// Spent returns what the calls so far have used.
func (c *Caller) Spent() Spent {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.spent
	if s.Cost != nil {
		s.Cost = new(*s.Cost)
	}
	s.ByRole, s.Models, s.Model = maps.Clone(s.ByRole), slices.Clone(s.Models), c.busy.Seconds()
	return s
}

// Continue counts on from what was used before. The limits begin anew.
func (c *Caller) Continue(before Spent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Settings.Price == nil {
		before.Cost = nil // what goes on from here has no price
	}
	c.spent = before
}

// Call makes one model call and counts it. What is to be masked leaves as stand-ins, and they are
// turned back in the reply: nothing else asks a model. Errors are a *[BudgetError], those of the
// model, and ctx's.
func (c *Caller) Call(ctx context.Context, request llm.Request) (llm.Reply, error) {
	if err := c.Reserve(); err != nil {
		return llm.Reply{}, err
	}
	if c.Stream != nil {
		role, subject := request.Role, request.Subject
		request.OnText = func(soFar func() string) {
			c.Stream(role, subject, func() string { return c.Mask.Unmask(soFar(), false) })
		}
		c.Stream(role, subject, nil)
	}
	c.mask(&request)
	stop := c.busy.Start()
	reply, err := c.Model.Ask(ctx, request)
	stop()
	if err != nil {
		return reply, Overdue(ctx, err)
	}
	// as notebooks are
	reply.Text = c.Mask.Unmask(strings.ToValidUTF8(reply.Text, "\uFFFD"), reply.Schema)
	c.pay(request.Role, 1, reply.Usage)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range request.Messages {
		c.asked += len(m.Text)
	}
	if reply.Model != "" && !slices.Contains(c.spent.Models, reply.Model) {
		c.spent.Models = append(c.spent.Models, reply.Model)
	}
	return reply, nil
}

// mask puts stand-ins into a request, whose first message says what they are.
func (c *Caller) mask(request *llm.Request) {
	var texts []string
	for _, m := range request.Messages {
		texts = append(texts, m.Text)
	}
	texts = c.Mask.MaskAll(texts)
	request.Messages = slices.Clone(request.Messages)
	for i := range request.Messages {
		request.Messages[i].Text = texts[i]
	}
	if len(request.Messages) > 0 {
		request.Messages[0].Text += c.Mask.Note()
	}
	request.Ground = llm.GroundOf(c.Mask.MaskAll, request.RestsOn...)
}

// Rank scores texts by the embedding model, which takes at most batch of them in one
// call, and counts the calls.
func (c *Caller) Rank(ctx context.Context, embedder llm.Model, question string, texts []string,
	batch int) (scores []float64, err error) {
	const role = "retriever"
	for range len(texts)/batch + 1 {
		if err := c.Reserve(); err != nil {
			return nil, err
		}
	}
	if c.Stream != nil {
		c.Stream(role, "files", nil)
	}
	masked := c.Mask.MaskAll(append([]string{question}, texts...))
	stop := c.busy.Start()
	reply, err := embedder.Ask(ctx, llm.ToRank(masked[0], masked[1:]))
	stop()
	if err != nil {
		return nil, err
	}
	c.pay(role, reply.Calls, reply.Usage)
	if err := json.Unmarshal([]byte(reply.Text), &scores); err != nil {
		return nil, fmt.Errorf("the embedding model's reply is not a list of scores: %w", err)
	}
	return scores, nil
}

// pay counts reserved calls of a role and their cost.
func (c *Caller) pay(role string, calls int, u llm.Usage) {
	cost, known := c.Pay(role, u)
	c.count(role, calls, u, cost, known)
}

func (c *Caller) count(role string, calls int, u llm.Usage, cost float64, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spent.ByRole == nil {
		c.spent.ByRole = map[string]record.Usage{}
	}
	own := c.spent.ByRole[role]
	for _, sum := range []*record.Usage{&own, &c.spent.Usage} {
		sum.Calls += calls
		sum.Add(u)
	}
	c.spent.ByRole[role] = own
	switch {
	case c.spent.Cost == nil:
	case known:
		c.spent.Cost = new(*c.spent.Cost + cost)
	default:
		c.spent.Cost = nil // a sum that lacks a part is none
	}
}

// TokensPerByte returns the average number of input tokens per byte of the requests so far.
func (c *Caller) TokensPerByte() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked > 20_000 && !c.spent.Usage.Estimated {
		return float64(c.spent.Usage.InputTokens) / float64(c.asked)
	}
	return 0.25
}

// AskedAgain ends the subject of a request that follows a reply which could not be read.
const AskedAgain = ", asked again"

// Model makes a call and reads the reply. One that cannot be read is sent back once
// with the rule, in a second call; then the error is a *[Error].
func Model[T any](ctx context.Context, c *Caller, request llm.Request,
	format Format[T]) (T, error) {
	request.Schema, request.Form = format.Schema, format.Form
	first, err := c.Call(ctx, request)
	if err != nil {
		return *new(T), err
	}
	value, _, err := readOrAskAgain(ctx, c, request, first, format)
	return value, err
}

// readOrAskAgain reads a reply, or the one that follows when the rule was quoted, and returns the
// one that counts. A reply of which only a part cannot be read serves if none can be read whole.
func readOrAskAgain[T any](ctx context.Context, c *Caller, request llm.Request, first llm.Reply,
	format Format[T]) (value T, counts llm.Reply, err error) {
	var none T
	value, problem := format.Read(first)
	if problem == nil {
		return value, first, nil
	}
	again, err := c.Prompts.Text(prompts.Reask{Problem: problem.Error(), Rule: format.Rule})
	if err != nil {
		return none, first, err
	}
	if !first.Schema {
		request = request.InText()
	}
	subject, last := request.Subject, first
	counts = first
	request.Subject += AskedAgain
	request.Messages = append(slices.Clip(request.Messages),
		llm.Message{Role: "assistant", Text: first.Text}, llm.Message{Role: "user", Text: again})
	second, err := c.Call(ctx, request)
	switch {
	case err == nil:
		last = second
		if v, err := format.Read(second); err == nil || isPart(err) || !isPart(problem) {
			value, problem, counts = v, err, second
		}
	case !errors.Is(err, llm.ErrContextLength): // else there is no room to ask again
		return none, first, err
	}
	if problem != nil && !isPart(problem) {
		return none, last, &Error{Role: request.Role, Subject: subject, Problem: problem.Error(), Reply: last.Text}
	}
	return value, counts, nil
}
