// Package turn lets one goroutine at a time use something that can be closed.
package turn

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is the error of Take after Close, and the cause with which Close cancels contexts.
var ErrClosed = errors.New("the kernel is closed")

// A Turn is held by one goroutine at a time.
type Turn struct {
	free chan struct{} // holds a token while nobody has the turn
	done chan struct{} // closed when Close has finished

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the context of the holder; nil without one
	closed bool
}

// New returns a turn that is free.
func New() *Turn {
	t := &Turn{free: make(chan struct{}, 1), done: make(chan struct{})}
	t.free <- struct{}{}
	return t
}

// Take waits for the turn. The returned context ends with ctx, and Close cancels it too. The caller
// must call release.
func (t *Turn) Take(ctx context.Context) (_ context.Context, release func(), err error) {
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
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
	ctx, t.cancel = context.WithCancelCause(ctx)
	return ctx, t.release, nil
}

func (t *Turn) release() {
	t.mu.Lock()
	t.cancel(nil)
	t.cancel = nil
	t.mu.Unlock()
	t.free <- struct{}{}
}

// Closed reports whether Close has been called.
func (t *Turn) Closed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// Close cancels the context of the holder, waits for the turn and calls end. Later calls wait for
// the first one and return nil.
func (t *Turn) Close(end func() error) error {
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

// Reason returns why ctx has ended: ErrClosed after Close, else ctx.Err().
func Reason(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrClosed) {
		return ErrClosed
	}
	return ctx.Err()
}
