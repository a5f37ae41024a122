package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"dsstar/notebook/disk"
)

// An Exchange is a request and its result: one line of a trace.
type Exchange struct {
	Time     time.Time `json:"time"`
	Role     string    `json:"role"`
	Subject  string    `json:"subject,omitempty"`
	Question int       `json:"question,omitempty"` // of the conversation, from 1
	Model    string    `json:"model,omitempty"`
	Messages []Message `json:"messages"`
	Ground   Ground    `json:"ground,omitzero"`
	Schema   string    `json:"schema,omitempty"` // name of the reply's; "": it is text
	Reply    string    `json:"reply"`
	Finish   string    `json:"finish,omitempty"`
	Usage    Usage     `json:"usage"`
	Cost     *float64  `json:"cost_usd,omitempty"` // nil: the price was not known
	Seconds  float64   `json:"seconds"`
	Error    string    `json:"error,omitempty"`   // if set, the call failed
	Stopped  bool      `json:"stopped,omitempty"` // it failed because the run was ended
}

// A Trace is an open trace.jsonl. Its methods may be called concurrently.
type Trace struct {
	Price func(role string) (Price, bool) // nil: no price is known; set before use
	lines *disk.Lines
}

// OpenTrace opens a trace for appending and creates it if necessary. An incomplete last line,
// from a crash, is removed. The caller must Close it.
func OpenTrace(path string) (*Trace, error) {
	lines, err := disk.OpenLines(path)
	if err != nil {
		return nil, fmt.Errorf("open trace: %w", err)
	}
	return &Trace{lines: lines}, nil
}

// Append writes e as one line and sets its time and cost. A partial write is undone.
func (t *Trace) Append(e Exchange) error {
	e.Time = time.Now().UTC()
	if t.Price != nil && e.Error == "" {
		if price, known := t.Price(e.Role); known {
			e.Cost = new(price.Cost(e.Usage))
		}
	}
	if err := t.lines.Append(e); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}

// Close closes the file. Append fails afterwards; a second Close does nothing.
func (t *Trace) Close() error { return t.lines.Close() }

// ReadTrace reads a whole trace. An incomplete last line, from a crash, is skipped; any other
// invalid line is an error.
func ReadTrace(r io.Reader) ([]Exchange, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	return disk.ReadLines[Exchange](data)
}

// Traced appends every exchange of m to t before its reply is used, failed ones too. An Ask
// whose ctx is already done is neither sent nor recorded. Ask fails if the exchange cannot be
// recorded. The caller closes t after the last Ask.
func Traced(m Model, t *Trace) Model {
	return asking(func(ctx context.Context, r Request) (Reply, error) {
		if err := ctx.Err(); err != nil {
			return Reply{}, err
		}
		start := time.Now()
		reply, err := m.Ask(ctx, r)
		if !reply.Schema {
			r = r.InText()
		}
		e := Exchange{
			Role: r.Role, Subject: r.Subject, Question: r.Question, Messages: r.Messages,
			Ground: r.Ground, Model: reply.Model, Reply: reply.Text, Finish: reply.Finish,
			Usage: reply.Usage, Seconds: reply.Seconds,
		}
		if r.Schema != nil {
			e.Schema = r.Schema.Name
		}
		if err != nil {
			e.Error, e.Stopped = err.Error(), ctx.Err() != nil
			e.Seconds = time.Since(start).Seconds()
		}
		if failed := t.Append(e); failed != nil {
			return Reply{}, errors.Join(err, failed)
		}
		return reply, err
	})
}
