// Package rewind takes a kernel back to the state that given cells produce.
//
// A [Session] is a kernel that remembers the cells it has run. Its Rollback takes the first of
// these ways that is possible:
//
//   - A kernel that can freeze copies of itself ([Spec]) continues from the copy made after the
//     longest prefix of the cells, and runs the remaining cells. It has put the files back, too, and
//     decides which copies are kept: package undokernel, docs/checkpoints.md.
//   - Any other kernel of ours is restarted and runs all cells: a replay.
//   - In a kernel that is not ours, the user's names are restored and the cells run again.
package rewind

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/undokernel"
	"dsstar/notebook"
	"dsstar/notebook/lists"
)

// Options say how a [Session] goes back. The zero value suits most uses.
type Options struct {
	Replay    bool   // do not use checkpoints, even if the kernel has them
	Why       string // the [notebook.Restoration.Why] of replays: why there are no checkpoints
	Branches  bool   // also keep states that Rollback abandons, to return to them later
	MaxMemory int64  // for the kernel with its frozen copies, in bytes; 0 for half of what is free
}

// A Session is a kernel that can go back to earlier states. All methods may be called from any
// goroutine; cells and rollbacks run one at a time.
type Session struct {
	*kernel.Kernel
	way      notebook.Way // back, unless something prevents it
	why      string       // cells run again, if they do
	copies   *checkpoints // nil: there are none
	branches bool         // states are kept before they are abandoned
	trail    trail
}

// A trail is the cells of a session from its beginning, with their executions.
type trail struct {
	cells []string
	ran   []notebook.Execution
	lost  bool // a cell failed: the state is not what the cells produce
	known bool // the present state has been kept, if that is possible
}

// New returns a Session of a kernel that has run no cells. The Session owns the kernel from then
// on: use and close the kernel only through it.
func New(k *kernel.Kernel, o Options) *Session {
	s := &Session{Kernel: k, way: notebook.ByReplay, why: o.Why, branches: o.Branches}
	switch {
	case !k.Info().Owned:
		s.way, s.why = notebook.ByNames, ""
	case !o.Replay && slices.Contains(k.Info().Features, undokernel.Module):
		f, err := newFreezer(k, o.MaxMemory)
		s.way, s.why, s.copies = notebook.ByCheckpoint, "", &checkpoints{kernel: f}
		if err != nil {
			s.copies.off = err.Error()
		}
	}
	return s
}

// Execute runs code as one cell. See [kernel.Kernel.Execute].
func (s *Session) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	return s.ExecuteCell(ctx, kernel.Cell{Code: code})
}

// ExecuteCell is Execute with the options of a [kernel.Cell]. It keeps the present state before, if
// possible.
func (s *Session) ExecuteCell(ctx context.Context, c kernel.Cell) (notebook.Execution, error) {
	ctx, release, err := s.Kernel.Hold(ctx)
	if err != nil {
		return notebook.Execution{}, err
	}
	defer release()
	s.keep(ctx)
	if ctx.Err() != nil { // nothing has run yet that must be undone
		return notebook.Execution{}, kernel.Ended(ctx)
	}
	x, err := s.Kernel.ExecuteCell(ctx, c)
	t := &s.trail
	if t.lost = t.lost || err != nil || x.Status != notebook.OK; !t.lost {
		t.cells, t.ran, t.known = append(t.cells, c.Code), append(t.ran, x), false
	}
	return x, err
}

// keep keeps the present state, that of the trail, if it can.
func (s *Session) keep(ctx context.Context) {
	if s.copies != nil && !s.trail.known && !s.trail.lost && s.Kernel.Alive() && ctx.Err() == nil {
		s.trail.known = s.copies.keep(ctx, s.trail)
	}
}

// Rollback takes the kernel to the state that cells produce in a new kernel. It also works on a
// dead kernel, if that is ours. Changes made by requests other than cells may stay.
//
// After a rollback by checkpoint or replay, names, objects changed in place, files in the scratch
// folder and random generators are as the cells alone produce them. In a kernel that is not ours,
// names that cells created are deleted, names that they rebound get their old objects back, and the
// scratch folder is emptied before the cells run again, in their first working folder; objects and
// other files that were changed in place stay changed.
//
// It stops at the first cell that is not OK, whose execution is the last one returned. After an
// error the kernel is dead or has run only some of the cells; another Rollback may follow.
func (s *Session) Rollback(ctx context.Context, cells []string) (back notebook.Restoration,
	err error) {
	began := time.Now()
	ctx, release, err := s.Kernel.Hold(ctx)
	if err != nil {
		return back, err
	}
	defer release()
	if s.branches || lists.Begins(cells, s.trail.cells) { // else it is not needed again
		s.keep(ctx)
	}
	back, known := notebook.Restoration{Way: notebook.ByReplay}, s.trail.known
	if len(s.trail.cells) > 0 || s.trail.lost || !s.Kernel.Alive() { // else there is nothing to undo
		back, known, err = s.back(ctx, cells)
	}
	if err == nil {
		n := len(back.Executions)
		s.trail = trail{cells: cells[:n:n], ran: back.Executions[:n:n], known: known}
		for n < len(cells) && err == nil && !s.trail.lost {
			var x notebook.Execution
			if x, err = s.ExecuteCell(ctx, kernel.Cell{Code: cells[n]}); err == nil {
				n, back.Executions = n+1, append(back.Executions, x)
			}
		}
	}
	if err != nil {
		s.trail.lost = true
		err = fmt.Errorf("roll back: %w", err)
	}
	back.Seconds = time.Since(began).Seconds()
	return back, err
}

// back restores the state after the longest possible prefix of cells. It returns the executions of
// these, and whether that state is kept already.
func (s *Session) back(ctx context.Context, cells []string) (back notebook.Restoration, known bool,
	err error) {
	way, why := s.way, s.why
	if s.copies != nil {
		if back, why, err = s.copies.back(ctx, cells); err != nil || back.Way != "" {
			return back, err == nil, err
		}
		way, s.copies.all = notebook.ByReplay, nil
	}
	return notebook.Restoration{Way: way, Why: why}, false, s.Kernel.Reset(ctx)
}
