package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"dsstar/kernel/internal/wire"
)

// A session is one kernel process from its start to its end, and everything
// that is needed to talk to it.
type session struct {
	id    string // the session of the headers
	spec  Spec
	dir   string // private folder
	file  string // connection file
	conn  connection
	proc  *process
	link  transport
	waits waits
	info  Info

	mu      sync.Mutex
	pending map[string]*inbox // by the id of the request
	heard   chan struct{}     // closed at the first iopub message
	hearing sync.Once
}

// errNotReady is the cause of a context that ended at the start time-out.
var errNotReady = errors.New("not ready in time")

// boot starts a kernel process and waits until it is ready. On an error
// nothing is left of it.
func boot(ctx context.Context, o Options, w waits) (*session, error) {
	s := &session{
		id: uuid.NewString(), spec: o.Spec, waits: w,
		pending: map[string]*inbox{}, heard: make(chan struct{}),
	}
	limit := cmp.Or(o.StartTimeout, 60*time.Second)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errNotReady)
	defer cancel()
	err := s.launch(o)
	if err == nil {
		err = s.connect(ctx)
	}
	if err == nil {
		err = s.greet(ctx)
	}
	if err == nil {
		err = s.tune(ctx)
	}
	if err == nil {
		s.proc.stderr.reset() // what it says from now on is about cells
		return s, nil
	}
	s.end()
	if errors.Is(err, errNotReady) {
		err = fmt.Errorf("%w: %v", err, limit)
	}
	return nil, fmt.Errorf("start kernel %s: %w%s", s.spec.Name, err, s.lastWords())
}

// launch makes the private folder and starts the process.
func (s *session) launch(o Options) error {
	dir, err := privateDir()
	if err != nil {
		return err
	}
	s.dir, s.file = dir, filepath.Join(dir, "kernel.json")
	s.conn = newConnection(dir, s.spec.Name)
	if err := s.conn.write(s.file); err != nil {
		return err
	}
	cmd, err := s.spec.command(s.file, o.Dir, o.Env)
	if err != nil {
		return err
	}
	s.proc, err = startProcess(cmd)
	return err
}

// connect waits until the kernel listens and dials it.
func (s *session) connect(ctx context.Context) error {
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for !s.conn.bound(s.file) {
		if err := s.pause(ctx, poll.C); err != nil {
			return err
		}
	}
	type result struct {
		link *zmqLink
		err  error
	}
	for {
		// A kernel that accepts and says nothing blocks the dial.
		dialled := make(chan result, 1)
		go func() {
			link, err := dialZMQ(s.conn.endpoints(), s.conn.Key, s.deliver)
			dialled <- result{link, err}
		}()
		var r result
		var stopped error
		select {
		case r = <-dialled:
		case <-ctx.Done():
			stopped = context.Cause(ctx)
		case <-s.proc.exited:
			stopped = s.ended()
		}
		if stopped != nil {
			s.proc.kill() // ends the dial
			r = <-dialled
		}
		if r.link != nil {
			s.link = r.link
		}
		if stopped != nil || s.link != nil {
			return stopped
		}
		// The sockets' files appear an instant before they accept.
		if err := s.pause(ctx, poll.C); err != nil {
			return errors.Join(err, r.err)
		}
	}
}

