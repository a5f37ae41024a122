package rewind

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/undokernel"
)

// errSilent is wrapped by the errors of a freezer if the kernel does not answer in time.
var errSilent = errors.New("the kernel did not answer")

// A freezer is a kernel of package undokernel, which can freeze copies of itself, with the files, and
// continue from one, which also stays frozen. It sends the requests of undokernel/README.md; errors
// say in plain words why it did not.
type freezer struct {
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

// newFreezer returns the freezer of a kernel that has run no cells.
func newFreezer(k *kernel.Kernel, memory int64) (freezer, error) {
	f := freezer{Kernel: k, memory: memory, patience: patience}
	if k.Scratch() == "" {
		return f, nil
	}
	path, err := filepath.EvalSymlinks(k.Scratch())
	if err == nil {
		path, err = filepath.Abs(path)
	}
	f.folders = []string{path}
	return f, err
}

// freeze returns the ID of the copy, and its execution_count.
func (f freezer) freeze(ctx context.Context) (string, int, error) {
	r, err := f.ask(ctx, "undokernel_checkpoint_request",
		map[string]any{"folders": f.folders, "memory": f.memory})
	return r.Checkpoint, r.Count, err
}

// resume returns the execution_count of the copy.
func (f freezer) resume(ctx context.Context, id string) (int, error) {
	r, err := f.ask(ctx, "undokernel_rollback_request", map[string]any{"checkpoint": id})
	if err == nil && r.Left != "" {
		err = errors.New(r.Left)
	}
	return r.Count, err
}

func (f freezer) drop(ctx context.Context, id string) error {
	_, err := f.ask(ctx, "undokernel_drop_request", map[string]any{"checkpoints": []string{id}})
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
func (f freezer) ask(ctx context.Context, request string, content any) (r reply, err error) {
	if err := ctx.Err(); err != nil {
		return r, err
	}
	body, _ := json.Marshal(content) // plain data
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	m, err := f.Request(limited, kernel.Message{Channel: kernel.Control,
		Header: kernel.Header{MsgType: request}, Content: body})
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			return r, fmt.Errorf("%w %s within %v", errSilent, request, f.patience)
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

// Spec returns a spec of the same kernel with checkpoints: one that can freeze and resume copies of
// itself in milliseconds (undokernel/README.md). The Python package that does so, around the
// interpreter's ipykernel, is written to a subfolder of dir named after its content: packages of
// other versions stay, and several programs may write there at the same time. A spec that has
// checkpoints already is returned as it is. The error is [errors.ErrUnsupported] on systems other
// than Linux, and for kernels not started as python -m ipykernel_launcher.
func Spec(s kernel.Spec, dir string) (kernel.Spec, error) {
	at := len(s.Python()) + 1 // of the module in Argv
	switch {
	case runtime.GOOS != "linux":
		return s, fmt.Errorf("there are no checkpoints on %s: %w", runtime.GOOS, errors.ErrUnsupported)
	case at == 1:
		return s, fmt.Errorf("checkpoints are for kernels that are started as python -m "+
			"ipykernel_launcher: %w", errors.ErrUnsupported)
	case s.Argv[at] == undokernel.Module:
		return s, nil
	}
	dir, err := filepath.Abs(dir) // cells run in other folders
	if err == nil {
		dir, err = undokernel.Write(dir)
	}
	if err != nil {
		return s, fmt.Errorf("write the kernel with checkpoints: %w", err)
	}
	s.Argv = slices.Clone(s.Argv)
	s.Argv[at] = undokernel.Module
	users, ok := s.Env["PYTHONPATH"]
	if !ok {
		users = "${PYTHONPATH}"
	}
	// The package restores the user's PYTHONPATH.
	env := map[string]string{"UNDOKERNEL_PYTHONPATH": users}
	maps.Copy(env, s.Env)
	env["PYTHONPATH"] = dir + ":" + users
	s.Env = env
	return s, nil
}
