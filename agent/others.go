package agent

import (
	"context"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/llm"
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
	c := &Caller{caller{cfg: cfg, t: &Trajectory{}}}
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
	Usage  Usage            `json:"usage"`
	ByRole map[string]Usage `json:"by_role,omitempty"`
	Cost   *float64         `json:"cost_usd"` // nil: a price is not known
	Models []string         `json:"models,omitempty"`
	Model  float64          `json:"seconds"` // during which a call was under way
}

// Spent returns what the calls so far have used.
func (c *Caller) Spent() Spent {
	c.own.mu.Lock()
	defer c.own.mu.Unlock()
	t := c.own.t
	return Spent{t.Usage, maps.Clone(t.ByRole), copied(t.Cost), slices.Clone(t.Models), c.own.model.seconds()}
}

// Ask makes a call and reads the reply: what of it is no thought goes to parse. A
// reply that cannot be read is sent back once with the rule, in a second call; then
// the error is a *[ReplyError].
func Ask[T any](ctx context.Context, c *Caller, r llm.Request, parse func(text string) (T, error), rule string) (T, error) {
	reply, err := c.own.call(ctx, r)
	if err != nil {
		return *new(T), err
	}
	how := reading[T]{func(reply string) (T, error) { return read(reply, longest, parse) }, rule}
	return readOrAskAgain(ctx, &c.own, r, reply, how)
}

// Visible is a reply without the thoughts that some models send before it, in tags.
func Visible(reply string) (string, error) { return visible(reply) }

// ParseCode returns the one Python code block of a text, as [Run] reads it.
func ParseCode(text string) (string, error) { return codeIn(text) }

// A Block is a code block of a text.
type Block struct{ Language, Code string }

// Blocks returns the code blocks of a text, in order, that are closed.
func Blocks(text string) (all []Block) {
	blocks, _ := codeBlocks(text)
	for _, b := range blocks {
		language, _, _ := strings.Cut(b.info, " ")
		if b.isPython() {
			language = "python"
		}
		if b.closed {
			all = append(all, Block{language, b.code})
		}
	}
	return all
}

// ErrorReport returns what a model needs of a failed execution: the frames in the
// cell whole, those in libraries by name only, the message, and of what was printed
// before at most about a quarter of most bytes.
func ErrorReport(e notebook.Execution, most int) string { return errorReport(e, most) }

// Problem is what was wrong with an execution, in one line.
func Problem(e notebook.Execution) string { return oneLine(e) }

// Clip returns at most about n bytes of a text: its beginning and its end, with a
// line between them that says how much was cut.
func Clip(text string, n int) string { return clip(text, n) }

// Prose shows somebody's words in Markdown as they are, line by line.
func Prose(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = prose(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n\n")
}

// PythonString returns s as a Python string literal in one line.
func PythonString(s string) string { return pyString(s) }

// Size is a number of bytes for people: 512 bytes, 3.4 MB.
func Size(bytes int64) string { return fileSize(bytes) }
