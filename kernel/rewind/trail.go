package rewind

import (
	"context"
	"fmt"
	"slices"

	"dsstar/kernel"
	"dsstar/kernel/internal/turn"
	"dsstar/kernel/undokernel"
	"dsstar/notebook"
)

// A history is what a kernel has run, and its way back.
type history struct {
	kernel   client
	way      notebook.Way // back, unless something prevents it
	why      string       // cells run again, if they do
	copies   *checkpoints // nil: there are none
	branches bool         // states are kept before they are abandoned
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
	known bool // the present state has been kept, if that is possible
}

// newHistory returns the history of a new kernel.
func newHistory(k *kernel.Kernel, o Options) *history {
	h := &history{kernel: k, way: notebook.ByReplay, why: o.Why, branches: o.Branches}
	switch {
	case o.Off:
		h.way = notebook.NotAtAll
	case !k.Info().Owned:
		h.way, h.why = notebook.ByNames, ""
	case !o.Replay && slices.Contains(k.Info().Features, undokernel.Module):
		u, err := newUndoer(k, o.MaxMemory)
		h.way, h.why, h.copies = notebook.ByCheckpoint, "", &checkpoints{kernel: u}
		if err != nil {
			h.copies.off = err.Error()
		}
	}
	return h
}

// begins reports whether cells begin with prefix.
func begins(cells, prefix []string) bool {
	return len(prefix) <= len(cells) && slices.Equal(cells[:len(prefix)], prefix)
}

// execute executes a cell, after keeping the present state if possible.
func (h *history) execute(ctx context.Context, c kernel.Cell) (notebook.Execution, error) {
	h.keep(ctx)
	if ctx.Err() != nil { // nothing has run yet that must be undone
		return notebook.Execution{}, turn.Reason(ctx)
	}
	x, err := h.kernel.ExecuteCell(ctx, c)
	t := &h.trail
	if t.lost = t.lost || err != nil || x.Status != notebook.OK; !t.lost {
		t.cells, t.ran, t.known = append(t.cells, c.Code), append(t.ran, x), false
	}
	return x, err
}

// keep keeps the present state, that of the trail, if it can.
func (h *history) keep(ctx context.Context) {
	if h.copies != nil && !h.trail.known && !h.trail.lost && h.kernel.Alive() && ctx.Err() == nil {
		h.trail.known = h.copies.keep(ctx, h.trail)
	}
}

// rollback implements [Session.Rollback].
func (h *history) rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	if h.branches || begins(cells, h.trail.cells) { // else it is not needed again
		h.keep(ctx)
	}
	back, known, err := notebook.Restoration{Way: notebook.ByReplay}, h.trail.known, error(nil)
	if len(h.trail.cells) > 0 || h.trail.lost || !h.kernel.Alive() { // else there is nothing to undo
		back, known, err = h.back(ctx, cells)
	}
	if err == nil && back.Way != notebook.NotAtAll {
		n := len(back.Executions)
		h.trail = trail{cells: cells[:n:n], ran: back.Executions[:n:n], known: known}
		for n < len(cells) && err == nil && !h.trail.lost {
			var x notebook.Execution
			if x, err = h.execute(ctx, kernel.Cell{Code: cells[n]}); err == nil {
				n, back.Executions = n+1, append(back.Executions, x)
			}
		}
	}
	if err != nil {
		h.trail.lost = true
		err = fmt.Errorf("roll back: %w", err)
	}
	return back, err
}

// back restores the state after the longest possible prefix of cells. It returns the executions of
// these, and whether that state is kept already.
func (h *history) back(ctx context.Context, cells []string) (back notebook.Restoration, known bool,
	err error) {
	way, why := h.way, h.why
	switch {
	case way == notebook.NotAtAll && h.kernel.Alive():
		return notebook.Restoration{Way: way}, true, nil
	case way == notebook.NotAtAll:
		way = notebook.ByReplay
	case h.copies != nil:
		if back, why, err = h.copies.back(ctx, cells); err != nil || back.Way != "" {
			return back, err == nil, err
		}
		way, h.copies.all = notebook.ByReplay, nil
	}
	return notebook.Restoration{Way: way, Why: why}, false, h.kernel.Reset(ctx)
}
