package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/undokernel"
)

// errSilent is wrapped by the errors of a freezer if the kernel does not answer in time.
var errSilent = errors.New("the kernel did not answer")

// A freezer is a kernel that can freeze copies of itself.
type freezer interface {
	// freeze has the kernel freeze a copy of itself. The error says in plain words why it cannot.
	freeze(context.Context) (frozen, error)
	// resume ends the current worker process and has the kernel continue from a copy, which also stays
	// frozen. It returns the copy's execution_count. It does not restore files.
	resume(ctx context.Context, id string) (count int, err error)
	// drop drops a frozen copy.
	drop(ctx context.Context, id string) error
	// memory returns the bytes held by the kernel and its frozen copies, and the bytes available.
	memory(context.Context) (held, available int64, err error)
}

// A frozen is a frozen copy of a session.
type frozen struct {
	id       string
	count    int   // execution_count of the session
	resident int64 // bytes held by the kernel and all copies, shared pages counted repeatedly
}

// An undoer is a kernel of package undokernel. It sends the requests of undokernel/README.md.
type undoer struct {
	*kernel.Kernel
	folder string // its scratch folder as processes see it
	// for the kernel to freeze or resume a copy; its own limit, in frozen.py, is shorter
	patience time.Duration
}

const (
	patience = 20 * time.Second
	// from the end of the caller's context: a copy that is being made would be lost
	grace = 2 * time.Second
)

// freezes reports whether k can freeze copies of itself.
func freezes(k *kernel.Kernel) bool { return slices.Contains(k.Info().Features, undokernel.Module) }

// newUndoer returns the freezer of a kernel that has run no cells.
func newUndoer(k *kernel.Kernel) (undoer, error) {
	u := undoer{Kernel: k, patience: patience}
	if k.Scratch() == "" {
		return u, nil
	}
	path, err := filepath.EvalSymlinks(k.Scratch())
	if err == nil {
		u.folder, err = filepath.Abs(path)
	}
	return u, err
}

func (u undoer) freeze(ctx context.Context) (frozen, error) {
	var reply struct {
		Checkpoint string
		Count      int `json:"execution_count"`
		Resident   int64
	}
	err := u.ask(ctx, "undokernel_checkpoint_request", map[string]string{"folder": u.folder}, &reply)
	return frozen{reply.Checkpoint, reply.Count, reply.Resident}, err
}

func (u undoer) resume(ctx context.Context, id string) (count int, err error) {
	var reply struct {
		Count int `json:"execution_count"`
	}
	err = u.ask(ctx, "undokernel_rollback_request",
		map[string]string{"checkpoint": id, "folder": u.folder}, &reply)
	return reply.Count, err
}

func (u undoer) drop(ctx context.Context, id string) error {
	return u.ask(ctx, "undokernel_drop_request", map[string][]string{"checkpoints": {id}}, &struct{}{})
}

func (u undoer) memory(ctx context.Context) (held, available int64, err error) {
	type part struct{ Bytes int64 }
	var reply struct {
		Live, Front part
		Checkpoints []part
		Available   int64
	}
	err = u.ask(ctx, "undokernel_checkpoints_request", struct{}{}, &reply)
	held = reply.Live.Bytes + reply.Front.Bytes
	for _, c := range reply.Checkpoints {
		held += c.Bytes
	}
	return held, reply.Available, err
}

// ask sends a request and reads the reply.
func (u undoer) ask(ctx context.Context, request string, content, into any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), u.patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	reply, err := u.Request(limited, kernel.Message{Channel: kernel.Control,
		Header: kernel.Header{MsgType: request}, Content: body})
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			return fmt.Errorf("%w %s within %v", errSilent, request, u.patience)
		}
		return err
	}
	var problem struct{ Status, EName, EValue string }
	if err := json.Unmarshal(reply.Content, &problem); err != nil {
		return fmt.Errorf("%s: %w", reply.Header.MsgType, err)
	}
	if problem.Status != "ok" {
		return errors.New(cmp.Or(problem.EValue, problem.EName, "no reason was given"))
	}
	if err := json.Unmarshal(reply.Content, into); err != nil {
		return fmt.Errorf("%s: %w", reply.Header.MsgType, err)
	}
	return nil
}
