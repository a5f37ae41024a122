package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"dsstar/kernel/internal/process"
	"dsstar/kernel/internal/zmq"
	"dsstar/notebook/disk"
)

// errNotReady is wrapped by the cause of a context that was ended by the start time-out.
var errNotReady = errors.New("not ready in time")

// boot starts a kernel process and waits until it is ready. On an error
// nothing is left of it.
func boot(ctx context.Context, o Options) (*session, error) {
	if err := o.Spec.check(); err != nil {
		return nil, err
	}
	ctx, cancel := startContext(ctx, o)
	defer cancel()
	l := &local{spec: o.Spec}
	s := newSession(l, o)
	err := l.launch(ctx, s, o)
	if err == nil {
		err = s.greet(ctx, Shell)
	}
	if err == nil {
		err = s.tune(ctx)
	}
	if err == nil {
		err = l.hide()
	}
	if err == nil {
		l.Stderr.Reset() // what it says from now on is about cells
		s.info.Name, s.info.PID, s.info.Owned = o.Spec.Name, l.PID, true
		return s, nil
	}
	words := l.lastWords()
	if l.confined && l.Process != nil && ctx.Err() != context.Canceled {
		err = fmt.Errorf("%w: %w", err, ErrConfined)
	}
	_ = s.end(false) // the first error says more
	return nil, fmt.Errorf("%w%s", err, words)
}

// launch makes the private folder, starts the process and connects s to it.
func (l *local) launch(ctx context.Context, s *session, o Options) (err error) {
	if l.dir, err = privateDir(); err != nil {
		return err
	}
	c, err := zmq.NewFile(o.Spec.Name, l.dir, o.tcp(), o.Spec.IPython())
	if err != nil {
		return err
	}
	l.confined = o.confined()
	if tcp, _ := o.reach(); c.Transport == "tcp" && !tcp {
		return errors.New("there is no network in the sandbox, and the path of the folder for " +
			"temporary files is too long for sockets (TMPDIR)")
	}
	file := l.file()
	if err := c.Write(file); err != nil {
		return err
	}
	cmd, err := l.spec.command(file, o.Dir, o.Env)
	if err != nil {
		return err
	}
	if l.confined {
		share := l.share(o)
		s.box, s.dir, s.own = o.Sandbox, cmd.Dir, append(share.Write, share.Private)
		if cmd, err = o.Sandbox.Command(cmd, share); err != nil {
			return err
		}
	}
	if l.Process, err = process.Start(cmd, l.confined); err != nil {
		return err
	}
	return l.connect(ctx, s, c, file)
}

func (l *local) file() string { return filepath.Join(l.dir, "kernel.json") }

// hide removes what cells could forge requests with, if they run in another process than the one
// that takes requests: the file with the key and the sockets' names.
func (l *local) hide() error {
	if !l.spec.hasWorker() {
		return nil
	}
	return errors.Join(os.Remove(l.file()), l.conn.RemoveSockets())
}

// share returns what the sandbox grants to the kernel.
func (l *local) share(o Options) Confined {
	s := Confined{Private: l.dir, Env: slices.Collect(maps.Keys(o.Spec.Env)), Reports: true,
		Listens: true, Facts: o.Spec.hasWorker()}
	if o.Scratch != "" {
		s.Write = []string{o.Scratch}
	}
	return s
}

// connect waits until the kernel listens and dials it.
func (l *local) connect(ctx context.Context, s *session, c zmq.File, file string) error {
	// The end of the process ends the waiting: a child may hold its sockets open.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-l.Exited:
			cancel(fate{how: l.State}.err(early))
		case <-ctx.Done():
		}
	}()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for !c.Bound(file) {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("%w, as it does not listen", context.Cause(ctx))
		}
	}
	l.conn = c
	for {
		link, err := zmq.Dial(ctx, c, s.input != nil, s.deliver)
		if err == nil {
			s.link = link
			return context.Cause(ctx)
		}
		select {
		case <-poll.C: // the sockets' files appear an instant before the sockets accept connections
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lastWords returns the end of what the process wrote to stderr, to be appended to an error.
func (l *local) lastWords() string {
	if l.Process == nil || strings.TrimSpace(l.Stderr.String()) == "" {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(l.Stderr.String()), "\n")
	return "; its stderr ends with:\n" + strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// tcp reports whether a kernel process is reached over TCP. ipykernel uses Unix sockets where they
// are possible. Other kernels use TCP, as with every Jupyter client: some support nothing else. A
// sandbox without network has no TCP, and one with network may have no Unix sockets.
func (o Options) tcp() bool {
	tcp, unix := o.reach()
	return !o.Spec.IPython() && !o.sockets && tcp || !unix
}

// privateDir creates the folder for the connection file and the sockets, with mode 0700.
func privateDir() (string, error) {
	return disk.TempFolder(privateParent(), tempPrefix)
}

const tempPrefix = "gokernel-"

func privateParent() string {
	if runtime.GOOS == "darwin" {
		return "/tmp" // $TMPDIR is too long there for a socket's path
	}
	return "" // the system's
}

// SweepTemp removes the temporary folders of kernels whose programs were killed.
func SweepTemp() { disk.SweepTemp(privateParent(), tempPrefix) }
