package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"dsstar/kernel/internal/process"
	"dsstar/kernel/internal/zmq"
	"dsstar/notebook/disk"
)

// An owner watches, interrupts and ends the kernel of a session, as far as this program may: local is a
// process of ours, guest a process of somebody else, remote a kernel on a server.
type owner interface {
	// gone is closed once the kernel has ended or is out of reach for good.
	gone() <-chan struct{}
	// fate says how it ended or, before gone, why it is about to, if that is known.
	fate() fate
	// heed looks for its end in a message; greeted is the kernel's own session id, "" if unknown.
	heed(m Message, greeted string)
	// check looks for its end in the background, as nothing is heard of it.
	check()
	// interrupt stops the running cell as Ctrl-C would. It does not wait.
	interrupt(*session)
	// kill kills our own kernel and lets any other run on, without waiting. why says of the latter how it
	// was left. It returns what it did, as a clause for the user.
	kill(why string) (done string)
	// end ends a kernel of ours, after asking it to end if gently is set, and removes its files; an
	// error means that it may still run. It may be called more than once.
	end(s *session, gently bool) error
}

// A fate is how a kernel ended.
type fate struct {
	how    string // in one line
	lost   error  // it may still run but cannot be reached
	itself bool   // it was a process of ours, and ended without our kill
}

// err returns f as an error, prefixed with what unless the kernel was lost.
func (f fate) err(what string) error { return cmp.Or(f.lost, errors.New(what+f.how)) }

// deafToInterrupts says of a kernel how it was when it was killed or left.
const deafToInterrupts = "with a cell that ignores interrupts"

const early = "the kernel ended before it was ready: "

// isGone reports whether the kernel of o has ended or is out of reach.
func isGone(o owner) bool {
	select {
	case <-o.gone():
		return true
	default:
		return false
	}
}

// local is a kernel process that this program started.
type local struct {
	*process.Process
	spec Spec
	dir  string // private folder
	conn zmq.File

	confined bool // the process is in a sandbox
}

func (l *local) gone() <-chan struct{} { return l.Exited }

func (l *local) fate() fate {
	if l.Alive() {
		return fate{how: l.Reason()}
	}
	return fate{how: l.Death(), itself: !l.Killed}
}

func (l *local) heed(Message, string) {}
func (l *local) check()               {}

func (l *local) interrupt(s *session) {
	if l.spec.InterruptMode == "message" || l.confined { // signals do not reach processes in a sandbox
		s.tell(Control, "interrupt_request", struct{}{})
		return
	}
	l.Process.Interrupt()
}

func (l *local) kill(string) string {
	l.Process.Kill()
	return "the kernel was killed"
}

// shutdown asks the kernel to end, so that its exit handlers run.
func (l *local) shutdown(s *session) {
	ctx, cancel := context.WithTimeout(context.Background(), s.waits.shutdown)
	defer cancel()
	if _, err := s.roundTrip(ctx, Message{Channel: Control, Header: Header{MsgType: "shutdown_request"},
		Content: json.RawMessage(`{"restart": false}`)}); err != nil {
		return
	}
	select {
	case <-l.Exited:
	case <-time.After(s.waits.exit):
	}
}

func (l *local) end(s *session, gently bool) (err error) {
	if l.Process != nil {
		if gently && l.Alive() {
			l.shutdown(s)
		}
		err = l.finish(s.waits.kill)
	}
	if l.dir != "" {
		_ = disk.RemoveTemp(l.dir) // an empty folder in /tmp is not worth an error
	}
	return err
}

// finish kills what is left of the process.
func (l *local) finish(within time.Duration) error {
	l.Process.Kill()
	select {
	case <-l.Exited:
		return nil
	case <-time.After(within): // not even SIGKILL ends a process in a hung system call
		l.Process.KillAll() // including a guard, whose children die with it (Pdeathsig)
		return fmt.Errorf("process %d cannot be killed", l.PID)
	}
}

// An ending records how a kernel that is not our own process ended.
type ending struct {
	once sync.Once
	ch   chan struct{}
	was  fate
}

func (e *ending) gone() <-chan struct{} { return e.ch }

func (e *ending) fate() fate {
	select {
	case <-e.ch:
		return e.was
	default:
		return fate{}
	}
}

