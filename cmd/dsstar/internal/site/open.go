package site

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/rewind"
	"dsstar/notebook"
)

// Start starts a local kernel that goes back as the settings say. If checkpoints do not work and
// the settings do not insist on them, the session replays cells instead.
func (h Host) Start(ctx context.Context, o kernel.Options, back rewind.Options,
	s *configs.Settings) (*rewind.Session, error) {
	if !s.Rollback.Freezes() {
		return Begin(ctx, o, back)
	}
	if h.onCluster() {
		back.Why = "a copy of the session could not use its connection to the cluster"
		return Begin(ctx, o, back)
	}
	freezing := o
	var k *rewind.Session
	spec, err := rewind.Spec(o.Spec, filepath.Join(h.CacheDir, "kernels"))
	if err == nil {
		freezing.Spec = spec
		k, err = Begin(ctx, freezing, back)
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return k, err
	case s.Rollback.Insists():
		return nil, fmt.Errorf("--rollback checkpoint: %w", err)
	}
	back.Why = err.Error()
	return Begin(ctx, o, back)
}

// onCluster reports whether cells reach a cluster.
func (h Host) onCluster() bool {
	return slices.ContainsFunc(h.Databases, func(d Database) bool { return d.Cluster })
}

// Begin starts a local kernel and returns its session.
func Begin(ctx context.Context, o kernel.Options,
	back rewind.Options) (*rewind.Session, error) {
	k, err := kernel.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return rewind.New(k, back), nil
}

// requireCheckpoints rejects a kernel without checkpoints if the settings insist on them.
func requireCheckpoints(s *configs.Settings, k *rewind.Session) error {
	if !s.Rollback.Insists() || k.Way() == notebook.ByCheckpoint {
		return nil
	}
	return usage.New("--rollback checkpoint: this kernel cannot make checkpoints",
		usage.Again("--rollback", "auto"))
}

// keptOutputs is the limit in bytes on outputs kept in a run's notebook, which is rewritten
// after each step.
const keptOutputs = 64 << 20

// profiles is the limit in bytes on what a cell prints that profiles files. Nothing keeps it.
const profiles = 32 << 20

// Open returns a function that opens sessions in p. It sets p.Way when it opens the main session.
func (h Host) Open(p *Site, s *configs.Settings) agent.Open {
	return func(ctx context.Context, purpose agent.Purpose, dir string) (agent.Session, error) {
		if purpose == agent.Second && (p.Guest != nil || p.Server.URL != "" || h.onCluster()) {
			return nil, fmt.Errorf("a second session beside the run's: %w", errors.ErrUnsupported)
		}
		o := kernel.Options{Dir: dir, CellTimeout: s.CellTimeout, StartTimeout: s.StartTimeout}
		box := p.Box
		o.Outputs.Run = keptOutputs
		var back rewind.Options
		files := filepath.Join(dir, "files")
		if purpose != agent.Work { // dir is a temporary folder
			box.Read = append(slices.Clone(box.Read), dir)
		}
		if purpose == agent.Second { // the run's session holds memory, too
			box.Limits.Memory = min(box.Limits.Memory, max(LeastMemory, availableMemory()/4*3))
		}
		if purpose == agent.Describe {
			o.Outputs = kernel.Outputs{Limits: notebook.Limits{Stream: profiles}, Run: math.MaxInt64}
		} else { // the main session and the proof look the same to cells
			back.Off, back.Branches = s.Rollback.Off(), !s.Method.Paper
			back.MaxMemory = box.Limits.Memory / 4 * 3
		}
		o.Sandbox = box
		o.Outputs.Secrets, o.Prelude = h.SecretTexts(), agent.Prelude()
		o.Spec, o.Scratch = p.Spec, files
		back.Replay = s.Rollback.Replays()
		if purpose == agent.Work && p.Guest != nil {
			p.Way = notebook.ByNames
			return p.Guest.visit(ctx, o)
		}
		if o.Env = h.KernelEnv(s); purpose == agent.Prove {
			o.Env = append(o.Env, "PYTHONHASHSEED=1") // so that what rests on the order of a set differs
		}
		if h.Cells != nil && p.Server.URL == "" {
			return h.Cells.Open(o)
		}
		var k *rewind.Session
		var err error
		if p.Server.URL != "" {
			k, err = dial(ctx, p.Server, o, back)
		} else {
			k, err = h.Start(ctx, o, back, s)
		}
		if err != nil {
			return nil, err // not a nil *Kernel in an interface
		}
		if purpose == agent.Work {
			p.Way = k.Way()
			if err := requireCheckpoints(s, k); err != nil {
				_ = k.Close() // the first error says more
				return nil, err
			}
		}
		return k, nil
	}
}

// dial starts a kernel on a server.
func dial(ctx context.Context, server kernel.Server, o kernel.Options,
	back rewind.Options) (*rewind.Session, error) {
	k, err := kernel.Dial(ctx, server, "", o)
	if err != nil {
		return nil, err
	}
	return rewind.New(k, back), nil
}
