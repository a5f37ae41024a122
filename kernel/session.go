package kernel

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"dsstar/kernel/internal/inbox"
	"dsstar/kernel/internal/wire"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

// A session is one connection to one kernel, from its start or the moment of
// attaching until that kernel ends or is left.
type session struct {
	id      string // the session of the headers
	host    host
	link    transport // nil until there is one
	waits   waits
	info    Info
	input   InputFunc // nil: input() raises an exception
	outputs Outputs
	box     sandbox.Box // of a kernel that is started here
	own     []string    // folders that it can write in its box
	dir     string      // the folder that it started in
	guest   *visit      // what is to be put right in a kernel that is not ours; nil for our own

	mu        sync.Mutex
	pending   map[string]*inbox.Inbox // by the id of the request
	past      map[string]string       // requests that have ended, to the ids of their cells
	greeted   string                  // the kernel's session; empty until it has answered
	late      []lateMessage           // what was said about those
	lateBytes int                     // in late
	// how the process that runs cells has ended, of a kernel that outlives it; ""
	fallen  string
	heard   chan struct{} // closed at the first iopub message
	hearing sync.Once
}

// A lateMessage is an iopub message about an ended cell.
type lateMessage struct {
	cell string
	msg  Message
}

func newSession(h host, o Options, w waits) *session {
	return &session{
		id: uuid.NewString(), host: h, waits: w, input: o.Input, outputs: o.Outputs,
		pending: map[string]*inbox.Inbox{}, past: map[string]string{}, heard: make(chan struct{}),
	}
}

// greet asks for kernel_info on the given channel until there has been a reply
// and an iopub message. The reply alone would not do: the subscription may not
// have reached the kernel yet, and what it publishes before that is lost.
// iopub_welcome (JEP 65) cannot be waited for, because ipykernel 7.2 and 7.3
// send it to their first subscriber only.
func (s *session) greet(ctx context.Context, ch Channel) error {
	in, heard, replied := inbox.New(), s.heard, false
	again := time.NewTicker(s.waits.greet)
	defer again.Stop()
	for ask := true; !replied || heard != nil; {
		if ask {
			id, err := s.request(ctx, in, ch, "kernel_info_request", struct{}{})
			if err != nil {
				return err
			}
			defer s.forget(id) // not before: a slow kernel answers the first one
			ask = false
		}
		select {
		case <-in.Ready:
			if !replied && s.introduced(in.Take()) {
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
		case <-s.host.gone():
			how, lost := s.host.fate()
			return cmp.Or(lost, fmt.Errorf("the kernel ended before it was ready: %s", how))
		}
	}
	return nil
}

// nothing is the type of request that is sent only for its place in the queue. Every kernel answers
// a kernel_info_request; but IPython draws a random number for the tip of the day in its banner,
// which would change the results of cells that use the random module.
func (s *session) nothing() string {
	if s.info.Implementation == "ipython" {
		return "comm_info_request"
	}
	return "kernel_info_request"
}

//go:embed tune.py
var tuneCode string

// tune makes IPython kernels keep all output. If its code fails, output can be lost, as with every
// other Jupyter client.
func (s *session) tune(ctx context.Context) error {
	if s.info.Implementation != "ipython" {
		return nil
	}
	sealed := map[bool]string{true: "sealed"}[s.box.Tier == sandbox.Builtin && !s.box.Net]
	r, err := s.silently(ctx, inShell(tuneCode, map[string]string{"sealed": sealed}), s.waits.tune)
	if err == nil && sealed != "" && r.exec.Status != notebook.OK {
		err = errors.New("the kernel could not be kept from giving names to sockets")
	}
	if err == nil && ended(s.host) {
		how, lost := s.host.fate()
		err = cmp.Or(lost, fmt.Errorf("the kernel ended before it was ready: %s", how))
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// inShell returns code that runs a script with the variable shell and the given ones, and defines
// no names in the session.
func inShell(script string, names map[string]string) string {
	code, _ := json.Marshal(script) // strings cannot fail
	values, _ := json.Marshal(names)
	return fmt.Sprintf(`exec(%s, {"shell": get_ipython(), **%s})`, code, values)
}

// silently runs code that is not a cell: it is not counted and publishes nothing.
func (s *session) silently(ctx context.Context, code string, limit time.Duration) (*run, error) {
	r := &run{s: s, cell: Cell{Code: code}, silent: true, limit: limit}
	_, err := r.execute(ctx)
	return r, err
}

// introduced takes the kernel's Info from a kernel_info_reply among items.
func (s *session) introduced(items []Message) bool {
	for _, m := range items {
		if m.Header.MsgType == "kernel_info_reply" {
			s.info = infoOf(m.Content)
			s.mu.Lock()
			if s.greeted = m.Header.Session; s.greeted == s.id {
				s.greeted = "" // IJulia and others give back the session of the request, which tells nothing
			}
			s.mu.Unlock()
			return true
		}
	}
	return false
}

// request sends a request and returns its id. Messages about it go to in until the caller forgets
// the id.
func (s *session) request(ctx context.Context, in *inbox.Inbox, ch Channel, msgType string,
	content any) (string, error) {
	body, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	return s.send(ctx, in, Message{Channel: ch, Header: Header{MsgType: msgType}, Content: body})
}

// send is request for a message that is more than a type and a content. It
// fills in the header.
func (s *session) send(ctx context.Context, in *inbox.Inbox, m Message) (string, error) {
	id := uuid.NewString()
	m.Header.MsgID, m.Header.Session, m.Header.Username = id, s.id, "dsstar"
	m.Header.Date, m.Header.Version = time.Now().UTC().Format(time.RFC3339Nano), wire.Version
	if in != nil {
		s.mu.Lock()
		s.pending[id] = in
		s.mu.Unlock()
	}
	if err := s.link.Send(ctx, m); err != nil {
		s.forget(id)
		return "", err
	}
	return id, nil
}

// tell sends a request whose reply is of no interest, or drops it if it cannot be sent at once:
// callers watch for its effect.
func (s *session) tell(ch Channel, msgType string, content any) {
	_, _ = s.request(atOnce, nil, ch, msgType, content)
}

// atOnce is a context for messages that are sent now or never.
var atOnce = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// fall records the end of the process that runs the cells of a kernel with frozen copies. The
// kernel itself is alive, and can resume a copy.
func (s *session) fall(how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallen = how
}

// fell returns how it has ended; "" if it has not.
func (s *session) fell() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fallen
}

// rise records that there is such a process again.
func (s *session) rise() { s.fall("") }

func (s *session) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id)
}

