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

// Settings say how a model is asked. Model is required.
type Settings struct {
	Model  llm.Model
	Limits Limits
	Price  func(role string) (llm.Price, bool) // nil: no price is known

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
	s.ByRole, s.Model = maps.Clone(s.ByRole), c.busy.Seconds()
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
	return c.call(ctx, c.Model, request, 1)
}

// call makes a request of a model that takes at most some calls.
func (c *Caller) call(ctx context.Context, model llm.Model, request llm.Request,
	most int) (llm.Reply, error) {
	for range most {
		if err := c.Reserve(); err != nil {
			return llm.Reply{}, err
		}
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
	reply, err := model.Ask(ctx, request)
	stop()
	if err != nil {
		return reply, Overdue(ctx, err)
	}
	// as notebooks are
	reply.Text = c.Mask.Unmask(strings.ToValidUTF8(reply.Text, "\uFFFD"), reply.Schema)
	c.count(request, reply)
	return reply, nil
}

// mask puts stand-ins into a request, whose system message says what they are.
func (c *Caller) mask(request *llm.Request) {
	texts := slices.Clone(request.Texts)
	for _, m := range request.Messages {
		texts = append(texts, m.Text)
	}
	texts, n := c.Mask.MaskAll(texts), len(request.Texts)
	request.Texts, request.Messages = texts[:n], slices.Clone(request.Messages)
	for i := range request.Messages {
		request.Messages[i].Text = texts[n+i]
	}
	if n == 0 && len(request.Messages) > 0 {
		request.Messages[0].Text += c.Mask.Note()
	}
	request.Ground = llm.GroundOf(c.Mask.MaskAll, request.RestsOn...)
}

// Rank scores texts by the embedding model, which takes at most batch of them in one
// call, and counts the calls.
func (c *Caller) Rank(ctx context.Context, embedder llm.Model, question string, texts []string,
	batch int) (scores []float64, err error) {
	request := llm.ToRank(question, texts)
	request.RestsOn = []any{question, texts}
	reply, err := c.call(ctx, embedder, request, len(texts)/batch+1)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(reply.Text), &scores); err != nil {
		return nil, fmt.Errorf("the embedding model's reply is not a list of scores: %w", err)
	}
	return scores, nil
}

// count counts the calls of a request and their cost.
func (c *Caller) count(request llm.Request, reply llm.Reply) {
	cost, known := c.Pay(request.Role, reply.Usage)
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.spent.ByRole[request.Role]
	for _, sum := range []*record.Usage{&own, &c.spent.Usage} {
		sum.Calls += max(1, reply.Calls)
		sum.Add(reply.Usage)
	}
	if c.spent.ByRole == nil {
		c.spent.ByRole = map[string]record.Usage{}
	}
	c.spent.ByRole[request.Role] = own
	if !known {
		c.spent.Cost = nil // a sum that lacks a part is none
	} else if c.spent.Cost != nil {
		c.spent.Cost = new(*c.spent.Cost + cost)
	}
	for _, m := range request.Messages {
		c.asked += len(m.Text)
	}
	if len(request.Texts) == 0 && reply.Model != "" && !slices.Contains(c.spent.Models, reply.Model) {
		c.spent.Models = append(c.spent.Models, reply.Model)
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
	reply, err := askTwice(ctx, c, request, format)
	if err != nil {
		return *new(T), err
	}
	return readKept(reply, request.Role, request.Subject, format)
}

// A kept reply is what is recorded of it.
type kept struct {
	Text   string `json:"text"`
	Finish string `json:"finish,omitempty"`
	Schema bool   `json:"schema,omitempty"`  // it was asked for by a schema
	Fault  string `json:"problem,omitempty"` // why it cannot be read
}

// readKept reads a reply that was kept.
func readKept[T any](k kept, role, subject string, format Format[T]) (T, error) {
	if k.Fault != "" {
		return *new(T), &Error{Role: role, Subject: subject, Problem: k.Fault, Reply: k.Text}
	}
	value, err := format.Read(llm.Reply{Text: k.Text, Finish: k.Finish})
	if isPart(err) {
		err = nil
	}
	return value, err
}

// askTwice makes a request, and makes it again with the rule if the reply cannot be read. It
// returns the reply that counts. One of which only a part cannot be read serves if none can be read
// whole. Pictures go with the request if there is room for them.
func askTwice[T any](ctx context.Context, c *Caller, request llm.Request,
	format Format[T]) (kept, error) {
	request.Schema, request.Form = format.Schema, format.Form
	reply, err := c.Call(ctx, request)
	if errors.Is(err, llm.ErrContextLength) && len(request.Images) > 0 {
		request.Images = nil
		reply, err = c.Call(ctx, request)
	}
	if err != nil {
		return kept{}, err
	}
	_, problem := format.Read(reply)
	if problem != nil {
		again := prompts.Text(prompts.Reask{Problem: problem.Error(), Rule: format.Rule})
		if !reply.Schema {
			request = request.InText()
		}
		request.Subject += AskedAgain
		request.Messages = append(slices.Clip(request.Messages),
			llm.Message{Role: "assistant", Text: reply.Text}, llm.Message{Role: "user", Text: again})
		second, err := c.Call(ctx, request)
		_, still := format.Read(second)
		switch {
		case errors.Is(err, llm.ErrContextLength): // there is no room to ask again
		case err != nil:
			return kept{}, err
		case !isPart(problem) || still == nil || isPart(still):
			reply, problem = second, still
		}
	}
	k := kept{Text: reply.Text, Finish: reply.Finish, Schema: reply.Schema}
	if problem != nil && !isPart(problem) {
		k.Fault = problem.Error()
	}
	return k, nil
}
