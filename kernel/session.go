package kernel

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"dsstar/kernel/internal/wire"
	"dsstar/notebook"
)

// A session is one connection to one kernel, from starting or joining the kernel until it ends or
// is left.
type session struct {
	id      string // session id in message headers
	owner   owner
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

	mu      sync.Mutex
	pending map[string]*inbox // by request id
	greeted string            // the kernel's own session id; "" until known
	fallen  string            // how the worker process ended (worker.go); "" while it runs
	heard   chan struct{}     // closed at the first iopub message
	hearing sync.Once
}

func newSession(who owner, o Options) *session {
	return &session{
		id: uuid.NewString(), owner: who, waits: o.waits, input: o.Input, outputs: o.Outputs,
		prelude: o.Prelude, pending: map[string]*inbox{}, heard: make(chan struct{}),
	}
}

// greet asks for kernel_info on the given channel until there has been a reply
// and an iopub message. The reply alone is not enough: the subscription may not
// have reached the kernel yet, and what it publishes before that is lost.
// Waiting for iopub_welcome (JEP 65) does not work, because ipykernel 7.2 and 7.3
// send it only to their first subscriber.
func (s *session) greet(ctx context.Context, ch Channel) error {
	in, heard, replied := newInbox(), s.heard, false
	again := time.NewTicker(s.waits.greet)
	defer again.Stop()
	for ask := true; !replied || heard != nil; {
		if ask {
			id, err := s.send(ctx, in, Message{Channel: ch, Header: Header{MsgType: "kernel_info_request"}})
			if err != nil {
				return err
			}
			defer s.forget(id) // only at the end: a slow kernel answers the first one
			ask = false
		}
		select {
		case <-in.ready:
			if !replied && s.introduced(s.take(in)) {
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
		case <-s.owner.gone():
			return s.owner.fate().err(early)
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
	x, err := s.run(ctx, inShell(tuneCode+seal, map[string]string{"prelude": s.prelude}), s.waits.tune)
	if err == nil && seal != "" && x.Status != notebook.OK {
		err = errors.New("the kernel could not be sealed in its sandbox")
	}
	if err == nil && isGone(s.owner) {
		err = s.owner.fate().err(early)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// inShell returns code that runs script with the variables names and shell, the IPython shell. It
// defines no names in the session.
func inShell(script string, names map[string]string) Cell {
	code, _ := json.Marshal(script) // strings cannot fail
	values, _ := json.Marshal(names)
	return silent(fmt.Sprintf(`exec(%s, {"shell": get_ipython(), **%s})`, code, values))
}

// silent returns code that is not a cell: it is not counted and publishes nothing.
func silent(code string) Cell { return Cell{Code: code, silent: true} }

// run runs a cell to its end.
func (s *session) run(ctx context.Context, c Cell, limit time.Duration) (notebook.Execution, error) {
	r, err := s.begin(ctx, c, limit)
	if err != nil {
		return notebook.Execution{}, err
	}
	return r.follow(ctx)
}

// introduced sets s.info if there is a kernel_info_reply among items, and reports whether there is.
func (s *session) introduced(items []Message) bool {
	for _, m := range items {
		if m.Header.MsgType == "kernel_info_reply" {
			// a malformed one is no reason to refuse a kernel that runs cells
			_ = json.Unmarshal(m.Content, &s.info)
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

// send fills in the header of a request, sends it, and returns its id. Messages about it go to in
// until the caller passes the id to forget. If in is nil, they are dropped.
func (s *session) send(ctx context.Context, in *inbox, m Message) (string, error) {
	id := uuid.NewString()
	m.Header.MsgID, m.Header.Session = id, s.id
	m.Header.Username = "username" // as Jupyter's clients send without a name of the user
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
	if body, err := json.Marshal(content); err == nil {
		_, _ = s.send(atOnce, nil, Message{Channel: ch, Header: Header{MsgType: msgType}, Content: body})
	}
}

// atOnce is a cancelled context, for messages that are sent now or never.
var atOnce = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (s *session) forget(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.pending, id)
	}
}

// deliver routes a message to the pending request that it is about. It drops messages about other
// clients' requests and about finished ones.
func (s *session) deliver(m Message) {
	if m.Channel == IOPub {
		s.hearing.Do(func() { close(s.heard) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner.heed(m, s.greeted)
	in, size := s.pending[m.Parent.MsgID], 1<<10+len(m.Content) // small messages are mostly overhead
	switch {
	case in == nil:
		return
	case !isOutput(m) || in.bytes+size <= maxWaiting || len(in.items) == 0:
		in.items = append(in.items, m)
		in.bytes += size
	case !in.lossy:
		in.items, in.lossy = append(in.items, Message{Channel: gap}), true
	}
	select {
	case in.ready <- struct{}{}:
	default:
	}
}

// ended returns how the kernel, or the worker process in it, has ended, if it has.
func (s *session) ended() (fate, bool) {
	if isGone(s.owner) {
		return s.owner.fate(), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return fate{how: s.fallen}, s.fallen != ""
}

// end ends the session, in any state: a kernel of ours ends, after it was asked to if gently is
// set, and any other is left. It may be called again. An error means that our kernel may still run.
func (s *session) end(gently bool) error {
	if gently && s.guest != nil {
		s.endVisit()
	}
	err := s.owner.end(s, gently)
	if s.link != nil {
		_ = s.link.Close() // nothing is left to send
	}
	return err
}

// maxWaiting is how many bytes of messages wait in an inbox at most. Outputs beyond it are lost.
const maxWaiting = 256 << 20

// An inbox has the messages about a request until its owner takes them ([session.take]). It never
// blocks the reader of a socket: if that lags, ZeroMQ drops iopub messages (14,000 of 20,000
// printed lines in a trial), even the status idle. Beyond maxWaiting outputs are lost; a message on
// the channel gap in their place says so. The session's lock guards it.
type inbox struct {
	ready chan struct{} // has a token whenever there are messages
	items []Message
	bytes int  // in items
	lossy bool // a gap is among items
}

func newInbox() *inbox { return &inbox{ready: make(chan struct{}, 1)} }

// gap is the channel of a message that stands for lost ones.
const gap Channel = "gap"

// isOutput reports whether m may be lost: a run can go on without outputs, but not without other
// messages.
func isOutput(m Message) bool {
	switch m.Header.MsgType {
	case "stream", "display_data", "update_display_data", "execute_result", "error", "comm_open",
		"comm_msg":
		return true
	}
	return false
}

// take removes and returns the messages in b.
func (s *session) take(b *inbox) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := b.items
	b.items, b.bytes, b.lossy = nil, 0, false
	return items
}
