package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"dsstar/agent"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/notebook"
)

// start starts a kernel of this machine which goes back as the settings say. That of
// a proof never goes back.
func (a *app) start(ctx context.Context, o kernel.Options, s *configs.Settings, purpose agent.Purpose) (*kernel.Kernel, error) {
	if s.Rollback == "replay" || s.Rollback == "off" || purpose == agent.Prove {
		return kernel.Start(ctx, o)
	}
	freezing := o
	if purpose == agent.Work {
		freezing.MaxMemory, freezing.Branches = int64(s.MaxMemory), s.Method.Candidates > 1
	}
	freezing.Copies = filepath.Join(o.Dir, ".dsstar-copies")
	var k *kernel.Kernel
	spec, err := kernel.CheckpointSpec(o.Spec, filepath.Join(a.cacheDir, "kernels"))
	if err == nil {
		freezing.Spec = spec
		k, err = kernel.Start(ctx, freezing)
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return k, err
	case s.Rollback == "checkpoint":
		return nil, fmt.Errorf("--rollback checkpoint: %w", err)
	}
	o.Replays = err.Error()
	return kernel.Start(ctx, o)
}

// wayBack is how the kernels of the place go back, for --json.
func (p place) wayBack(s *configs.Settings) notebook.Way {
	switch {
	case s.Rollback == "off":
		return notebook.NotAtAll
	case p.guest != nil:
		return notebook.ByNames
	case s.Rollback == "replay" || p.server.URL != "" || !kernel.Freezes(p.spec):
		return notebook.ByReplay
	}
	return notebook.ByCheckpoint
}

// result is the kernel as --json shows it.
func (p place) result(s *configs.Settings) resultKernel {
	r := resultKernel{Name: cmp.Or(p.spec.DisplayName, p.spec.Name), Owned: true, Sandbox: "none", Rollback: string(p.wayBack(s))}
	if p.guest != nil {
		r.Name, r.Owned = p.guest.name, false
	}
	return r
}
