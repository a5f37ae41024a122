package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dsstar/notebook"
)

// Rollback takes the kernel to the state that cells produce from nothing: it
// ends the process, empties Scratch, starts a new process and executes cells in
// order. Names, objects changed in place, files in Scratch and random
// generators are then what the cells alone make them. It works on a kernel
// that has died, too.
//
// A kernel that is not ours is not restarted: the names that cells made there
// are deleted, those that they bound anew get their old objects back, and the
// cells run again. Objects and files that were changed in place stay changed.
//
// It stops at the first cell that is not OK, whose execution is the last one
// returned. After an error the kernel is dead, or has run fewer cells than were
// asked for; another Rollback may follow.
func (k *Kernel) Rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	began := time.Now()
	back := notebook.Restoration{Way: notebook.ByReplay}
	ctx, release, err := k.begin(ctx)
	if err != nil {
		return back, err
	}
	defer release()
	if k.again == nil {
		back.Way = notebook.ByNames
		back.Executions, err = k.current().restore(ctx, k, cells)
	} else {
		back.Executions, err = k.replay(ctx, cells)
	}
	back.Seconds = time.Since(began).Seconds()
	return back, err
}

// replay is Rollback by a new process.
func (k *Kernel) replay(ctx context.Context, cells []string) ([]notebook.Execution, error) {
	if err := k.current().end(); err != nil {
		return nil, fmt.Errorf("roll back: %w", err)
	}
	// Only now: a live process could still write there.
	if err := empty(k.options.Scratch, k.options.Outputs.Folder); err != nil {
		return nil, fmt.Errorf("roll back: %w", err)
	}
	s, err := k.again(ctx, k.options)
	if err != nil {
		if ctx.Err() != nil {
			err = reason(ctx)
		}
		return nil, fmt.Errorf("roll back: %w", err)
	}
	k.mu.Lock()
	k.session = s
	k.mu.Unlock()
	return s.replay(ctx, k, cells)
}

// replay executes cells in order and stops at the first that is not OK.
func (s *session) replay(ctx context.Context, k *Kernel, cells []string) ([]notebook.Execution, error) {
	done := make([]notebook.Execution, 0, len(cells))
	for _, code := range cells {
		x, err := s.execute(ctx, Cell{Code: code}, k.options.CellTimeout)
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
// if it is missing, nor the folder kept. Links in it are removed, never followed.
func empty(path, kept string) error {
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
		if filepath.Join(path, name) == filepath.Clean(kept) {
			continue // outputs of cells that the notebook still shows
		}
		if err := root.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

func makeDir(path string) error { return os.MkdirAll(path, 0o777) }
