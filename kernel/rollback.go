package kernel

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// Rollback takes the kernel to the state that cells produce from nothing. It
// works on a kernel that has died, too. What requests other than cells have
// changed in the kernel may stay. There are three ways, of which it takes the first
// that is open; with Options.Stays it takes none while the kernel lives.
//
// A kernel that can freeze copies of itself (see [CheckpointSpec]) goes on from the copy
// that was made after the most of the cells, with the files in Scratch as they
// were then, and runs the rest.
//
// Any other process of ours is ended, Scratch is emptied, and a new process
// executes the cells in order. Names, objects changed in place, files in Scratch
// and random generators are then what the cells alone make them.
//
// A kernel that is not ours is not restarted: the names that cells made there
// are deleted, those that they bound anew get their old objects back, Scratch is
// emptied, and the cells run again. Objects and other files that were changed in
// place stay changed.
//
// It stops at the first cell that is not OK, whose execution is the last one
// returned. After an error the kernel is dead, or has run fewer cells than were
// asked for; another Rollback may follow.
func (k *Kernel) Rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	began := time.Now()
	ctx, release, err := k.begin(ctx)
	if err != nil {
		return notebook.Restoration{}, err
	}
	defer release()
	if k.options.Branches || begin(cells, k.trail.cells) { // else nobody comes back to it
		k.way.keep(ctx, k)
	}
	back, known, err := k.way.back(ctx, k, cells)
	if err == nil && back.Way != notebook.NotAtAll {
		n := len(back.Executions)
		k.trail = trail{cells: cells[:n:n], ran: back.Executions[:n:n], known: known}
		err = k.proceed(ctx, cells, &back)
	}
	if err != nil {
		k.trail.lost = true
		err = fmt.Errorf("roll back: %w", err)
	}
	back.Seconds = time.Since(began).Seconds()
	return back, err
}

// proceed executes the cells that a session which went back has not run yet. It
// stops at the first that is not OK.
func (k *Kernel) proceed(ctx context.Context, cells []string, back *notebook.Restoration) error {
	for _, code := range cells[len(back.Executions):] {
		x, err := k.cell(ctx, Cell{Code: code})
		if err != nil {
			return err
		}
		if back.Executions = append(back.Executions, x); x.Status != notebook.OK {
			break
		}
	}
	return nil
}

// cell executes a cell in its turn, on a state that can be gone back to if possible.
func (k *Kernel) cell(ctx context.Context, c Cell) (notebook.Execution, error) {
	k.way.keep(ctx, k)
	if ctx.Err() != nil { // before anything has run that would have to be undone
		return notebook.Execution{}, reason(ctx)
	}
	x, err := k.current().execute(ctx, c, k.limit(c))
	k.trail.add(c.Code, x, err)
	return x, err
}

// A trail is what the cells of a session were and gave, from its beginning.
type trail struct {
	cells []string
	ran   []notebook.Execution
	lost  bool // a cell did not end well: the state is not what the cells make
	known bool // the way back has been told of the present state
}

func (t *trail) add(code string, x notebook.Execution, err error) {
	if err != nil || x.Status != notebook.OK {
		t.lost = true
	}
	if !t.lost {
		t.cells, t.ran, t.known = append(t.cells, code), append(t.ran, x), false
	}
}

// begin reports whether cells begin with those.
func begin(cells, with []string) bool {
	return len(with) <= len(cells) && slices.Equal(cells[:len(with)], with)
}

// A wayBack takes the session of a kernel back. Its methods are called in the
// kernel's turn.
type wayBack interface {
	// keep remembers, if it can, the state that the kernel's trail has led to.
	keep(context.Context, *Kernel)
	// back takes the session to what the first of the cells made, as many as it can,
	// and returns what these gave, and whether that state is remembered already.
	back(ctx context.Context, k *Kernel, cells []string) (back notebook.Restoration, known bool, err error)
	// leave has the kernel give up what it holds for this, as it is about to be left.
	leave(*session)
	// close frees what is remembered.
	close()
}

// stay does not go back, unless the kernel has died, or is new.
type stay struct{ wayBack }

func (stay) keep(context.Context, *Kernel) {}

func (s stay) back(ctx context.Context, k *Kernel, cells []string) (notebook.Restoration, bool, error) {
	if k.Alive() && (len(k.trail.cells) > 0 || k.trail.lost) {
		return notebook.Restoration{Way: notebook.NotAtAll}, true, nil
	}
	return s.wayBack.back(ctx, k, cells)
}

// replay goes back by a new process.
type replay struct{}

func (replay) keep(context.Context, *Kernel) {}
func (replay) leave(*session)                {}
func (replay) close()                        {}

func (replay) back(ctx context.Context, k *Kernel, _ []string) (back notebook.Restoration, known bool, err error) {
	back = notebook.Restoration{Way: notebook.ByReplay, Why: k.options.Replays}
	if err := k.current().end(); err != nil {
		return back, false, err
	}
	// Only now: a live process could still write there.
	if err := k.options.emptyScratch(); err != nil {
		return back, false, err
	}
	s, err := k.again(ctx, k.options)
	if err != nil {
		if ctx.Err() != nil {
			err = reason(ctx)
		}
		return back, false, err
	}
	k.mu.Lock()
	k.session = s
	k.mu.Unlock()
	return back, false, nil
}

// names goes back in a kernel that is not ours.
type names struct{}

func (names) keep(context.Context, *Kernel) {}
func (names) leave(*session)                {}
func (names) close()                        {}

func (names) back(ctx context.Context, k *Kernel, _ []string) (back notebook.Restoration, known bool, err error) {
	back = notebook.Restoration{Way: notebook.ByNames}
	if err := k.current().restore(ctx); err != nil {
		return back, false, err
	}
	return back, false, k.options.emptyScratch()
}

// emptyScratch removes what cells have written.
func (o Options) emptyScratch() error {
	if o.Scratch == "" {
		return nil
	}
	if o.parent == nil { // no cell has run yet
		return disk.EmptyFolder(o.Scratch)
	}
	if err := leadsTo(filepath.Dir(o.Scratch), o.parent); err != nil { // what starts now would go by the path
		return err
	}
	return disk.EmptyFolderIn(o.parent, filepath.Base(o.Scratch))
}
