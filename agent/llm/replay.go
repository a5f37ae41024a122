package llm

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

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
