package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"dsstar/agent/record"
	"dsstar/notebook/human"
	"dsstar/prompts"
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

// Sizes returns how much is shown now.
func (a *Asker) Sizes() record.Sizes {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sizes
}

// ShowAs has as much shown as at the beginning of a run that goes on, for the replies that it has.
// What the model is still to be asked shows no more than the settings say.
func (a *Asker) ShowAs(sizes record.Sizes) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sizes = cmp.Or(sizes, a.sizes)
}

// The smallest sizes that are worth a try.
const leastContext, leastResult, leastEarlier = 2000, 500, 2000

// around are the bytes of a request that stand around what is shown: the rules, the task and its form,
// code, and the reply.
const around = 8000

// firstSizes are what the settings say, or less where the model's context is known to be small, of
// three bytes a token, which tables and code have at least. Of what is not needed around it, half is
// for descriptions, a quarter for outputs and one for earlier questions.
func firstSizes(cfg Settings) record.Sizes {
	s := record.Sizes{Result: cfg.ResultChars, Results: 5 * cfg.ResultChars,
		Description: cfg.DescriptionChars, Context: cfg.ContextChars}
	if cfg.Context > 0 {
		room := 3*cfg.Context - around
		s.Context = max(leastContext, min(s.Context, room/2))
		s.Description = max(leastResult, min(s.Description, s.Context/2))
		s.Results = max(leastResult, min(s.Results, room/4))
		s.Result = min(s.Result, s.Results)
		s.Earlier = max(leastEarlier, room/4)
	}
	return s
}

// within returns the smaller of two sizes.
func within(s, o record.Sizes) record.Sizes {
	if s.Earlier == 0 || o.Earlier > 0 && o.Earlier < s.Earlier {
		s.Earlier = o.Earlier
	}
	s.Result, s.Results = min(s.Result, o.Result), min(s.Results, o.Results)
	s.Description, s.Context = min(s.Description, o.Description), min(s.Context, o.Context)
	return s
}

// tooLong returns what is kept in place of a reply to a request that was too long: how much is shown
// instead, first less of earlier questions, then half of all else, as little may be left of the
// context. If nothing is left to take away, the error is the reason.
func (a *Asker) tooLong(before record.Sizes, r Request, parts []prompts.Part, reason error) (kept, error) {
	if now := within(a.Sizes(), a.most); now != before { // another request was too long, or a run goes on
		return kept{Less: &now}, nil
	}
	less := before
	for _, p := range parts {
		e, _ := p.(prompts.Earlier)
		if size := e.Size(); size > leastEarlier && (before.Earlier == 0 || size <= before.Earlier) {
			less.Earlier = size / 2 // else they cannot be shorter
		}
	}
	if less == before {
		less = within(before, record.Sizes{Result: max(leastResult, before.Result/2),
			Results:     max(leastResult, before.Results/2),
			Description: max(leastResult, before.Description/2),
			Context:     max(leastContext, before.Context/2)})
	}
	if less == before {
		return kept{}, reason
	}
	return kept{Less: &less}, a.warn(fmt.Sprintf("the %s's request for %s was longer than the "+
		"model's context: from here on less of earlier questions, files and outputs is shown",
		r.Role, r.Subject))
}