// record keeps the first reason, and closes gone.
func (e *ending) record(how string, lost error) {
	e.once.Do(func() {
		e.was = fate{how: how, lost: lost}
		close(e.ch)
	})
}

// watch records the end when the link has drained. It returns once an end is recorded.
func (e *ending) watch(link transport) {
	select {
	case <-link.Drained():
	case <-e.ch:
		return
	}
	how, lost := "its connections closed", link.Lost()
	if errors.Is(lost, errGone) {
		how, lost = errGone.Error(), nil
	}
	e.record(how, lost)
}

// heed records the end if a message shows that the kernel has died or been restarted: a server says
// so, or the message has another session id than greeted.
func (e *ending) heed(m Message, greeted string) {
	if m.Channel != IOPub || m.Header.MsgType != "status" {
		return
	}
	switch state, session := stateOf(m), m.Header.Session; {
	case state == "restarting" || state == "autorestarting":
		e.record("it ended or was told to, and the server starts it again", nil)
	case state == "dead" || state == "terminating":
		e.record("the server says that it is "+state, nil)
	case greeted != "" && session != "" && session != greeted:
		e.record("somebody started it again", nil)
	}
}

// leftRunning is what becomes of a kernel that is not ours in place of a kill.
func (e *ending) leftRunning(why string) string {
	e.record("it was left running "+why, nil)
	return "the kernel was left running, because another program started it"
}

// guest is somebody else's process, on this machine or wherever its connection file points.
type guest struct{ ending }

// interrupt sends a request, not a signal. ipykernel handles it whatever its kernelspec says.
func (g *guest) interrupt(s *session) { s.tell(Control, "interrupt_request", struct{}{}) }

func (g *guest) check()                 {}
func (g *guest) kill(why string) string { return g.leftRunning(why) }

func (g *guest) end(*session, bool) error {
	g.record("it was left", nil)
	return nil
}

// remote is a kernel on a server.
type remote struct {
	ending
	server Server
	id     string
	own    bool // started by us
	work   sync.WaitGroup
}

// background sends a request without waiting for the answer. end waits.
func (r *remote) background(do func(context.Context) error) {
	r.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), sendTimeout)
		defer cancel()
		_ = do(ctx) // callers watch for its effect
	})
}

// check asks the server whether it still has the kernel: clients are not told when it is deleted.
func (r *remote) check() {
	r.background(func(ctx context.Context) error {
		k, err := r.server.kernel(ctx, r.id)
		if e, ok := errors.AsType[*ServerError](err); ok && e.Status == http.StatusNotFound {
			r.record(errGone.Error(), nil)
		}
		if err == nil && k.State == "dead" {
			r.record("the server says that it is dead", nil)
		}
		return err
	})
}

func (r *remote) interrupt(*session) {
	r.background(func(ctx context.Context) error { return r.server.interrupt(ctx, r.id) })
}

func (r *remote) kill(why string) string {
	if !r.own {
		return r.leftRunning(why)
	}
	r.record("it was ended "+why, nil)
	r.background(func(ctx context.Context) error { return r.server.delete(ctx, r.id) })
	return "the kernel was ended"
}

func (r *remote) end(*session, bool) error {
	r.record("it was left", nil)
	r.work.Wait()
	if !r.own || r.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*sendTimeout)
	defer cancel()
	if r.server.delete(ctx, r.id) != nil { // once more: a kernel left behind costs its owner
		if err := r.server.delete(ctx, r.id); err != nil {
			return fmt.Errorf("the kernel %s may still run: %w", r.id, err)
		}
	}
	r.id = "" // do not delete it again
	return nil
}

// A ServerLostError reports a server that can no longer be reached. Its kernel may still run.
type ServerLostError struct {
	URL   string
	Cause error
}

func (e *ServerLostError) Error() string {
	return fmt.Sprintf("the server %s is lost: %v", e.URL, e.Cause)
}
func (e *ServerLostError) Unwrap() error { return e.Cause }

// stateOf returns the execution_state of a status message; "" if it cannot be read.
func stateOf(m Message) string {
	var c struct {
		State string `json:"execution_state"`
	}
	if json.Unmarshal(m.Content, &c) != nil {
		return ""
	}
	return c.State
}
