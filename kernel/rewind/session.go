package rewind

import (
	"context"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/internal/turn"
	"dsstar/notebook"
)

// Options say how a [Session] goes back. The zero value suits most uses.
type Options struct {
	Off       bool   // Rollback does nothing, unless the kernel is dead or new
	Replay    bool   // do not use checkpoints, even if the kernel has them
	Why       string // the [notebook.Restoration.Why] of replays: why there are no checkpoints
	Branches  bool   // also keep states that Rollback abandons, to return to them later
	MaxMemory int64  // for the kernel with its frozen copies, in bytes; 0 for half of what is free
}

// A Session is a kernel that can go back to earlier states. All methods may be called from any
// goroutine; cells and rollbacks run one at a time.
type Session struct {
	*kernel.Kernel
	turn    *turn.Turn
	history *history
}

// New returns a Session of a kernel that has run no cells. The Session owns the kernel from then
// on: use and close the kernel only through it.
func New(k *kernel.Kernel, o Options) *Session {
	return &Session{k, turn.New(), newHistory(k, o)}
}

// Execute runs code as one cell. See [kernel.Kernel.Execute].
func (s *Session) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	return s.ExecuteCell(ctx, kernel.Cell{Code: code})
}

// ExecuteCell is Execute with the options of a [kernel.Cell].
func (s *Session) ExecuteCell(ctx context.Context, c kernel.Cell) (notebook.Execution, error) {
	ctx, release, err := s.turn.Take(ctx)
	if err != nil {
		return notebook.Execution{}, err
	}
	defer release()
	return s.history.execute(ctx, c)
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
func (s *Session) Rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	began := time.Now()
	ctx, release, err := s.turn.Take(ctx)
	if err != nil {
		return notebook.Restoration{}, err
	}
	defer release()
	back, err := s.history.rollback(ctx, cells)
	back.Seconds = time.Since(began).Seconds()
	return back, err
}

// Way returns how Rollback goes back unless something prevents it.
func (s *Session) Way() notebook.Way { return s.history.way }

// Close closes the kernel, and with it all copies. See [kernel.Kernel.Close].
func (s *Session) Close() error { return s.turn.Close(s.Kernel.Close) }
