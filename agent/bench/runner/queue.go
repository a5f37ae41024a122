package runner

import (
	"context"
	"sync"
)

// A queue hands out jobs. Jobs that were given back are handed out first. The queue is over
// when no job is left or in progress.
type queue struct {
	mu      sync.Mutex
	left    []job
	working int
	closed  bool
	changed chan struct{} // closed and replaced at every change
	over    chan struct{} // closed at the end
}

// A job is one repeat of a task.
type job struct {
	item  Item
	key   Key
	tries int // that failed although the place was ready
}

func newQueue(jobs []job) *queue {
	q := &queue{left: jobs, changed: make(chan struct{}), over: make(chan struct{})}
	q.change()
	return q
}

// take waits for the next job; ok is false if none will come.
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

// done ends a job that was taken: it has its result.
func (q *queue) done() { q.end(nil) }

// giveBack returns a job that has no result.
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

// close stops handing out jobs.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change()
}

// change wakes the waiting callers. The caller must hold the lock.
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

// waiting returns the number of jobs that nobody has taken.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.left)
}