// greet asks for kernel_info until there has been a reply and an iopub
// message. The reply alone would not do: the subscription may not have reached
// the kernel yet, and what it publishes before that is lost. iopub_welcome
// (JEP 65) cannot be waited for, because ipykernel 7.2 and 7.3 send it to their
// first subscriber only.
func (s *session) greet(ctx context.Context) error {
	in, heard, replied := newInbox(), s.heard, false
	again := time.NewTicker(s.waits.greet)
	defer again.Stop()
	for ask := true; !replied || heard != nil; {
		if ask {
			id, err := s.request(in, shell, "kernel_info_request", struct{}{})
			if err != nil {
				return err
			}
			defer s.forget(id) // not before: a slow kernel answers the first one
			ask = false
		}
		select {
		case <-in.ready:
			if !replied && s.introduced(in.take()) {
				replied = true
				again.Reset(50 * time.Millisecond) // only the subscription can be late now
			}
		case <-heard:
			heard = nil
		case <-again.C:
			ask = true
			if !replied {
				s.link.Rouse()
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.proc.exited:
			return s.ended()
		}
	}
	return nil
}

// unbounded lifts ipykernel's bound of 1000 on the iopub messages that wait to
// be sent (ZMQ_SNDHWM, never set by ipykernel): beyond it they are dropped
// without a word, and a cell that prints 20,000 lines on a busy machine lost
// 3,000 of them although the reader here did nothing but read. It is one
// expression, so that it leaves no name behind.
const unbounded = `(lambda k: k.iopub_thread.schedule(` +
	`lambda: k.iopub_thread.socket.setsockopt(__import__('zmq').SNDHWM, 0)))(get_ipython().kernel)`

// tune makes IPython kernels keep all output. Whether the code works is the
// kernel's affair: without it output can be lost, as in every Jupyter client.
func (s *session) tune(ctx context.Context) error {
	if s.info.Implementation != "ipython" {
		return nil
	}
	r := &run{s: s, code: unbounded, silent: true, limit: s.waits.tune}
	_, err := r.execute(ctx)
	if err == nil && !s.proc.alive() {
		err = s.ended()
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// introduced takes the kernel's Info from a kernel_info_reply among items.
func (s *session) introduced(items []delivery) bool {
	for _, d := range items {
		if d.from == shell && d.msg.Header.MsgType == "kernel_info_reply" {
			s.info = infoOf(s.spec.Name, s.proc.pid, d.msg.Content)
			return true
		}
	}
	return false
}

// pause waits for a tick, the end of ctx or of the process.
func (s *session) pause(ctx context.Context, tick <-chan time.Time) error {
	select {
	case <-tick:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.proc.exited:
		return s.ended()
	}
}

func (s *session) ended() error {
	return fmt.Errorf("the kernel ended before it was ready: %s", s.proc.state)
}

// lastWords returns the end of what the process wrote to stderr, to be
// appended to an error.
func (s *session) lastWords() string {
	if s.proc == nil {
		return ""
	}
	text := strings.TrimSpace(s.proc.stderr.String())
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return "; its stderr ends with:\n" + strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// request sends a request and returns its id. All that is said about it goes to
// in, until the caller forgets the id.
func (s *session) request(in *inbox, ch channel, msgType string, content any) (string, error) {
	body, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	id := uuid.NewString()
	s.mu.Lock()
	s.pending[id] = in
	s.mu.Unlock()
	err = s.link.Send(ch, wire.Message{
		Header: wire.Header{
			MsgID: id, MsgType: msgType, Session: s.id, Username: "dsstar",
			Date: time.Now().UTC().Format(time.RFC3339Nano), Version: wire.Version,
		},
		Content: body,
	})
	if err != nil {
		s.forget(id)
		return "", err
	}
	return id, nil
}

func (s *session) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id)
}

// deliver routes a message to the request that it is about. Others are
// dropped: output of threads that outlive their cell, other clients' traffic.
func (s *session) deliver(d delivery) {
	if d.from == iopub {
		s.hearing.Do(func() { close(s.heard) })
	}
	s.mu.Lock()
	in := s.pending[d.msg.Parent.MsgID]
	s.mu.Unlock()
	if in != nil {
		in.put(d)
	}
}

// interrupt stops the running cell as Ctrl-C would.
func (s *session) interrupt() {
	if s.spec.InterruptMode != "message" {
		s.proc.interrupt()
		return
	}
	// An error means that the kernel cannot be reached, and then the grace
	// period ends with its being killed.
	if id, err := s.request(newInbox(), control, "interrupt_request", struct{}{}); err == nil {
		s.forget(id)
	}
}

// shutdown asks the kernel to end, so that its exit handlers run, and then
// ends it.
func (s *session) shutdown() {
	defer s.end()
	if !s.proc.alive() {
		return
	}
	in := newInbox()
	id, err := s.request(in, control, "shutdown_request", map[string]bool{"restart": false})
	if err != nil {
		return
	}
	defer s.forget(id)
	patience := time.NewTimer(s.waits.shutdown)
	defer patience.Stop()
	for {
		select {
		case <-in.ready:
			for _, d := range in.take() {
				if d.msg.Header.MsgType == "shutdown_reply" {
					patience.Reset(s.waits.exit)
				}
			}
		case <-s.proc.exited:
			return
		case <-patience.C:
			return
		}
	}
}

// end kills what is left of the session and removes its folder. It can be
// called at any stage, and more than once.
func (s *session) end() {
	if s.proc != nil {
		s.proc.kill()
		select {
		case <-s.proc.exited:
		case <-time.After(s.waits.kill): // not even SIGKILL ends a process in a hung system call
		}
	}
	if s.link != nil {
		_ = s.link.Close() // nothing was left to be sent
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // an empty folder in /tmp is not worth an error
	}
}
