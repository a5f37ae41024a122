package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dsstar/kernel/internal/turn"
	"dsstar/kernel/internal/wire"
	"dsstar/notebook"
)

// A Channel is one of the two channels that take requests.
type Channel int

const (
	Shell   Channel = iota // one request after the other, behind the cells
	Control                // beside the cells: shutdown, interrupt, debug, subshells, usage
)

// A Message is a request of whatever type the protocol has, or a reply.
type Message struct {
	Channel  Channel
	Type     string          // "complete_request"
	Content  json.RawMessage // a JSON object; nil for an empty one
	Metadata json.RawMessage // the same
	Buffers  [][]byte
}

// Ask sends a request other than a cell, such as complete_request,
// inspect_request, history_request, is_complete_request, comm_info_request or
// usage_request, and returns the reply, whatever its status says. A request on
// Shell waits for its turn. Kernels leave requests unanswered that they do not
// know, so that ctx should have a deadline. The error is that of ctx, ErrClosed,
// or why there will be no reply.
func (k *Kernel) Ask(ctx context.Context, m Message) (Message, error) {
	if m.Channel == Shell {
		ctx, release, err := k.turn.Take(ctx)
		if err != nil {
			return Message{}, err
		}
		defer release()
		return k.current().ask(ctx, m)
	}
	s, err := k.live()
	if err != nil {
		return Message{}, err
	}
	return s.ask(ctx, m)
}

// live returns the session, or ErrClosed.
func (k *Kernel) live() (*session, error) {
	if k.turn.Closed() {
		return nil, ErrClosed
	}
	return k.current(), nil
}

func (s *session) ask(ctx context.Context, m Message) (Message, error) {
	fail := func(err error) (Message, error) { return Message{}, fmt.Errorf("%s: %w", m.Type, err) }
	in := newInbox()
	id, err := s.send(ctx, in, m.Channel.wire(), m.wire())
	if err != nil {
		return fail(err)
	}
	defer s.forget(id)
	again := time.NewTicker(s.waits.rouse)
	defer again.Stop()
	for {
		select {
		case <-in.ready:
			for _, d := range in.take() {
				if d.from == m.Channel.wire() {
					return Message{m.Channel, d.msg.Header.MsgType, d.msg.Content, d.msg.Metadata, d.msg.Buffers}, nil
				}
			}
		case <-again.C:
			s.link.Rouse()
		case <-s.host.gone():
			how, lost := s.host.fate()
			if lost == nil {
				lost = errors.New("the kernel died: " + how)
			}
			return fail(lost)
		case <-ctx.Done():
			return fail(turn.Reason(ctx))
		}
	}
}

// Tell sends a message that has no reply: comm_open, comm_msg, comm_close. The
// kernel deals with it after the cell that is running.
func (k *Kernel) Tell(m Message) error {
	s, err := k.live()
	if err != nil {
		return err
	}
	_, err = s.send(atOnce, nil, m.Channel.wire(), m.wire())
	return err
}

func (c Channel) wire() channel {
	if c == Control {
		return control
	}
	return shell
}

func (m Message) wire() wire.Message {
	return wire.Message{Header: wire.Header{MsgType: m.Type}, Content: m.Content, Metadata: m.Metadata, Buffers: m.Buffers}
}

// Interrupt stops the running cell, whoever's it is, as Ctrl-C would. It does
// not wait for that.
func (k *Kernel) Interrupt() {
	if s := k.current(); !ended(s.host) {
		s.host.interrupt(s)
	}
}

// A Subshell runs cells of its own while the kernel runs another (JEP 91). They
// share all names.
type Subshell struct {
	k    *Kernel
	s    *session
	id   string
	turn chan struct{} // holds a token while the subshell is free
}

// subshells is the feature that a kernel with subshells names in its kernel_info.
const subshells = "kernel subshells"

// Subshell makes a subshell. A kernel that does not have them gives an error
// that is [errors.ErrUnsupported]. The caller must Close it, or the Kernel. A
// Rollback ends it.
func (k *Kernel) Subshell(ctx context.Context) (*Subshell, error) {
	s, err := k.live()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(s.info.Features, subshells) {
		return nil, fmt.Errorf("the kernel has no subshells: %w", errors.ErrUnsupported)
	}
	reply, err := s.ask(ctx, Message{Channel: Control, Type: "create_subshell_request"})
	if err != nil {
		return nil, err
	}
	var c struct {
		ID     string `json:"subshell_id"`
		EValue string
	}
	if err := json.Unmarshal(reply.Content, &c); err != nil || c.ID == "" {
		return nil, fmt.Errorf("the kernel makes no subshell: %s", strings.TrimSpace(c.EValue+" "+string(reply.Content)))
	}
	b := &Subshell{k: k, s: s, id: c.ID, turn: make(chan struct{}, 1)}
	b.turn <- struct{}{}
	return b, nil
}

// Execute is [Kernel.ExecuteCell] in the subshell. Interrupts go to the main
// shell, so that a cell which is stopped here goes on in the kernel, and input()
// raises an exception.
func (b *Subshell) Execute(ctx context.Context, c Cell) (notebook.Execution, error) {
	select {
	case <-b.turn:
	case <-ctx.Done():
		return notebook.Execution{}, ctx.Err()
	}
	defer func() { b.turn <- struct{}{} }()
	if _, err := b.k.live(); err != nil {
		return notebook.Execution{}, err
	}
	r := &run{s: b.s, cell: c, limit: b.k.limit(c), subshell: b.id}
	return r.execute(ctx)
}

// Close ends the subshell.
func (b *Subshell) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), b.s.waits.cancel)
	defer cancel()
	content, err := json.Marshal(map[string]string{"subshell_id": b.id})
	if err == nil {
		_, err = b.s.ask(ctx, Message{Channel: Control, Type: "delete_subshell_request", Content: content})
	}
	return err
}
