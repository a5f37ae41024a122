package rewind

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"dsstar/kernel"
)

// errSilent is wrapped by the errors of a freezer if the kernel does not answer in time.
var errSilent = errors.New("the kernel did not answer")

// A freezer is a kernel that can freeze copies of itself, with the files, and continue from one,
// which also stays frozen. count is the execution_count. Errors say in plain words why it did not.
type freezer interface {
	freeze(context.Context) (id string, count int, err error)
	resume(ctx context.Context, id string) (count int, err error)
	drop(ctx context.Context, id string) error
}

// An undoer is a kernel of package undokernel. It sends the requests of undokernel/README.md.
type undoer struct {
	*kernel.Kernel
	folders []string // its scratch folder as processes see it; none if it has none
	memory  int64    // Options.MaxMemory
	// for the kernel to freeze or resume a copy; its own limits, in frozen.py and files.py, are
	// shorter
	patience time.Duration
}

const (
	patience = 30 * time.Second
	// from the end of the caller's context: a copy that is being made would be lost
	grace = 2 * time.Second
)

// newUndoer returns the freezer of a kernel that has run no cells.
func newUndoer(k *kernel.Kernel, memory int64) (undoer, error) {
	u := undoer{Kernel: k, memory: memory, patience: patience}
	if k.Scratch() == "" {
		return u, nil
	}
	path, err := filepath.EvalSymlinks(k.Scratch())
	if err == nil {
		path, err = filepath.Abs(path)
	}
	u.folders = []string{path}
	return u, err
}

func (u undoer) freeze(ctx context.Context) (string, int, error) {
	r, err := u.ask(ctx, "undokernel_checkpoint_request",
		map[string]any{"folders": u.folders, "memory": u.memory})
	return r.Checkpoint, r.Count, err
}

func (u undoer) resume(ctx context.Context, id string) (int, error) {
	r, err := u.ask(ctx, "undokernel_rollback_request", map[string]any{"checkpoint": id})
	if err == nil && r.Left != "" {
		err = errors.New(r.Left)
	}
	return r.Count, err
}

func (u undoer) drop(ctx context.Context, id string) error {
	_, err := u.ask(ctx, "undokernel_drop_request", map[string]any{"checkpoints": []string{id}})
	return err
}

// A reply is what the kernel says to any of these requests.
type reply struct {
	Status, EName, EValue string
	Checkpoint            string
	Count                 int    `json:"execution_count"`
	Left                  string `json:"not_restored"`
}

// ask sends a request and reads the reply.
func (u undoer) ask(ctx context.Context, request string, content any) (r reply, err error) {
	if err := ctx.Err(); err != nil {
		return r, err
	}
	body, err := json.Marshal(content)
	if err != nil {
		return r, err
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), u.patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	m, err := u.Request(limited, kernel.Message{Channel: kernel.Control,
		Header: kernel.Header{MsgType: request}, Content: body})
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			return r, fmt.Errorf("%w %s within %v", errSilent, request, u.patience)
		}
		return r, err
	}
	if err := json.Unmarshal(m.Content, &r); err != nil {
		return r, fmt.Errorf("%s: %w", m.Header.MsgType, err)
	}
	if r.Status != "ok" {
		return r, errors.New(cmp.Or(r.EValue, r.EName, "no reason was given"))
	}
	return r, nil
}
