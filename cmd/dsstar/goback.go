package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/notebook"
)

// start starts a local kernel with the rollback of the settings.
func (a *app) start(ctx context.Context, o kernel.Options, back checkpoint.Options, s *configs.Settings, purpose agent.Purpose) (*checkpoint.Session, error) {
	if s.Rollback == "replay" || s.Rollback == "off" {
		return begin(ctx, o, back)
	}
	freezing, by := o, back
	if purpose != agent.Describe {
		by.MaxMemory = o.Sandbox.Limits.Memory / 4 * 3
	}
	by.Copies = copiesIn(o.Dir)
	var k *checkpoint.Session
	spec, err := kernel.CheckpointSpec(o.Spec, filepath.Join(a.cacheDir, "kernels"))
	if err == nil {
		freezing.Spec = spec
		k, err = begin(ctx, freezing, by)
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return k, err
	case s.Rollback == "checkpoint":
		return nil, fmt.Errorf("--rollback checkpoint: %w", err)
	}
	back.Why = err.Error()
	return begin(ctx, o, back)
}

func begin(ctx context.Context, o kernel.Options, back checkpoint.Options) (*checkpoint.Session, error) {
	k, err := kernel.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return checkpoint.New(k, back), nil
}

// copiesIn is the folder for copies of a session's files. It is on their file system, which may
// share the blocks.
func copiesIn(dir string) string { return filepath.Join(dir, ".dsstar-copies") }

// requireCheckpoints rejects a kernel without checkpoints if the settings insist on them.
func requireCheckpoints(s *configs.Settings, k *checkpoint.Session) error {
	if s.Rollback != "checkpoint" || k.Way() == notebook.ByCheckpoint {
		return nil
	}
	return usage.New("--rollback checkpoint: this kernel cannot freeze copies of itself",
		usage.Again("--rollback", "auto"))
}

// result describes the kernel in --json.
func (p place) result(s *configs.Settings) resultKernel {
	way := cmp.Or(p.way, notebook.ByReplay)
	if s.Rollback == "off" {
		way = notebook.NotAtAll
	}
	r := resultKernel{Name: cmp.Or(p.spec.DisplayName, p.spec.Name), Owned: true, Sandbox: p.sandbox(), Rollback: string(way)}
	if p.guest != nil {
		r.Name, r.Owned = p.guest.name, false
	}
	return r
}
