package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"dsstar/kernel/internal/zmq"
	"dsstar/notebook"
)

// A BufferedError is a refusal to join a kernel without clients: the server may buffer output for
// its last client, and drops it when another one connects.
type BufferedError struct{ ID string }

func (e *BufferedError) Error() string {
	return fmt.Sprintf("nobody is connected to the kernel %s: output that the server keeps for "+
		"whoever was would be lost", e.ID)
}

// Dial connects to a kernel on a server.
//
// With an id it joins that kernel as a guest, like [Attach]. If somebody could lose output by that,
// it fails with a [*BufferedError], unless Options.Discard is set.
//
// Without an id it starts a kernel, which Close ends. Options.Spec.Name says which; "" is the
// server's default. Options.Dir is then a path on the server's machine, Options.Scratch a path that
// leads to the same folder there and here, and a gateway gets the variables KERNEL_* of
// Options.Env.
//
// The Kernel restores a lost connection. What the server buffers meanwhile is not lost.
func Dial(ctx context.Context, server Server, id string, o Options) (*Kernel, error) {
	what := "start a kernel on " + server.URL
	if id != "" {
		what = "attach to the kernel " + id + " of " + server.URL
	}
	return newKernel(ctx, o, what, id == "", func(ctx context.Context, o Options) (*session, error) {
		return visitServer(ctx, server, id, o)
	})
}

func visitServer(ctx context.Context, server Server, id string, o Options) (*session, error) {
	ctx, cancel := startContext(ctx, o)
	defer cancel()
	host := &remote{ending: ending{ch: make(chan struct{})}, server: server, id: id, own: id == ""}
	s := newSession(host, o)
	if host.own {
		var err error
		if host.id, err = server.start(ctx, o.Spec.Name, o.Env); err != nil {
			return nil, err
		}
	} else {
		s.guest = &visit{dir: o.Dir}
	}
	k, err := server.kernel(ctx, host.id)
	if err == nil && !host.own && k.Connections == 0 && !o.Discard {
		err = &BufferedError{k.ID}
	}
	if err == nil {
		err = s.dialServer(ctx, host)
	}
	if err != nil {
		_ = s.end(false) // the first error says more
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	if err := s.meet(ctx); err != nil {
		return nil, err
	}
	s.info.Name, s.info.ID, s.info.Server, s.info.Owned = k.Name, host.id, server.URL, host.own
	if host.own {
		err = s.tuneServed(ctx, o)
	}
	return s, err
}

// dialServer connects s to the kernel of host.
func (s *session) dialServer(ctx context.Context, host *remote) error {
	link, err := dialWS(ctx, host.server, host.id, s.id, s.waits, s.deliver)
	if err == nil {
		s.link = link
		go host.watch(link)
	}
	return err
}

// tuneServed makes a kernel started on a server behave like a local one: it keeps all output and
// works in o.Dir. If that fails, it ends the session.
func (s *session) tuneServed(ctx context.Context, o Options) error {
	err := s.tune(ctx)
	if err == nil && o.Dir != "" && s.info.Implementation == "ipython" {
		var x notebook.Execution
		x, err = s.run(ctx, inShell("import os\nos.chdir(folder)",
			map[string]string{"folder": o.Dir}), s.waits.tune)
		if err == nil && x.Status != notebook.OK {
			err = fmt.Errorf("the kernel cannot work in %s: is it a folder of the server's machine?", o.Dir)
		}
	}
	if err != nil {
		err = errors.Join(err, s.end(false))
	}
	return err
}

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
