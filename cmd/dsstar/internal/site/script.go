package site

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/notebook"
)

// RunScript returns the function that runs the script of a proof: in plain Python, or, where only
// kernels can be started (on a server or by a launcher), in a new kernel.
func (h Host) RunScript(p *Site, s *configs.Settings) agent.RunScript {
	return func(ctx context.Context, dir string,
		limit time.Duration) (x notebook.Execution, err error) {
		box := p.Box
		box.Read = append(slices.Clone(box.Read), dir)
		o := kernel.Options{Spec: p.Spec, Dir: dir, Scratch: filepath.Join(dir, "files"),
			Env: h.KernelEnv(s), Sandbox: box,
			CellTimeout: s.CellTimeout, StartTimeout: s.StartTimeout}
		if h.Cells != nil && p.Server.URL == "" {
			return h.Cells.RunScript(ctx, o)
		}
		script := string(record.Folder(dir).Script())
		var k *kernel.Kernel
		if p.Server.URL != "" {
			k, err = kernel.Dial(ctx, p.Server, "", o)
		} else if x, err = kernel.RunScript(ctx, o, script, limit); errors.Is(err,
			errors.ErrUnsupported) {
			k, err = kernel.Start(ctx, o)
		} else {
			return x, err
		}
		if err != nil {
			return x, err
		}
		defer func() { err = errors.Join(err, k.Close()) }()
		return k.RunScript(ctx, script, limit)
	}
}
