package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dsstar/kernel/internal/inbox"
	"dsstar/kernel/internal/turn"
)

// Request sends a request other than a cell, such as complete_request,
// inspect_request, history_request, is_complete_request, comm_info_request or
// usage_request, and returns the reply, whatever its status says. A request on
// Shell waits for running cells. Kernels do not answer requests that they do not
// know, so ctx should have a deadline. The error is that of ctx, ErrClosed, or the
// reason why there will be no reply.
func (k *Kernel) Request(ctx context.Context, m Message) (Message, error) {
	if m.Channel == Shell {
		ctx, release, err := k.turn.Take(ctx)
		if err != nil {
			return Message{}, err
		}
		defer release()
		return k.current().roundTrip(ctx, m)
	}
	s, err := k.live()
	if err != nil {
		return Message{}, err
	}
	reply, err := s.roundTrip(ctx, m)
	if err == nil {
		s.rise(reply)
	}
	return reply, err
}

// live returns the session, or ErrClosed.
func (k *Kernel) live() (*session, error) {
	if k.turn.Closed() {
		return nil, ErrClosed
	}
	return k.current(), nil
}

// roundTrip sends a request and waits for the reply.
func (s *session) roundTrip(ctx context.Context, m Message) (Message, error) {
	fail := func(err error) (Message, error) {
		return Message{},
			fmt.Errorf("%s: %w", m.Header.MsgType, err)
	}
	in := inbox.New()
	id, err := s.send(ctx, in, m)
	if err != nil {
		if _, large := errors.AsType[*tooLargeError](err); large || ctx.Err() != nil {
			return fail(err)
		}
		select {
		case <-s.host.gone(): // whose connection breaks before its end is known
			return fail(s.whyGone())
		case <-ctx.Done():
		case <-time.After(s.waits.greet):
		}
		return fail(err)
	}
	defer s.forget(id)
	again := time.NewTicker(s.waits.rouse)
	defer again.Stop()
	for {
		select {
		case <-in.Ready:
			for _, reply := range in.Take() {
				if reply.Channel == m.Channel {
					return reply, nil
				}
			}
		case <-again.C:
			s.link.Rouse()
		case <-s.host.gone():
			return fail(s.whyGone())
		case <-ctx.Done():
			return fail(turn.Reason(ctx))
		}
	}
}

// whyGone says how the kernel ended.
func (s *session) whyGone() error {
	how, lost := s.host.fate()
	if lost == nil {
		lost = errors.New(died + how)
	}
	return lost
}

// Send sends a message that has no reply: comm_open, comm_msg, comm_close. The kernel handles it
// after the running cell.
func (k *Kernel) Send(m Message) error {
	s, err := k.live()
	if err != nil {
		return err
	}
	_, err = s.send(atOnce, nil, m)
	return err
}

// Interrupt interrupts the running cell, of whatever client, as Ctrl-C would. It does not wait.
// Python can miss an interrupt that comes just as the cell begins to sleep or to wait: if the cell
// does not end, interrupt it again.
func (k *Kernel) Interrupt() {
	if s := k.current(); !ended(s.host) {
		s.host.interrupt(s)
	}
}
