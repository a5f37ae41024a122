package ask

import (
	"sync"
	"time"
)

// A Stopwatch measures the wall time during which at least one of a kind of
// operation was under way, however many ran at once.
type Stopwatch struct {
	mu     sync.Mutex
	active int
	since  time.Time // until then total is counted
	total  time.Duration
}

// Start begins an operation; the function that it returns ends it.
func (w *Stopwatch) Start() (stop func()) {
	w.count(1)
	return func() { w.count(-1) }
}

// Seconds returns the time so far.
func (w *Stopwatch) Seconds() float64 { return w.count(0).Seconds() }

// count counts the time so far, and operations that begin or end.
func (w *Stopwatch) count(operations int) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.active > 0 {
		w.total += now.Sub(w.since)
	}
	w.active, w.since = w.active+operations, now
	return w.total
}
