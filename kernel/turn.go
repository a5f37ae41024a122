package kernel

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is returned by a Kernel's methods after Close.
var ErrClosed = errors.New("the kernel is closed")

// A turn is the one lock of a Kernel: whoever holds it uses the shell channel. It can be closed.
type turn struct {
	free chan struct{} // holds a token while nobody has the turn
	done chan struct{} // closed when Close has finished

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the context of the holder; nil without one
	closed bool
}

func newTurn() *turn {
	t := &turn{free: make(chan struct{}, 1), done: make(chan struct{})}
	t.free <- struct{}{}
	return t
}

// take waits for the turn, unless ctx is the holder's. The returned context ends with ctx, and
// close cancels it too; it makes its calls the holder's. The caller must call release.
func (t *turn) take(ctx context.Context) (_ context.Context, release func(), err error) {
	if ctx.Err() != nil {
		return nil, nil, Ended(ctx)
	}
	if ctx.Value(t) != nil {
		return ctx, func() {}, nil
	}
	select {
	case <-t.free:
	case <-t.done:
		return nil, nil, ErrClosed
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		t.free <- struct{}{}
		return nil, nil, ErrClosed
	}
	ctx, t.cancel = context.WithCancelCause(context.WithValue(ctx, t, true))
	return ctx, t.release, nil
}

func (t *turn) release() {
	t.mu.Lock()
	t.cancel(nil)
	t.cancel = nil
	t.mu.Unlock()
	t.free <- struct{}{}
}

func (t *turn) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// close cancels the context of the holder, waits for the turn and calls end. Later calls wait for
// the first one and return nil.
func (t *turn) close(end func() error) error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		<-t.done
		return nil
	}
	t.closed = true
	if t.cancel != nil {
		t.cancel(ErrClosed)
	}
	t.mu.Unlock()
	<-t.free // never given back
	defer close(t.done)
	return end()
}

// Ended returns why the context of a call has ended: [ErrClosed] after Close, else ctx.Err().
func Ended(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrClosed) {
		return ErrClosed
	}
	return ctx.Err()
}
