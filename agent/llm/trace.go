package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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

// Replay answers from the exchanges of a trace, to rerun everything but the model. A request takes
// the first unused exchange of its role, subject and ground; one that was written by hand, without
// a ground, fits any. If there is none, Ask returns a [*ReplayError]. Failed exchanges are skipped.
// Replies come at once, unstreamed, with the recorded usage.
//
// Elsewhere, programs may print other things than they did: a request that no exchange fits takes
// one that fits but for those.
func Replay(exchanges []Exchange, elsewhere bool) Model {
	failed := func(e Exchange) bool { return e.Error != "" }
	return &replay{elsewhere: elsewhere, left: slices.DeleteFunc(slices.Clone(exchanges), failed)}
}

type replay struct {
	elsewhere bool
	mu        sync.Mutex
	left      []Exchange // unused, in order
}

// A ReplayError is a request without a matching reply in the trace.
type ReplayError struct{ Role, Subject string }

func (e *ReplayError) Error() string {
	return fmt.Sprintf("no reply was recorded for what the run asks now (%s: %s): question, files, "+
		"cells or outputs are not those of the recording", e.Role, e.Subject)
}

func (m *replay) Ask(ctx context.Context, r Request) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	first := func(same func(Ground) bool) int {
		return slices.IndexFunc(m.left, func(e Exchange) bool {
			return e.Role == r.Role && e.Subject == r.Subject && same(e.Ground)
		})
	}
	i := first(func(g Ground) bool { return g == r.Ground || g == Ground{} })
	if i < 0 && m.elsewhere {
		i = first(func(g Ground) bool { return g.Told == r.Ground.Told })
	}
	if i < 0 {
		return Reply{}, &ReplayError{r.Role, r.Subject}
	}
	e := m.left[i]
	m.left = slices.Delete(m.left, i, i+1)
	if r.OnText != nil {
		r.OnText(func() string { return e.Reply })
	}
	return Reply{Text: e.Reply, Model: e.Model, Finish: e.Finish, Usage: e.Usage}, nil
}
