package llm

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
)

// Remember answers a request that is identical to one of the exchanges with its recorded
// reply, once each, and sends all others to m. Failed exchanges are skipped.
func Remember(m Model, exchanges []Exchange) Model {
	r := &remembering{model: m, known: map[[32]byte][]Exchange{}}
	for _, e := range exchanges {
		if e.Error == "" && len(e.Messages) > 0 {
			key := wordsOf(e.Role, e.Subject, e.Messages)
			r.known[key] = append(r.known[key], e)
		}
	}
	return r
}

type remembering struct {
	model Model
	mu    sync.Mutex
	known map[[32]byte][]Exchange
}

func wordsOf(role, subject string, messages []Message) [32]byte {
	data, _ := json.Marshal([]any{role, subject, messages}) // strings cannot fail
	return sha256.Sum256(data)
}

func (m *remembering) Ask(ctx context.Context, r Request) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	key := wordsOf(r.Role, r.Subject, r.Messages)
	m.mu.Lock()
	all := m.known[key]
	if len(all) > 0 {
		m.known[key] = all[1:]
	}
	m.mu.Unlock()
	if len(all) == 0 {
		return m.model.Ask(ctx, r)
	}
	e := all[0]
	if r.OnText != nil {
		r.OnText(e.Reply)
	}
	return Reply{Text: e.Reply, Model: e.Model, Finish: e.Finish, Usage: e.Usage,
		Remembered: true}, nil
}
