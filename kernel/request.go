package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Request sends a request other than a cell, such as complete_request, inspect_request or
// history_request, and returns the reply, whatever its status says. A request on Shell waits for
// running cells. Kernels do not answer requests that they do not know, so ctx should have a
// deadline. The error is that of ctx, ErrClosed, or the reason why there will be no reply.
func (k *Kernel) Request(ctx context.Context, m Message) (Message, error) {
	if m.Channel == Shell {
		ctx, release, err := k.turn.take(ctx)
		if err != nil {
			return Message{}, err
		}
		defer release()
		return k.current().roundTrip(ctx, m)
	}
	if k.turn.isClosed() {
		return Message{}, ErrClosed
	}
	s := k.current()
	reply, err := s.roundTrip(ctx, m)
	if err == nil {
		s.rise(reply)
	}
	return reply, err
}

// roundTrip sends a request and waits for the reply.
func (s *session) roundTrip(ctx context.Context, m Message) (reply Message, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", m.Header.MsgType, err)
		}
	}()
	in := newInbox()
	id, err := s.send(ctx, in, m)
	if err != nil {
		if _, large := errors.AsType[*tooLargeError](err); large || ctx.Err() != nil {
			return reply, err
		}
		select {
		case <-s.owner.gone(): // whose connection breaks before its end is known
			return reply, s.owner.fate().err(died)
		case <-ctx.Done():
		case <-time.After(s.waits.greet):
		}
		return reply, err
	}
	defer s.forget(id)
	again := time.NewTicker(s.waits.rouse)
	defer again.Stop()
	for {
		select {
		case <-in.ready:
			for _, reply := range s.take(in) {
				if reply.Channel == m.Channel {
					return reply, nil
				}
			}
		case <-again.C:
			s.link.Rouse()
		case <-s.owner.gone():
			return reply, s.owner.fate().err(died)
		case <-ctx.Done():
			return reply, Ended(ctx)
		}
	}
}

// Interrupt interrupts the running cell, of whatever client, as Ctrl-C would. It does not wait.
// Python can miss an interrupt that comes just as the cell begins to sleep or to wait: if the cell
// does not end, interrupt it again.
func (k *Kernel) Interrupt() {
	if s := k.current(); !isGone(s.owner) {
		s.owner.interrupt(s)
	}
}
