package checkpoint

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"dsstar/kernel/internal/turn"
	"dsstar/notebook"
)

const (
	maxFrozen     = 40      // frozen copies at once: each is a process
	defaultCopies = 1 << 30 // bytes of file copies
)

// checkpoints goes back to frozen copies of the session, or by replay if there is none.
type checkpoints struct {
	kernel freezer
	all    []*checkpoint // oldest first
	copies *copies       // of the scratch folder's files; nil without such a folder
	budget int64         // bytes that the kernel may hold with its copies; 0 until known
	off    string        // why no more copies are made; "" while they are
	silent bool          // the kernel did not answer in time, and gets no more requests
}

// A checkpoint is an earlier state of the session.
type checkpoint struct {
	trail        // the cells before it
	id    string // of the frozen copy; "" if there is none
	count int    // execution_count
	files *state // what the scratch folder held
	why   string // why there is no copy
}

// newCheckpoints returns the checkpoints of a new kernel whose cells write to the folder scratch;
// "" for none.
func newCheckpoints(k freezer, scratch string, o Options) *checkpoints {
	c := &checkpoints{kernel: k, budget: o.MaxMemory}
	if scratch == "" {
		return c
	}
	store := cmp.Or(o.Copies, filepath.Join(os.TempDir(), "dsstar-copies-"+rand.Text()))
	var err error
	if c.copies, err = newCopies(scratch, store, cmp.Or(o.MaxCopies, defaultCopies)); err != nil {
		c.off = err.Error()
	}
	return c
}

func (*checkpoints) name() notebook.Way { return notebook.ByCheckpoint }

// keep freezes a copy of the kernel and keeps the files of the scratch folder. If that fails, going
// back to this state is a replay.
func (c *checkpoints) keep(ctx context.Context, h *history) {
	if h.trail.known || h.trail.lost || !h.kernel.Alive() || ctx.Err() != nil {
		return
	}
	h.trail.known = true
	c.forget(ctx, func(m *checkpoint) bool { return slices.Equal(m.cells, h.trail.cells) })
	m := &checkpoint{trail: h.trail, why: c.off}
	if m.why == "" {
		c.freeze(ctx, m)
	}
	if ctx.Err() != nil && m.id == "" {
		h.trail.known = false // a cancelled call says nothing about the state
		return
	}
	c.all = append(c.all, m)
}

// freeze makes the copies of kernel and files for m, or records in m why there are none.
func (c *checkpoints) freeze(ctx context.Context, m *checkpoint) {
	if err := c.takeFiles(ctx, m); err != nil {
		m.why = err.Error()
		return
	}
	frozen, err := c.kernel.freeze(ctx)
	if err != nil {
		m.why = c.failed(err)
		c.release(m)
		return
	}
	m.id, m.count = frozen.id, frozen.count
	c.thin(ctx, m, frozen.resident)
}

// failed returns the text of an error of the freezer. A kernel that did not answer gets no more
// requests.
func (c *checkpoints) failed(err error) string {
	if errors.Is(err, errSilent) {
		c.silent, c.off = true, err.Error()
	}
	return err.Error()
}

// takeFiles copies the files of the scratch folder, dropping older copies if there is no room.
func (c *checkpoints) takeFiles(ctx context.Context, m *checkpoint) (err error) {
	if c.copies == nil {
		return nil
	}
	for {
		if m.files, err = c.copies.take(ctx); !errors.Is(err, errOverLimit) {
			return err
		}
		frozen := c.dispensable(m)
		if len(frozen) == 0 {
			return err
		}
		c.giveUp(ctx, frozen[0], "to make room for files")
	}
}

// back resumes the nearest checkpoint that it can, or replays.
func (c *checkpoints) back(ctx context.Context, h *history,
	cells []string) (back notebook.Restoration, known bool, err error) {
	why := ""
	for _, m := range c.leading(cells) {
		problem := m.why
		if m.id != "" {
			err := c.resume(ctx, m)
			if ctx.Err() != nil {
				return back, false, turn.Reason(ctx)
			}
			if err == nil {
				back = notebook.Restoration{Way: notebook.ByCheckpoint, Kept: len(m.cells),
					Executions: slices.Clone(m.ran), Why: why}
				if back.Kept == 0 && len(cells) > 0 {
					back.Way = notebook.ByReplay // from a copy of the empty session
				}
				return back, true, nil
			}
			problem = c.failed(err)
		}
		why = cmp.Or(why, problem)
	}
	c.clear()
	back, known, err = reset{notebook.ByReplay, why}.back(ctx, h, cells)
	c.silent = c.silent && err != nil
	return back, known, err
}

