package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

// sandboxRows returns rows that compare a kernel in each tier to an unconfined one.
func sandboxRows() (all []row) {
	for _, tier := range []sandbox.Tier{sandbox.Builtin, sandbox.Full} {
		all = append(all,
			row{fmt.Sprintf("sandbox %s: start of the kernel (wanted: ratio 1.15) | without", tier),
				func(ctx context.Context, b *bench) (result, error) {
					return starts(ctx, b, kind{tier: tier}, kind{})
				}},
			row{fmt.Sprintf("sandbox %s: execute round trip, p50 (wanted: ratio 1.05) | without", tier),
				func(ctx context.Context, b *bench) (result, error) {
					return roundTrips(ctx, b, 2000, kind{tier: tier, stays: true}, kind{stays: true})
				}})
	}
	return all
}

// A kind is a kind of kernel that is measured; the zero value is ipykernel without a sandbox.
type kind struct {
	checkpoints bool
	tier        sandbox.Tier
	stays       bool // it makes no checkpoints before cells
}

// begin starts a kernel in its own folder.
func (b *bench) begin(ctx context.Context, k kind) (*checkpoint.Session, error) {
	dir, err := os.MkdirTemp(b.dir, "session-")
	if err != nil {
		return nil, err
	}
	o := kernel.Options{Spec: kernel.PythonSpec(b.python), Dir: dir, Scratch: dir, Env: os.Environ()}
	if k.checkpoints {
		if o.Spec, err = checkpoint.Spec(o.Spec, filepath.Join(b.dir, "kernels")); err != nil {
			return nil, err
		}
	}
	if k.tier != "" {
		if _, _, err := sandbox.Choose(string(k.tier)); err != nil {
			return nil, err
		}
		o.Sandbox = sandbox.Box{Tier: k.tier, Limits: sandbox.Limits{Memory: 6 << 30, Processes: 256,
			File: 2 << 30, Folder: 4 << 30}}
	}
	started, err := kernel.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return checkpoint.New(started, checkpoint.Options{Copies: dir + "-copies", Off: k.stays}), nil
}

// starts measures the start of two kinds of kernels with their first cells.
func starts(ctx context.Context, b *bench, ours, theirs kind) (result, error) {
	return inTurn(b.times(30), 0, func(i int) error {
		k, err := b.begin(ctx, []kind{ours, theirs}[i])
		if err != nil {
			return err
		}
		defer k.Close()
		return ran(k.Execute(ctx, "1"))
	})
}

// roundTrips measures cells in two kinds of kernels.
func roundTrips(ctx context.Context, b *bench, n int, ours, theirs kind) (result, error) {
	var both [2]*checkpoint.Session
	for i, k := range []kind{ours, theirs} {
		var err error
		if both[i], err = b.begin(ctx, k); err != nil {
			return result{}, err
		}
		defer both[i].Close()
	}
	return inTurn(b.times(n), 2, func(i int) error { return ran(both[i].Execute(ctx, "x = 1")) })
}

// inTurn measures do(0) and do(1), n times in alternation.
func inTurn(n, digits int, do func(which int) error) (result, error) {
	var all [2][]float64
	for range n {
		for i := range all {
			begun := time.Now()
			if err := do(i); err != nil {
				return result{}, err
			}
			all[i] = append(all[i], 1000*time.Since(begun).Seconds())
		}
	}
	ours, theirs := median(all[0]), median(all[1])
	return result{fmt.Sprintf("%.*f ms", digits, ours), fmt.Sprintf("%.*f ms", digits, theirs),
		ratio(ours, theirs)}, nil
}

// ran returns the error of an execution, or of a cell that failed.
func ran(x notebook.Execution, err error) error {
	if err == nil && x.Status != notebook.OK {
		err = fmt.Errorf("a cell ended with %s: %s", x.Status, x.PlainText())
	}
	return err
}

// A held is a part of the reply to a undokernel_checkpoints_request.
type held struct{ Bytes int64 }

// A checkpointReply is the reply to any request of undokernel/README.md.
type checkpointReply struct {
	Status       string
	Milliseconds map[string]float64
	Checkpoints  []held
	Live, Front  held
}

func ask(ctx context.Context, k *checkpoint.Session, request string) (checkpointReply, error) {
	var reply checkpointReply
	m, err := k.Request(ctx, kernel.Message{Channel: kernel.Control,
		Header: kernel.Header{MsgType: request}})
	if err == nil {
		err = json.Unmarshal(m.Content, &reply)
	}
	if err == nil && reply.Status != "ok" {
		err = fmt.Errorf("%s: %s", request, m.Content)
	}
	return reply, err
}
