package rewind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"dsstar/kernel"
	"dsstar/notebook"
	"dsstar/notebook/lists"
)

// checkpoints are the frozen copies of a session.
type checkpoints struct {
	kernel freezer
	all    []*checkpoint // oldest first
	off    string        // why no more copies are made; "" while they are
}

// A checkpoint is an earlier state of the session.
type checkpoint struct {
	trail        // the cells before it
	id    string // of the frozen copy; "" if none was made
	count int    // execution_count
	why   string // why there is no copy
}

// keep freezes a copy of the kernel in the state of t. If that fails, going back to this state is a
// replay. It reports whether it need not be tried again.
func (c *checkpoints) keep(ctx context.Context, t trail) bool {
	c.forget(ctx, t.cells)
	m := &checkpoint{trail: t, why: c.off}
	if m.why == "" {
		var err error
		if m.id, m.count, err = c.kernel.freeze(ctx); err != nil {
			m.why = c.failed(err)
		}
	}
	if ctx.Err() != nil && m.id == "" {
		return false // a cancelled call says nothing about the state
	}
	c.all = append(c.all, m)
	return true
}

// forget drops the checkpoint after cells, whose state is about to be kept again.
func (c *checkpoints) forget(ctx context.Context, cells []string) {
	c.all = slices.DeleteFunc(c.all, func(m *checkpoint) bool {
		if !slices.Equal(m.cells, cells) {
			return false
		}
		if m.id != "" {
			if err := c.kernel.drop(ctx, m.id); err != nil { // it only costs memory
				c.failed(err)
			}
		}
		return true
	})
}

// failed returns the text of an error of the freezer. A kernel that did not answer in time gets no
// more requests.
func (c *checkpoints) failed(err error) string {
	if errors.Is(err, errSilent) {
		c.off = err.Error()
		for _, m := range c.all {
			m.id, m.why = "", c.off
		}
	}
	return err.Error()
}

// back resumes the nearest checkpoint that it can. If there is none, the restoration has no way,
// and why says what prevented it.
func (c *checkpoints) back(ctx context.Context, cells []string) (back notebook.Restoration,
	why string, err error) {
	for _, m := range c.leading(cells) {
		problem := c.resume(ctx, m)
		if ctx.Err() != nil {
			return back, why, kernel.Ended(ctx)
		}
		if problem == "" {
			back = notebook.Restoration{Way: notebook.ByCheckpoint, Kept: len(m.cells),
				Executions: slices.Clone(m.ran), Why: why}
			if back.Kept == 0 && len(cells) > 0 {
				back.Way = notebook.ByReplay // from a copy of the empty session
			}
			return back, why, nil
		}
		why = cmp.Or(why, problem)
	}
	return back, why, nil
}

// leading returns the checkpoints whose cells are a prefix of cells, the longest first.
func (c *checkpoints) leading(cells []string) []*checkpoint {
	all := slices.DeleteFunc(slices.Clone(c.all), func(m *checkpoint) bool {
		return !lists.Begins(cells, m.cells)
	})
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b *checkpoint) int { return len(b.cells) - len(a.cells) })
	return all
}

// resume makes the frozen copy of m the session again, with its files. It returns why it cannot.
func (c *checkpoints) resume(ctx context.Context, m *checkpoint) string {
	if m.id == "" {
		return m.why
	}
	count, err := c.kernel.resume(ctx, m.id)
	switch {
	case err != nil:
		return c.failed(err)
	case count != m.count:
		c.off = fmt.Sprintf("a copy of the session counted %d cells, not %d", count, m.count)
		return c.off
	}
	return ""
}
