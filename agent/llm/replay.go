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
type ReplayError struct {
	Role, Subject string
	N             int // the number of the first exchange left of the role and subject; 0: none
}

func (e *ReplayError) Error() string {
	request := e.Role + "'s request"
	if e.Subject != "" {
		request += " for " + e.Subject
	}
	if e.N > 0 {
		return fmt.Sprintf("replay: the %s no longer fits exchange %d of the trace: question, files, "+
			"cells or outputs are not those that were recorded", request, e.N)
	}
	return "replay: the trace has no reply left to the " + request
}

func (m *replay) Ask(ctx context.Context, r Request) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	e, err := m.take(r)
	if err != nil {
		return Reply{}, err
	}
	if r.OnText != nil {
		r.OnText(func() string { return e.Reply })
	}
	return Reply{Text: e.Reply, Model: e.Model, Finish: e.Finish, Usage: e.Usage, Calls: e.Calls,
		Schema: e.Schema != ""}, nil
}

// take removes and returns the exchange that fits r.
func (m *replay) take(r Request) (Exchange, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := func(fits func(Exchange) bool) int {
		return slices.IndexFunc(m.left, func(e Exchange) bool { return e.Role == r.Role && fits(e) })
	}
	same := func(e Exchange) bool { return e.Subject == r.Subject }
	i := first(func(e Exchange) bool { return same(e) && (e.Ground == r.Ground || e.Ground == (Ground{})) })
	if i < 0 && m.elsewhere {
		i = first(func(e Exchange) bool { return same(e) && e.Ground.Told == r.Ground.Told })
	}
	if i >= 0 {
		e := m.left[i]
		m.left = slices.Delete(m.left, i, i+1)
		return e, nil
	}
	lacks := &ReplayError{Role: r.Role, Subject: r.Subject}
	if i = first(same); i >= 0 {
		lacks.N = m.left[i].N
	}
	return Exchange{}, lacks
}
