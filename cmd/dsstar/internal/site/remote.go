package site

import (
	"cmp"
	"context"
	"time"

	"dsstar/agent"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/rewind"
	"dsstar/notebook"
)

// remote is new kernels of a server.
type remote struct {
	host     Host
	settings *configs.Settings
	server   kernel.Server
	spec     kernel.Spec
	way      notebook.Way // how the run's own session goes back; "" before it is open
}

func (r *remote) About() About {
	return About{
		Name: cmp.Or(r.spec.DisplayName, r.spec.Name), Spec: r.spec, Server: r.server.URL,
		Way: cmp.Or(r.way, notebook.ByReplay), Sandbox: "none (of a server)", Alone: true,
		Consent: Consent{Lines: []string{
			"server   " + r.server.URL +
				": its kernels are not in dsstar's sandbox. The cells that the model writes run there",
			"         with all rights that the server has.",
		}, What: "running cells unsandboxed, in kernels of a server,",
			Question: "         Run them there? [y/N] "},
	}
}

// With returns r: the server's kernels cannot be confined.
func (r *remote) With(Reach) Site { return r }

func (r *remote) Look(ctx context.Context, folders ...string) error {
	k, err := kernel.Dial(ctx, r.server, "", kernel.Options{Spec: r.spec,
		Env: r.host.KernelEnv(r.settings), CellTimeout: r.settings.CellTimeout,
		StartTimeout: r.settings.StartTimeout})
	if err != nil {
		return err
	}
	_, err = look(ctx, k, r.server.URL, folders)
	return err
}

func (r *remote) Open(ctx context.Context, p agent.Purpose, dir string,
	see Observer) (agent.Session, error) {
	options, back := r.host.options(r.settings, r.spec, p, dir)
	k, err := kernel.Dial(ctx, r.server, "", options)
	if err != nil {
		return nil, err // not a nil *Kernel in an interface
	}
	return opened(rewind.New(k, back), p, see, &r.way), nil
}

func (r *remote) RunScript(ctx context.Context, dir string,
	limit time.Duration) (x notebook.Execution, err error) {
	k, err := kernel.Dial(ctx, r.server, "", r.host.plain(r.settings, r.spec, dir))
	if err != nil {
		return x, err
	}
	return scriptIn(ctx, k, dir, limit)
}
