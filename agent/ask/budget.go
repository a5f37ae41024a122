package ask

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

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

// A Budget holds model calls, which may be concurrent, to limits. Calls under way count. What one
// costs is known only afterwards, so that the last one can exceed the limit.
type Budget struct {
	Limits Limits
	Flags  string  // how those of the limits begin; "": with max-
	Of     *Budget // counts the same calls, too; nil: none does

	mu    sync.Mutex
	calls int
	paid  float64
	spent error
}

// refuse returns the error for a limit.
func (b *Budget) refuse(what, most string) *BudgetError {
	return &BudgetError{cmp.Or(b.Flags, "max-") + what, most}
}

// WithTime returns a context that ends with the time, for a *[BudgetError].
func (b *Budget) WithTime(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := cmp.Or(b.Limits.Time, math.MaxInt64)
	return context.WithTimeoutCause(ctx, limit, b.refuse("time", limit.String()))
}

// Overdue returns the BudgetError that cancelled ctx, if any; otherwise err.
func Overdue(ctx context.Context, err error) error {
	if spent, ok := errors.AsType[*BudgetError](context.Cause(ctx)); ok && err != nil {
		return spent
	}
	return err
}

// reserve takes a call from the budget before it is made, or returns a *[BudgetError].
func (b *Budget) reserve() error {
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
		if err := b.Of.reserve(); err != nil {
			return err
		}
	}
	b.calls++
	return nil
}

// pay adds a cost.
func (b *Budget) pay(cost float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paid += cost
	if b.Of != nil {
		b.Of.pay(cost)
	}
}

// Used returns the cost of the calls so far in US dollars, as far as prices are known, and a
// *[BudgetError] once a call was refused.
func (b *Budget) Used() (paid float64, refused error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paid, b.spent
}