// leading returns the checkpoints whose cells are a prefix of cells, the longest first.
func (c *checkpoints) leading(cells []string) []*checkpoint {
	var all []*checkpoint
	for _, m := range slices.Backward(c.all) {
		if hasPrefix(cells, m.cells) {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b *checkpoint) int { return len(b.cells) - len(a.cells) })
	return all
}

// resume makes the frozen copy of m the session again, and restores its files.
func (c *checkpoints) resume(ctx context.Context, m *checkpoint) error {
	if c.silent {
		return errors.New(c.off)
	}
	count, err := c.kernel.resume(ctx, m.id)
	if err != nil {
		return err
	}
	if count != m.count {
		c.off = fmt.Sprintf("a copy of the session counted %d cells, not %d", count, m.count)
		return errors.New(c.off)
	}
	if c.copies == nil {
		return nil
	}
	// only now: the session that has ended could still write there
	return c.copies.restore(ctx, m.files)
}

// thin drops copies until there are at most maxFrozen and the kernel is within its budget. resident
// is an upper bound, which is cheap to get, of what the kernel holds.
func (c *checkpoints) thin(ctx context.Context, newest *checkpoint, resident int64) {
	frozen := c.dispensable(newest)
	for len(frozen) >= maxFrozen {
		c.giveUp(ctx, frozen[0], "to save memory")
		frozen = frozen[1:]
	}
	if c.budget != 0 && resident <= c.budget {
		return
	}
	// Pages that several copies share are freed with the last of them, so measure after each.
	for held := c.held(ctx); len(frozen) > 0 && held > c.budget; held = c.held(ctx) {
		c.giveUp(ctx, frozen[0], "to save memory")
		frozen = frozen[1:]
	}
}

// dispensable returns those with a copy, except newest, in the order of eviction: first those
// off the current path, then the oldest, and the empty session last.
func (c *checkpoints) dispensable(newest *checkpoint) []*checkpoint {
	frozen := slices.DeleteFunc(slices.Clone(c.all), func(m *checkpoint) bool { return m.id == "" })
	rank := func(m *checkpoint) int {
		switch {
		case len(m.cells) == 0:
			return 2
		case hasPrefix(newest.cells, m.cells):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(frozen, func(a, b *checkpoint) int { return rank(a) - rank(b) })
	return frozen
}

// held returns the bytes that the kernel holds with its copies; 0 if it does not say. It sets the
// default budget.
func (c *checkpoints) held(ctx context.Context) int64 {
	held, available, err := c.kernel.memory(ctx)
	if err != nil {
		c.failed(err)
		return 0 // measured again after the next copy
	}
	c.budget = cmp.Or(c.budget, (available+held)/2)
	return held
}

func (c *checkpoints) giveUp(ctx context.Context, m *checkpoint, what string) {
	m.why = "its copy was given up " + what
	c.drop(ctx, m)
}

// forget drops the checkpoints that match.
func (c *checkpoints) forget(ctx context.Context, match func(*checkpoint) bool) {
	c.all = slices.DeleteFunc(c.all, func(m *checkpoint) bool {
		if match(m) {
			c.drop(ctx, m)
			return true
		}
		return false
	})
}

// drop drops the copies of a checkpoint.
func (c *checkpoints) drop(ctx context.Context, m *checkpoint) {
	if m.id != "" && !c.silent {
		if err := c.kernel.drop(ctx, m.id); err != nil { // it only costs memory
			c.failed(err)
		}
	}
	c.release(m)
}

// release frees the file copies of a checkpoint whose frozen copy is gone.
func (c *checkpoints) release(m *checkpoint) {
	m.id = ""
	if m.files != nil {
		c.copies.drop(m.files)
		m.files = nil
	}
}

// clear forgets all checkpoints of a session that has ended.
func (c *checkpoints) clear() {
	for _, m := range c.all {
		c.release(m)
	}
	c.all = nil
}

func (c *checkpoints) close() {
	if c.copies != nil {
		_ = c.copies.close() // the next run in the folder removes what is left
	}
}
