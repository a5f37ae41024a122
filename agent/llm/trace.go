package llm

import (
	"context"
	"errors"
	"fmt"
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
	Reply    string    `json:"reply"`
	Finish   string    `json:"finish,omitempty"`
	Usage    Usage     `json:"usage"`
	Cost     *float64  `json:"cost_usd,omitempty"` // nil: the price was not known
	Seconds  float64   `json:"seconds"`
	Error    string    `json:"error,omitempty"`   // if set, the call failed
	Stopped  bool      `json:"stopped,omitempty"` // it failed because the run was ended
}

// Traced appends every exchange of m to a trace before its reply is used, failed ones too. An Ask
// whose ctx is already done is neither sent nor recorded. Ask fails if the exchange cannot be
// recorded. The caller closes the trace after the last Ask. If price is nil, no price is known.
func Traced(m Model, trace *disk.Lines, price func(role string) (Price, bool)) Model {
	return asking(func(ctx context.Context, r Request) (Reply, error) {
		if err := ctx.Err(); err != nil {
			return Reply{}, err
		}
		start := time.Now()
		reply, err := m.Ask(ctx, r)
		e := Exchange{
			Time: time.Now().UTC(), Role: r.Role, Subject: r.Subject, Question: r.Question,
			Messages: r.Messages, Ground: r.Ground, Model: reply.Model, Reply: reply.Text,
			Finish: reply.Finish, Usage: reply.Usage, Seconds: reply.Seconds,
		}
		if err != nil {
			e.Error, e.Stopped = err.Error(), ctx.Err() != nil
			e.Seconds = time.Since(start).Seconds()
		} else if price != nil {
			if p, known := price(r.Role); known {
				e.Cost = new(p.Cost(e.Usage))
			}
		}
		if failed := trace.Append(e); failed != nil {
			return Reply{}, errors.Join(err, fmt.Errorf("trace: %w", failed))
		}
		return reply, err
	})
}
