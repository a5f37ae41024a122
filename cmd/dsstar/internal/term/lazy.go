package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A LazyWriter writes from its own goroutine, so that a stopped terminal or a slow pipe does
// not block the caller. Text that exceeds its buffer is dropped, with a note.
type LazyWriter struct {
	w       io.Writer
	wake    chan struct{} // holds a token if there is something to do
	ended   chan struct{}
	mu      sync.Mutex
	pending []byte
	dropped int
	closed  bool
	moved   time.Time // the time of the last write
}

// lazyBytes is the size of the buffer.
const lazyBytes = 1 << 20

// NewLazyWriter returns a writer to w, which the caller must close.
func NewLazyWriter(w io.Writer) *LazyWriter {
	l := &LazyWriter{w: w, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go l.work()
	return l
}

// Write appends text to the buffer.
func (l *LazyWriter) Write(text string) {
	l.mu.Lock()
	if l.closed || len(l.pending)+len(text) > lazyBytes {
		l.dropped += len(text)
	} else {
		l.note()
		l.pending = append(l.pending, text...)
	}
	l.mu.Unlock()
	l.poke()
}

// note adds a note about dropped text; mu is held.
func (l *LazyWriter) note() {
	if l.dropped > 0 {
		l.pending = fmt.Appendf(l.pending,
			"\n[dsstar: %d bytes came too fast to be shown here; the notebook has them]\n", l.dropped)
		l.dropped = 0
	}
}

func (l *LazyWriter) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *LazyWriter) work() {
	defer close(l.ended)
	for range l.wake {
		for {
			l.mu.Lock()
			if len(l.pending) == 0 {
				l.note()
			}
			part, closed := l.pending, l.closed
			l.pending = nil
			l.moved = time.Now()
			l.mu.Unlock()
			if len(part) == 0 {
				if closed {
					return
				}
				break
			}
			for len(part) > 0 {
				n := min(len(part), 32<<10)
				_, _ = l.w.Write(part[:n]) // the reader may be gone
				part = part[n:]
				l.mu.Lock()
				l.moved = time.Now()
				l.mu.Unlock()
			}
		}
	}
}

// Close waits until the buffer is written, or the writer has been blocked for two seconds.
func (l *LazyWriter) Close() {
	l.mu.Lock()
	l.closed, l.moved = true, time.Now()
	l.mu.Unlock()
	l.poke()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-l.ended:
			return
		case <-tick.C:
			l.mu.Lock()
			stuck := time.Since(l.moved) > 2*time.Second
			l.mu.Unlock()
			if stuck {
				return
			}
		}
	}
}
