package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// freezing is the feature that kernels with checkpoints announce (docs/checkpoints.md).
const freezing = "undokernel"

// ErrSilent is wrapped by the errors of [Kernel.Freeze], Resume, Drop and Memory if the kernel does
// not answer in time.
var ErrSilent = errors.New("the kernel did not answer")

var errEnded = errors.New("the kernel ended")

// A Frozen is a frozen copy of a session.
type Frozen struct {
	ID       string
	Count    int   // execution_count of the session
	Resident int64 // bytes held by the kernel and all copies, shared pages counted repeatedly
}

// Freezes reports whether the kernel can freeze copies of itself: see [CheckpointSpec].
func (k *Kernel) Freezes() bool { return k.current().freezes() }

func (s *session) freezes() bool { return slices.Contains(s.info.Features, freezing) }

// Freeze has the kernel freeze a copy of itself. The error says in plain words why it cannot.
func (k *Kernel) Freeze(ctx context.Context) (Frozen, error) {
	var reply struct {
		Checkpoint string
		Count      int `json:"execution_count"`
		Resident   int64
	}
	err := k.control(ctx, "undokernel_checkpoint_request", map[string]string{"folder": k.folder}, &reply)
	return Frozen{reply.Checkpoint, reply.Count, reply.Resident}, err
}

// Resume ends the current worker process and has the kernel continue from a copy, which also stays
// frozen. It returns the copy's execution_count. It does not restore files.
func (k *Kernel) Resume(ctx context.Context, id string) (count int, err error) {
	var reply struct {
		Count int `json:"execution_count"`
	}
	if err := k.control(ctx, "undokernel_rollback_request",
		map[string]string{"checkpoint": id, "folder": k.folder}, &reply); err != nil {
		return 0, err
	}
	k.current().rise()
	return reply.Count, nil
}

// Drop drops a frozen copy.
func (k *Kernel) Drop(ctx context.Context, id string) error {
	return k.control(ctx, "undokernel_drop_request", map[string][]string{"checkpoints": {id}}, &struct{}{})
}

// Memory returns the bytes held by the kernel and its frozen copies, and the bytes available.
func (k *Kernel) Memory(ctx context.Context) (held, available int64, err error) {
	type part struct{ Bytes int64 }
	var reply struct {
		Live, Front part
		Checkpoints []part
		Available   int64
	}
	err = k.control(ctx, "undokernel_checkpoints_request", struct{}{}, &reply)
	held = reply.Live.Bytes + reply.Front.Bytes
	for _, c := range reply.Checkpoints {
		held += c.Bytes
	}
	return held, reply.Available, err
}

// control sends a request of docs/checkpoints.md and reads the reply.
func (k *Kernel) control(ctx context.Context, request string, content, into any) error {
	ctx, release, err := k.turn.Take(ctx)
	if err != nil {
		return err
	}
	defer release()
	s := k.current()
	if ended(s.host) {
		return errEnded
	}
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.waits.frozen)
	defer cancel()
	// Do not cancel at once: a copy that is being made would be lost.
	defer context.AfterFunc(ctx, func() { time.AfterFunc(s.waits.cancel, cancel) })()
	reply, err := s.roundTrip(limited, Message{Channel: Control, Header: Header{MsgType: request},
		Content: body})
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			return fmt.Errorf("%w %s within %v", ErrSilent, request, s.waits.frozen)
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

const died = "the kernel died: "

// obituary recognises the exception with which a kernel with checkpoints reports the end of its
// worker process, and returns how it ended.
func (s *session) obituary(name, value string) (how string, ok bool) {
	if !s.freezes() || name != "KernelDied" {
		return "", false
	}
	return strings.CutPrefix(value, died)
}

// kill kills the kernel, or only the worker process of a kernel with checkpoints.
func (s *session) kill() (done string) {
	if s.guest != nil || !s.freezes() || ended(s.host) {
		return s.host.kill()
	}
	s.tell(Control, "undokernel_kill_request", struct{}{})
	return "the kernel was killed"
}

// resolved returns the absolute path of a folder without links; "" for "".
func resolved(folder string) (string, error) {
	if folder == "" {
		return "", nil
	}
	path, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
