package agent

import (
	"context"
	"maps"
	"slices"

	"dsstar/agent/brief"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/notebook"
)

// The functions of this file are what agents other than the loop share with it,
// so that all are measured on one footing.

// A Caller makes the model calls of such an agent as the loop makes its own:
// within the limits of a Config, and counted. It may be used by several goroutines
// at once.
type Caller struct{ own caller }

// NewCaller returns a caller that has made no calls yet. Of cfg it uses Model,
// Prompts, Limits, Price and Stream.
func NewCaller(cfg Config) *Caller {
	c := &Caller{caller{cfg: cfg, t: &record.Trajectory{}}}
	if cfg.Price != nil {
		c.own.t.Cost = new(float64)
	}
	return c
}

// Within does work in the time that the limits allow. The error is a
// *[BudgetError] when that has ended the work.
func (c *Caller) Within(ctx context.Context, work func(context.Context) error) error {
	return c.own.within(ctx, work)
}

// Call makes one call. Errors are a *[BudgetError], those of the model, and ctx's.
func (c *Caller) Call(ctx context.Context, r llm.Request) (llm.Reply, error) {
	return c.own.call(ctx, r)
}

// Spent is what the calls so far have used.
type Spent struct {
	Usage  record.Usage            `json:"usage"`
	ByRole map[string]record.Usage `json:"by_role,omitempty"`
	Cost   *float64                `json:"cost_usd"` // nil: a price is not known
	Models []string                `json:"models,omitempty"`
	Model  float64                 `json:"seconds"` // during which a call was under way
}

// Spent returns what the calls so far have used.
func (c *Caller) Spent() Spent {
	c.own.mu.Lock()
	defer c.own.mu.Unlock()
	t, cost := c.own.t, c.own.t.Cost
	if cost != nil {
		cost = new(*cost)
	}
	return Spent{t.Usage, maps.Clone(t.ByRole), cost, slices.Clone(t.Models), c.own.model.seconds()}
}

// Ask makes a call and reads the reply. One that cannot be read is sent back once
// with the rule, in a second call; then the error is a *[reply.Error].
func Ask[T any](ctx context.Context, c *Caller, r llm.Request, format reply.Format[T]) (T, error) {
	first, err := c.own.call(ctx, r)
	if err != nil {
		return *new(T), err
	}
	return readOrAskAgain(ctx, &c.own, r, first, format)
}

// ErrorReport returns what a model needs of a failed execution: the frames in the
// cell whole, those in libraries by name only, the message, and of what was printed
// before at most about a quarter of most bytes.
func ErrorReport(e notebook.Execution, most int) string { return brief.ErrorReport(e, most) }

// Problem is what was wrong with an execution, in one line.
func Problem(e notebook.Execution) string { return brief.Problem(e) }

// Clip returns at most about n bytes of a text: its beginning and its end, with a
// line between them that says how much was cut.
func Clip(text string, n int) string { return brief.Clip(text, n) }

// PythonString returns s as a Python string literal in one line.
func PythonString(s string) string { return brief.Python(s) }

// Size is a number of bytes for people: 512 bytes, 3.4 MB.
func Size(bytes int64) string { return brief.Size(bytes) }
