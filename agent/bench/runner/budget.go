package runner

import (
	"context"
	"fmt"
	"sync"

	"dsstar/agent"
	"dsstar/agent/llm"
)

// A Budget limits what all tasks of a run may use together, including earlier sessions of
// the run. Calls under way count; their cost is known only afterwards, so the last ones can
// exceed the limit. Methods may be called concurrently.
type Budget struct {
	Calls int                                 // model calls; 0: no limit
	Cost  float64                             // US dollars; 0: no limit
	Price func(role string) (llm.Price, bool) // nil: no price is known

	mu    sync.Mutex
	calls int
	paid  float64
	spent error
}

// Spent returns an [*agent.BudgetError] once a call was refused.
func (b *Budget) Spent() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Paid returns the cost so far in US dollars, as far as prices are known.
func (b *Budget) Paid() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paid
}

// add counts calls that were not reserved, and their cost.
func (b *Budget) add(calls int, paid float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls += calls
	b.paid += paid
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

// cost returns what tokens cost; 0 if the price is not known.
func (b *Budget) cost(role string, u llm.Usage) float64 {
	if b.Price == nil {
		return 0
	}
	price, ok := b.Price(role)
	if !ok {
		return 0
	}
	return price.Cost(u)
}

// A tally counts what one attempt at a task has used of the budget.
type tally struct {
	budget *Budget

	mu    sync.Mutex
	calls int
	paid  float64
}

func (t *tally) sum() (calls int, paid float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls, t.paid
}

// pay counts calls, the first of which was reserved.
func (t *tally) pay(calls int, role string, u llm.Usage) {
	paid := t.budget.cost(role, u)
	t.budget.add(calls-1, paid)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls += calls
	t.paid += paid
}

// Model returns m with its calls charged to the run's budget, including those that score
// the answer. When the budget is spent, Ask returns the error of [Budget.Spent].
func (j Job) Model(m llm.Model) llm.Model { return metered{m, j.tally} }

type metered struct {
	model llm.Model
	tally *tally
}

func (m metered) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := m.tally.budget.reserve(); err != nil {
		return llm.Reply{}, err
	}
	reply, err := m.model.Ask(ctx, r)
	m.tally.pay(1, r.Role, reply.Usage)
	return reply, err
}

// Ranker is like Model, for a ranker.
func (j Job) Ranker(r llm.Ranker) llm.Ranker { return meteredRanker{r, j.tally} }

type meteredRanker struct {
	ranker llm.Ranker
	tally  *tally
}

func (m meteredRanker) Rank(ctx context.Context, question string, texts []string) (llm.Ranking, error) {
	if err := m.tally.budget.reserve(); err != nil {
		return llm.Ranking{}, err
	}
	ranking, err := m.ranker.Rank(ctx, question, texts)
	m.tally.pay(max(1, ranking.Calls), "retriever", ranking.Usage)
	return ranking, err
}
