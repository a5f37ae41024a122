package runner

import (
	"context"
	"sync"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
)

// A tally counts what one attempt at a task has used of the budget.
type tally struct {
	budget *ask.Budget

	mu    sync.Mutex
	spent Spent
}

func (t *tally) sum() Spent {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.spent
}

// pay charges calls to the budget. The first of them was already reserved.
func (t *tally) pay(calls int, role string, u llm.Usage) {
	t.budget.Add(calls-1, 0)
	paid, _ := t.budget.Pay(role, u)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spent.Calls += calls
	t.spent.Cost += paid
}

// Model returns m with its calls charged to the run's budget, including those that score
// the answer. When the budget is spent, Ask returns the error of [ask.Budget.Spent].
func (j Job) Model(m llm.Model) llm.Model { return metered{m, j.tally} }

type metered struct {
	model llm.Model
	tally *tally
}

func (m metered) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := m.tally.budget.Reserve(); err != nil {
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

func (m meteredRanker) Rank(ctx context.Context, question string,
	texts []string) (llm.Ranking, error) {
	if err := m.tally.budget.Reserve(); err != nil {
		return llm.Ranking{}, err
	}
	ranking, err := m.ranker.Rank(ctx, question, texts)
	m.tally.pay(max(1, ranking.Calls), "retriever", ranking.Usage)
	return ranking, err
}
