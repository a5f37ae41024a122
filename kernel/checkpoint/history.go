package checkpoint

import (
	"context"
	"fmt"
	"slices"

	"dsstar/kernel"
	"dsstar/kernel/internal/turn"
	"dsstar/notebook"
)

// A history is what a kernel has run, and its way back.
type history struct {
	kernel   client
	way      way
	branches bool
	trail    trail
}

// A client is the part of a kernel that going back needs.
type client interface {
	ExecuteCell(context.Context, kernel.Cell) (notebook.Execution, error)
	Reset(context.Context) error
	Alive() bool
}

// A trail is the cells of a session from its beginning, with their executions.
type trail struct {
	cells []string
	ran   []notebook.Execution
	lost  bool // a cell failed: the state is not what the cells produce
	known bool // way.keep has seen the present state
}

func (t *trail) add(code string, x notebook.Execution, err error) {
	if err != nil || x.Status != notebook.OK {
		t.lost = true
	}
	if !t.lost {
		t.cells, t.ran, t.known = append(t.cells, code), append(t.ran, x), false
	}
}

// hasPrefix reports whether cells begin with prefix.
func hasPrefix(cells, prefix []string) bool {
	return len(prefix) <= len(cells) && slices.Equal(cells[:len(prefix)], prefix)
}

// execute executes a cell, after keeping the present state if possible.
func (h *history) execute(ctx context.Context, c kernel.Cell) (notebook.Execution, error) {
	h.way.keep(ctx, h)
	if ctx.Err() != nil { // nothing has run yet that must be undone
		return notebook.Execution{}, turn.Reason(ctx)
	}
	x, err := h.kernel.ExecuteCell(ctx, c)
	h.trail.add(c.Code, x, err)
	return x, err
}

// rollback implements [Session.Rollback].
func (h *history) rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	if h.branches || hasPrefix(cells, h.trail.cells) { // else it is not needed again
		h.way.keep(ctx, h)
	}
	back, known, err := notebook.Restoration{Way: notebook.ByReplay}, h.trail.known, error(nil)
	if len(h.trail.cells) > 0 || h.trail.lost || !h.kernel.Alive() { // else there is nothing to undo
		back, known, err = h.way.back(ctx, h, cells)
	}
	if err == nil && back.Way != notebook.NotAtAll {
		n := len(back.Executions)
		h.trail = trail{cells: cells[:n:n], ran: back.Executions[:n:n], known: known}
		err = h.proceed(ctx, cells, &back)
	}
	if err != nil {
		h.trail.lost = true
		err = fmt.Errorf("roll back: %w", err)
	}
	return back, err
}

// proceed executes the cells after those that have been restored, up to the first that is not OK.
func (h *history) proceed(ctx context.Context, cells []string, back *notebook.Restoration) error {
	for _, code := range cells[len(back.Executions):] {
		x, err := h.execute(ctx, kernel.Cell{Code: code})
		if err != nil {
			return err
		}
		if back.Executions = append(back.Executions, x); x.Status != notebook.OK {
			break
		}
	}
	return nil
}

// A way takes a kernel back to earlier states.
type way interface {
	name() notebook.Way
	// keep remembers the present state, that of the trail, if it can.
	keep(context.Context, *history)
	// back restores the state after the longest possible prefix of cells. It returns the executions of
	// these, and whether that state is remembered already.
	back(ctx context.Context, h *history, cells []string) (back notebook.Restoration, known bool,
		err error)
	// close frees what is remembered.
	close()
}

// newWay returns the way to go back for a new kernel.
func newWay(k *kernel.Kernel, o Options) way {
	switch {
	case o.Off:
		o.Off = false
		return stay{newWay(k, o)}
	case !k.Info().Owned:
		return reset{way: notebook.ByNames}
	case o.Replay || !freezes(k):
		return reset{notebook.ByReplay, o.Why}
	}
	u, err := newUndoer(k)
	c := newCheckpoints(u, k.Scratch(), o)
	if err != nil {
		c.off = err.Error()
	}
	return c
}

// stay does not go back, unless the kernel is dead.
type stay struct{ way }

func (stay) name() notebook.Way             { return notebook.NotAtAll }
func (stay) keep(context.Context, *history) {}

func (s stay) back(ctx context.Context, h *history, cells []string) (notebook.Restoration, bool,
	error) {
	if h.kernel.Alive() {
		return notebook.Restoration{Way: notebook.NotAtAll}, true, nil
	}
	return s.way.back(ctx, h, cells)
}

// reset goes back to the beginning: by a new process or, in a kernel that is not ours, by names.
type reset struct {
	way notebook.Way
	why string
}

func (r reset) name() notebook.Way           { return r.way }
func (reset) keep(context.Context, *history) {}
func (reset) close()                         {}

func (r reset) back(ctx context.Context, h *history, _ []string) (notebook.Restoration, bool,
	error) {
	return notebook.Restoration{Way: r.way, Why: r.why}, false, h.kernel.Reset(ctx)
}
