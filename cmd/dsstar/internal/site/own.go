package site

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/rewind"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

// own is new kernels of this machine.
type own struct {
	host     Host
	settings *configs.Settings
	spec     kernel.Spec
	box      sandbox.Box
	confined string // the sandbox in words, with what the user has relaxed
}

// own returns the site of new kernels in the sandbox of the settings.
func (h Host) own(spec kernel.Spec, s *configs.Settings, use Use, say func(string)) (*own, error) {
	b, notes, err := h.Box(s)
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		say(note)
	}
	o := &own{host: h, settings: s, spec: spec, box: b, confined: b.Describe()}
	if s.MaxMemory == 0 && use.Jobs > 1 { // all kernels share the free memory
		o.box.Limits.Memory = max(leastMemory, b.Limits.Memory/int64(use.Jobs))
	}
	return o, nil
}

func (o *own) About() About {
	a := About{Name: cmp.Or(o.spec.DisplayName, o.spec.Name), Spec: o.spec, Sandbox: o.confined,
		Confined: o.box.Confines(), Alone: o.host.onCluster()}
	if o.box.Tier.Confines() {
		a.Memory = o.box.Limits.Memory
	}
	return a
}

// Look finds nothing: the Python was looked at when it was chosen.
func (o *own) Look(context.Context, ...string) error { return nil }

func (o *own) With(r Reach) Site {
	more := *o
	more.box.Own = slices.Concat(o.box.Own, r.Own)
	more.box.Read = slices.Concat(o.box.Read, r.Read)
	more.box.Write = slices.Concat(o.box.Write, r.Write)
	return &more
}

func (o *own) Open(ctx context.Context, p agent.Purpose, dir string, see Observer) (agent.Session, error) {
	box := o.box
	if p != agent.Work { // dir is a temporary folder
		box.Read = append(slices.Clone(box.Read), dir)
	}
	if p == agent.Second { // the run's session holds memory, too
		box.Limits.Memory = min(box.Limits.Memory, usualMemory())
	}
	options, back := o.host.options(o.settings, o.spec, p, dir)
	options.Sandbox = box
	if o.host.Cells != nil {
		return o.host.Cells.Open(options)
	}
	if p != agent.Describe {
		back.MaxMemory = box.Limits.Memory / 4 * 3
	}
	k, err := o.host.Start(ctx, options, back, o.settings)
	if err != nil {
		return nil, err // not a nil *Session in an interface
	}
	return observed(k, p, see), nil
}

func (o *own) RunScript(ctx context.Context, dir string, limit time.Duration) (notebook.Execution, error) {
	options, box := o.host.plain(o.settings, o.spec, dir), o.box
	box.Read = append(slices.Clone(box.Read), dir)
	options.Sandbox = box
	if o.host.Cells != nil {
		return o.host.Cells.RunScript(ctx, options)
	}
	x, err := kernel.RunScript(ctx, options, string(record.Folder(dir).Script()), limit)
	if !errors.Is(err, errors.ErrUnsupported) {
		return x, err
	}
	k, err := kernel.Start(ctx, options)
	if err != nil {
		return x, err
	}
	return scriptIn(ctx, k, dir, limit)
}

// scriptIn runs the script of a proof in a new kernel, and closes that.
func scriptIn(ctx context.Context, k *kernel.Kernel, dir string,
	limit time.Duration) (x notebook.Execution, err error) {
	defer func() { err = errors.Join(err, k.Close()) }()
	return k.RunScript(ctx, string(record.Folder(dir).Script()), limit)
}

// Start starts a local kernel that goes back as the settings say. If checkpoints do not work, the
// session replays cells instead.
func (h Host) Start(ctx context.Context, o kernel.Options, back rewind.Options,
	s *configs.Settings) (*rewind.Session, error) {
	start := func(spec kernel.Spec, err error) (*rewind.Session, error) {
		if err != nil {
			return nil, err
		}
		o.Spec = spec
		k, err := kernel.Start(ctx, o)
		if err != nil {
			return nil, err
		}
		return rewind.New(k, back), nil
	}
	plain := o.Spec
	switch {
	case s.Rollback == "replay":
	case h.onCluster():
		back.Why = "a copy of the session could not use its connection to the cluster"
	default:
		k, err := start(rewind.Spec(plain, filepath.Join(h.CacheDir, "kernels")))
		if err == nil || ctx.Err() != nil {
			return k, err
		}
		back.Why = err.Error()
	}
	return start(plain, nil)
}

// onCluster reports whether cells reach a cluster: its client's state cannot be copied.
func (h Host) onCluster() bool {
	return slices.ContainsFunc(h.Databases, func(d Database) bool { return EngineOf(d.Address) != "" })
}

// remote is new kernels of a server.
type remote struct {
	host     Host
	settings *configs.Settings
	server   kernel.Server
	spec     kernel.Spec
}

func (r *remote) About() About {
	return About{
		Name: cmp.Or(r.spec.DisplayName, r.spec.Name), Spec: r.spec, Server: r.server.URL,
		Sandbox: "none (of a server)", Alone: true,
		Consent: Consent{Lines: []string{
			"server   " + r.server.URL +
				": its kernels are not in dsstar's sandbox. The cells that the model writes run there",
			"         with all rights that the server has.",
		}, What: "running cells unsandboxed, in kernels of a server,"},
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

func (r *remote) Open(ctx context.Context, p agent.Purpose, dir string, see Observer) (agent.Session, error) {
	options, back := r.host.options(r.settings, r.spec, p, dir)
	k, err := kernel.Dial(ctx, r.server, "", options)
	if err != nil {
		return nil, err // not a nil *Kernel in an interface
	}
	return observed(rewind.New(k, back), p, see), nil
}

func (r *remote) RunScript(ctx context.Context, dir string,
	limit time.Duration) (x notebook.Execution, err error) {
	k, err := kernel.Dial(ctx, r.server, "", r.host.plain(r.settings, r.spec, dir))
	if err != nil {
		return x, err
	}
	return scriptIn(ctx, k, dir, limit)
}
