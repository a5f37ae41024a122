package runner

import (
	"context"
	"sync"
)

// A queue hands out what is to be done. What is given back is handed out again,
// first; it is over when nothing is left and nothing is in work.
type queue struct {
	mu      sync.Mutex
	left    []job
	working int
	closed  bool
	changed chan struct{} // closed and replaced at every change
	over    chan struct{} // closed at the end
}

// A job is one task that is to be done once more or less often.
type job struct {
	item  Item
	key   Key
	tries int // at which its place did not fail, but the task could not be done
}

func newQueue(jobs []job) *queue {
	q := &queue{left: jobs, changed: make(chan struct{}), over: make(chan struct{})}
	q.change()
	return q
}

// take waits for the next job; ok is false when there is none to come.
func (q *queue) take(ctx context.Context) (j job, ok bool) {
	for {
		q.mu.Lock()
		if !q.closed && len(q.left) > 0 {
			j, q.left = q.left[0], q.left[1:]
			q.working++
			q.mu.Unlock()
			return j, true
		}
		changed := q.changed
		q.mu.Unlock()
		select {
		case <-q.over:
			return job{}, false
		case <-changed:
		case <-ctx.Done():
			return job{}, false
		}
	}
}

// done says that a job that was taken has its result.
func (q *queue) done() { q.end(nil) }

// giveBack says that it has none, and is to be taken by somebody else.
func (q *queue) giveBack(j job) { q.end(&j) }

func (q *queue) end(back *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.working--
	if back != nil {
		q.left = append([]job{*back}, q.left...)
	}
	q.change()
}

// close ends the handing out.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change()
}

// change wakes those that wait. The caller holds the lock, or is alone.
func (q *queue) change() {
	if q.working == 0 && len(q.left) == 0 || q.closed {
		select {
		case <-q.over:
		default:
			close(q.over)
		}
	}
	close(q.changed)
	q.changed = make(chan struct{})
}

// waiting is how many jobs are left that nobody has taken.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.left)
}
