package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"dsstar/agent/brief"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// caller makes the model calls of a run, within its limits, and counts them in
// the trajectory.
type caller struct {
	cfg Config
	t   *record.Trajectory

	mu       sync.Mutex
	paid     float64 // US dollars, by this attempt at the run
	reserved int     // model calls made or under way
	asked    int     // bytes of all requests
	model    stopwatch
}

// within does work in the time that the limits allow.
func (c *caller) within(ctx context.Context, work func(context.Context) error) error {
	bounded, cancel := withTime(ctx, c.cfg.Limits.Time)
	defer cancel()
	return overdue(bounded, work(bounded))
}

// call makes one model call and counts it.
func (c *caller) call(ctx context.Context, request llm.Request) (llm.Reply, error) {
	if err := c.reserve(); err != nil {
		return llm.Reply{}, err
	}
	if c.cfg.Stream != nil {
		role, subject := request.Role, request.Subject
		request.OnText = func(soFar string) { c.cfg.Stream(role, subject, soFar) }
		request.OnText("")
	}
	stop := c.model.start()
	reply, err := c.cfg.Model.Ask(ctx, request)
	stop()
	if err != nil {
		return reply, overdue(ctx, err)
	}
	reply.Text = strings.ToValidUTF8(reply.Text, "\uFFFD") // as notebooks are
	if !reply.Remembered {
		c.count(request.Role, 1, reply.Usage)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if reply.Remembered {
		c.reserved--
	}
	for _, m := range request.Messages {
		c.asked += len(m.Text)
	}
	if reply.Model != "" && !slices.Contains(c.t.Models, reply.Model) {
		c.t.Models = append(c.t.Models, reply.Model)
	}
	return reply, nil
}

// reserve takes a model call from the budget, before it is made: calls that are
// under way count. What a call costs is known only afterwards, so that the last
// one can go beyond the limit.
func (c *caller) reserve() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if most := c.cfg.Limits.Calls; most > 0 && c.reserved >= most {
		return &BudgetError{"max-calls", brief.Count(most, "model call")}
	}
	if most := c.cfg.Limits.Cost; most > 0 && c.paid >= most {
		return &BudgetError{"max-cost", fmt.Sprintf("%g US dollars", most)}
	}
	c.reserved++
	return nil
}

// count adds what calls of a role have used.
func (c *caller) count(role string, calls int, u llm.Usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.t.ByRole == nil {
		c.t.ByRole = map[string]record.Usage{}
	}
	own := c.t.ByRole[role]
	for _, sum := range []*record.Usage{&own, &c.t.Usage} {
		sum.Calls += calls
		sum.Add(u)
	}
	c.t.ByRole[role] = own
	price, ok := c.price(role)
	if ok {
		c.paid += price.Cost(u)
	}
	switch {
	case c.t.Cost == nil:
	case ok:
		cost := *c.t.Cost + price.Cost(u)
		c.t.Cost = &cost
	default:
		c.t.Cost = nil // a sum that lacks a part is none
	}
}

func (c *caller) price(role string) (llm.Price, bool) {
	if c.cfg.Price == nil {
		return llm.Price{}, false
	}
	return c.cfg.Price(role)
}
