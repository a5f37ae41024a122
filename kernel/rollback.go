package kernel

import (
	"context"
	"fmt"
	"os"

	"dsstar/notebook"
)

// Rollback takes the kernel to the state that cells produce from nothing: it
// ends the process, empties Scratch, starts a new process and executes cells in
// order. Names, objects changed in place, files in Scratch and random
// generators are then what the cells alone make them. It works on a kernel
// that has died, too.
//
// It returns the executions. It stops at the first cell that is not OK, whose
// execution is the last one returned. After an error the kernel is dead, or has
// run fewer cells than were asked for; another Rollback may follow.
func (k *Kernel) Rollback(ctx context.Context, cells []string) ([]notebook.Execution, error) {
	ctx, release, err := k.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	old := k.current()
	old.end()
	if old.proc.alive() {
		return nil, fmt.Errorf("roll back: process %d cannot be killed", old.proc.pid)
	}
	// Only now: a live process could still write there.
	if err := empty(k.options.Scratch); err != nil {
		return nil, fmt.Errorf("roll back: %w", err)
	}
	s, err := boot(ctx, k.options, k.waits)
	if err != nil {
		if ctx.Err() != nil {
			err = reason(ctx)
		}
		return nil, fmt.Errorf("roll back: %w", err)
	}
	k.mu.Lock()
	k.session = s
	k.mu.Unlock()
	done := make([]notebook.Execution, 0, len(cells))
	for _, code := range cells {
		r := &run{s: s, code: code, limit: k.options.CellTimeout}
		x, err := r.execute(ctx)
		if err != nil {
			return done, fmt.Errorf("roll back: %w", err)
		}
		done = append(done, x)
		if x.Status != notebook.OK {
			break
		}
	}
	return done, nil
}

// empty removes what is in the folder path, but not the folder, which it makes
// if it is missing. Links in it are removed, never followed.
func empty(path string) error {
	if path == "" {
		return nil
	}
	if err := makeDir(path); err != nil {
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := root.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

func makeDir(path string) error { return os.MkdirAll(path, 0o777) }
