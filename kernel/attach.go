package kernel

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"dsstar/kernel/internal/zmq"
)

// Attach joins a running kernel as a guest, by its connection file. It does not wait for a busy
// kernel; the first cell does. The caller must Close the Kernel, which leaves the kernel itself
// running. Options.Spec and Options.Env are ignored.
func Attach(ctx context.Context, file string, o Options) (*Kernel, error) {
	return newKernel(ctx, o, "attach to "+file, false,
		func(ctx context.Context, o Options) (*session, error) { return visitLocal(ctx, file, o) })
}

func visitLocal(ctx context.Context, file string, o Options) (*session, error) {
	c, err := zmq.Read(file)
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := startContext(ctx, o)
	defer cancel()
	g := &guest{ending{ch: make(chan struct{})}}
	s := newSession(g, o)
	s.guest = &visit{dir: o.Dir}
	link, err := zmq.Dial(ctx, c, s.input != nil, s.deliver)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), fmt.Errorf("no kernel answers there any more: %w", err))
	}
	s.link = link
	go g.watch(link)
	if err := s.meet(ctx); err != nil {
		return nil, err
	}
	s.info.Name, s.info.ID = c.KernelName, kernelID(file)
	return s, nil
}

func startContext(ctx context.Context, o Options) (context.Context, context.CancelFunc) {
	limit := cmp.Or(o.StartTimeout, time.Minute)
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: %v", errNotReady, limit))
}

// meet greets a kernel on the control channel, which even a busy kernel answers. If that fails, it
// ends the session.
func (s *session) meet(ctx context.Context) error {
	err := s.greet(ctx, Control)
	if err != nil {
		_ = s.end(false) // the first error says more
	}
	return err
}

// kernelID returns the id that Jupyter gives a kernel with this connection file.
func kernelID(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	return strings.TrimPrefix(name, "kernel-")
}
