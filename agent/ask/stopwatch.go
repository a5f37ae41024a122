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
	since  time.Time
	total  time.Duration
}

// Start begins an operation; the function that it returns ends it.
func (w *Stopwatch) Start() (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.active == 0 {
		w.since = time.Now()
	}
	w.active++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.active--; w.active == 0 {
			w.total += time.Since(w.since)
		}
	}
}

// Seconds returns the time so far.
func (w *Stopwatch) Seconds() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := w.total
	if w.active > 0 {
		total += time.Since(w.since)
	}
	return total.Seconds()
}