// retire forgets the request of a cell, about which messages may still come.
func (s *session) retire(id, cell string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id)
	s.past[id] = cell
}

// deliver routes a message to the request that it is about, or keeps it for [Kernel.Late]. Messages
// about other clients' requests are dropped.
func (s *session) deliver(m Message) {
	if m.Channel == IOPub {
		s.hearing.Do(func() { close(s.heard) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.host.(interface{ heed(Message, string) }); ok {
		h.heed(m, s.greeted)
	}
	if in := s.pending[m.Parent.MsgID]; in != nil {
		in.Put(m)
		return
	}
	cell, known := s.past[m.Parent.MsgID]
	if known && m.Channel == IOPub && m.Header.MsgType != "status" && s.lateBytes < maxLate {
		s.late = append(s.late, lateMessage{cell, m})
		s.lateBytes += inbox.Size(m)
	}
}

// maxLate bounds the bytes kept for [Kernel.Late], which callers may never call.
const maxLate = 4 << 20

// execute runs a cell in its turn.
func (s *session) execute(ctx context.Context, c Cell, limit time.Duration) (notebook.Execution,
	error) {
	if s.guest != nil {
		if err := s.await(ctx); err != nil {
			return notebook.Execution{}, err
		}
		s.enter(ctx)
	}
	r := &run{s: s, cell: c, limit: limit}
	return r.execute(ctx)
}

// shutdown ends the session politely.
func (s *session) shutdown() error {
	if s.guest != nil {
		s.endVisit()
	}
	s.host.shutdown(s)
	return s.end()
}

// end ends the session in any state, also repeatedly. The error is that our kernel may still run.
func (s *session) end() error {
	err := s.host.end(s.waits)
	if s.link != nil {
		_ = s.link.Close() // nothing was left to be sent
	}
	return err
}

// hint returns what to do about an exception that the sandbox may be the reason of; "" for nothing.
func (s *session) hint(o notebook.Output) string {
	if !s.box.Tier.Confines() {
		return ""
	}
	return s.box.Hint(o.EName, o.EValue, strings.Join(o.Traceback, " "), s.dir, s.own...)
}
