package ask

import (
	"context"
	"errors"
	"sync"
	"time"

	"dsstar/agent/llm"
	"dsstar/notebook/human"
)

// Limits are what may be used; 0 is no limit.
type Limits struct {
	Calls int           // model calls
	Cost  float64       // US dollars
	Time  time.Duration // see [Budget.WithTime]
}

// A BudgetError says which limit is reached.
type BudgetError struct {
	Flag string // "max-calls", "max-cost" or "max-time"; "total-…" of a Budget for all tasks
	Most string // the limit, for people
}

func (e *BudgetError) Error() string { return "the budget is spent: " + e.Most }

// A Budget holds model calls to limits. Calls under way count. What a call costs is
// known only afterwards, so that the last one can exceed the limit. Its methods may be
// called concurrently.
type Budget struct {
	Limits   Limits
	Price    func(role string) (llm.Price, bool) // nil: no price is known
	AllTasks bool                                // the limits are those of all tasks of a benchmark
	Of       *Budget                             // counts the same calls, too; nil: none does

	mu    sync.Mutex
	calls int
	paid  float64
	spent error
}

// refuse returns the error for a limit.
func (b *Budget) refuse(what, most string) *BudgetError {
	if b.AllTasks {
		return &BudgetError{"total-" + what, most + " for all tasks"}
	}
	return &BudgetError{"max-" + what, most}
}

// Within does work in the time that the limits allow. The error is a *[BudgetError]
// when that has ended the work.
func (b *Budget) Within(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := b.WithTime(ctx)
	defer cancel()
	return Overdue(ctx, work(ctx))
}

// WithTime returns a context that ends with the time, for a *[BudgetError].
func (b *Budget) WithTime(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := b.Limits.Time
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, b.refuse("time", limit.String()))
}

// Overdue returns the BudgetError that cancelled ctx, if any; otherwise err.
func Overdue(ctx context.Context, err error) error {
	if spent := (*BudgetError)(nil); err != nil && errors.As(context.Cause(ctx), &spent) {
		return spent
	}
	return err
}

// Reserve takes a call from the budget before it is made, or returns a *[BudgetError].
func (b *Budget) Reserve() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch calls, cost := b.Limits.Calls, b.Limits.Cost; {
	case calls > 0 && b.calls >= calls:
		b.spent = b.refuse("calls", human.Plural(calls, "model call"))
		return b.spent
	case cost > 0 && b.paid >= cost:
		b.spent = b.refuse("cost", human.Dollars(cost))
		return b.spent
	}
	if b.Of != nil {
		if err := b.Of.Reserve(); err != nil {
			return err
		}
	}
	b.calls++
	return nil
}

// Pay adds the cost of reserved calls, and returns it; known is whether there is a price.
func (b *Budget) Pay(role string, u llm.Usage) (cost float64, known bool) {
	price, known := b.PriceOf(role)
	if known {
		cost = price.Cost(u)
	}
	b.Add(0, cost)
	return cost, known
}

// Add adds calls that were not reserved, and a cost. A call that was reserved but not
// made is -1.
func (b *Budget) Add(calls int, paid float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls += calls
	b.paid += paid
	if b.Of != nil {
		b.Of.Add(calls, paid)
	}
}

// PriceOf returns the price of a role's calls.
func (b *Budget) PriceOf(role string) (llm.Price, bool) {
	if b.Price == nil {
		return llm.Price{}, false
	}
	return b.Price(role)
}

// Spent returns a *[BudgetError] once a call was refused.
func (b *Budget) Spent() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Used returns the calls so far and their cost in US dollars, as far as prices are known.
func (b *Budget) Used() (calls int, paid float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls, b.paid
}
