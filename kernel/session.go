package kernel

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"dsstar/kernel/internal/inbox"
	"dsstar/kernel/internal/wire"
	"dsstar/notebook"
)

// A session is one connection to one kernel, from starting or joining the kernel until it ends or
// is left.
type session struct {
	id      string // session id in message headers
	host    host
	link    transport // nil until there is one
	waits   waits
	info    Info
	input   InputFunc // if nil, input() raises an exception
	outputs Outputs
	box     Sandbox  // that confines a kernel started here; nil for none
	own     []string // folders writable in box
	prelude string   // see Options.Prelude
	dir     string   // working folder at the start
	guest   *visit   // what to undo in a kernel that is not ours; nil for ours

	mu        sync.Mutex
	pending   map[string]*inbox.Inbox // by request id
	past      map[string]string       // cell ids by the ids of finished requests
	greeted   string                  // the kernel's own session id; "" until known
	late      []lateMessage           // messages about finished requests
	lateBytes int                     // size of late
	fallen    string                  // how the worker process ended (worker.go); "" while it runs
	heard     chan struct{}           // closed at the first iopub message
	hearing   sync.Once
}

// A lateMessage is an iopub message about a finished cell.
type lateMessage struct {
	cell string
	msg  Message
}

func newSession(h host, o Options, w waits) *session {
	return &session{
		id: uuid.NewString(), host: h, waits: w, input: o.Input, outputs: o.Outputs, prelude: o.Prelude,
		pending: map[string]*inbox.Inbox{}, past: map[string]string{}, heard: make(chan struct{}),
	}
}

// greet asks for kernel_info on the given channel until there has been a reply
// and an iopub message. The reply alone is not enough: the subscription may not
// have reached the kernel yet, and what it publishes before that is lost.
// Waiting for iopub_welcome (JEP 65) does not work, because ipykernel 7.2 and 7.3
// send it only to their first subscriber.
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
			defer s.forget(id) // only at the end: a slow kernel answers the first one
			ask = false
		}
		select {
		case <-in.Ready:
			if !replied && s.introduced(in.Take()) {
				replied = true
				again.Reset(50 * time.Millisecond) // only the subscription is missing now
			}
		case <-heard:
			heard = nil
		case <-again.C:
			ask = true
			if !replied {
				s.link.Rouse()
			}
		case <-ctx.Done():
			lacks := "a reply"
			if replied {
				lacks = "anything on iopub"
			}
			return fmt.Errorf("%w, without %s", context.Cause(ctx), lacks)
		case <-s.host.gone():
			how, lost := s.host.fate()
			return cmp.Or(lost, fmt.Errorf("the kernel ended before it was ready: %s", how))
		}
	}
	return nil
}

// probeType returns the type of a request that has no effect, sent only for its place in the queue.
// Every kernel answers a kernel_info_request, but IPython then draws a random tip of the day for
// its banner, which would change the results of cells that use the random module.
func (s *session) probeType() string {
	if s.info.Implementation == "ipython" {
		return "comm_info_request"
	}
	return "kernel_info_request"
}

//go:embed tune.py
var tuneCode string

// tune runs tune.py in an IPython kernel, so that it drops no output. If that fails, output can be
// lost, as with any Jupyter client. Then it runs the code of [Sandbox.Seal]; if that fails, tune
// returns an error.
func (s *session) tune(ctx context.Context) error {
	if s.info.Implementation != "ipython" {
		return nil
	}
	seal := ""
	if s.box != nil {
		seal = s.box.Seal()
	}
	x, err := s.silently(ctx, inShell(tuneCode+seal, map[string]string{"prelude": s.prelude}), s.waits.tune)
	if err == nil && seal != "" && x.Status != notebook.OK {
		err = errors.New("the kernel could not be sealed in its sandbox")
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

// inShell returns code that runs script with the variables names and shell, the IPython shell. It
// defines no names in the session.
func inShell(script string, names map[string]string) string {
	code, _ := json.Marshal(script) // strings cannot fail
	values, _ := json.Marshal(names)
	return fmt.Sprintf(`exec(%s, {"shell": get_ipython(), **%s})`, code, values)
}

// silently runs code that is not a cell: it is not counted and publishes nothing.
func (s *session) silently(ctx context.Context, code string,
	limit time.Duration) (notebook.Execution, error) {
	r := &run{s: s, cell: Cell{Code: code}, silent: true, limit: limit}
	return r.execute(ctx)
}

// introduced sets s.info if there is a kernel_info_reply among items, and reports whether there is.
func (s *session) introduced(items []Message) bool {
	for _, m := range items {
		if m.Header.MsgType == "kernel_info_reply" {
			s.info = infoOf(m.Content)
			s.mu.Lock()
			if s.greeted = m.Header.Session; s.greeted == s.id {
				s.greeted = "" // IJulia and others only echo the request's session
			}
			s.mu.Unlock()
			return true
		}
	}
	return false
}

// request sends a request and returns its id. Messages about it go to in until the caller passes
// the id to forget.
func (s *session) request(ctx context.Context, in *inbox.Inbox, ch Channel, msgType string,
	content any) (string, error) {
	body, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	return s.send(ctx, in, Message{Channel: ch, Header: Header{MsgType: msgType}, Content: body})
}

// username is what Jupyter's clients send without a name of the user.
const username = "username"

// send is request for any message. It fills in the header. If in is nil, replies are dropped.
func (s *session) send(ctx context.Context, in *inbox.Inbox, m Message) (string, error) {
	id := uuid.NewString()
	m.Header.MsgID, m.Header.Session, m.Header.Username = id, s.id, username
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

// tell sends a request and ignores the reply. A request that cannot be sent at once is dropped:
// callers watch for its effect.
func (s *session) tell(ch Channel, msgType string, content any) {
	_, _ = s.request(atOnce, nil, ch, msgType, content)
}

// atOnce is a cancelled context, for messages that are sent now or never.
var atOnce = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (s *session) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id)
}

// retire forgets the request of a cell but remembers the cell's id, for late messages.
func (s *session) retire(id, cell string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id)
	s.past[id] = cell
}

// deliver routes a message to the pending request that it is about, or keeps it for [Kernel.Late].
// It drops messages about other clients' requests.
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

// maxLate bounds the bytes kept for [Kernel.Late], in case it is never called.
const maxLate = 4 << 20

// execute runs a cell, in a guest after other clients' cells. The caller must hold the turn.
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

// shutdown asks our kernel to exit, or leaves one that is not ours, and ends the session.
func (s *session) shutdown() error {
	if s.guest != nil {
		s.endVisit()
	}
	s.host.shutdown(s)
	return s.end()
}

// end ends the session, in any state. It may be called again. An error means that our kernel may
// still run.
func (s *session) end() error {
	err := s.host.end(s.waits)
	if s.link != nil {
		_ = s.link.Close() // nothing is left to send
	}
	return err
}
