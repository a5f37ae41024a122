package runner

import (
	"context"
	"fmt"
	"sync"

	"dsstar/agent"
	"dsstar/agent/llm"
)

// A Budget is what all tasks of a run together may use. Calls under way count;
// what one costs is known only afterwards, so that the last ones can go beyond
// the limit. Its methods may be called concurrently.
type Budget struct {
	Calls int                                 // model calls; 0: no limit
	Cost  float64                             // US dollars; 0: no limit
	Price func(role string) (llm.Price, bool) // nil: no price is known

	mu    sync.Mutex
	calls int
	paid  float64
	spent error
}

// Add counts what is recorded already.
func (b *Budget) Add(r Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls += r.Usage.Calls
	if r.Cost != nil {
		b.paid += *r.Cost
	}
}

// Spent is an [*agent.BudgetError] from the first call on that was not made.
func (b *Budget) Spent() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Paid is what was used so far, in US dollars, as far as prices are known.
func (b *Budget) Paid() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paid
}

// Model has calls of m taken from the budget. When it is spent, Ask returns the
// error of Spent.
func (b *Budget) Model(m llm.Model) llm.Model { return metered{m, b} }

type metered struct {
	model  llm.Model
	budget *Budget
}

func (m metered) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := m.budget.reserve(); err != nil {
		return llm.Reply{}, err
	}
	reply, err := m.model.Ask(ctx, r)
	m.budget.pay(r.Role, reply.Usage)
	return reply, err
}

func (b *Budget) reserve() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.Calls > 0 && b.calls >= b.Calls:
		b.spent = &agent.BudgetError{Flag: "total-calls", Most: fmt.Sprintf("model calls for all tasks: %d", b.Calls)}
	case b.Cost > 0 && b.paid >= b.Cost:
		b.spent = &agent.BudgetError{Flag: "total-cost", Most: fmt.Sprintf("US dollars for all tasks: %g", b.Cost)}
	}
	if b.spent == nil {
		b.calls++
	}
	return b.spent
}

func (b *Budget) pay(role string, u llm.Usage) {
	if b.Price == nil {
		return
	}
	price, ok := b.Price(role)
	if !ok {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paid += price.Cost(u)
}
