package runner

import "sync"

// A queue hands out jobs. Jobs that were given back are handed out first. The queue is over
// when no job is left or in progress, or it is closed.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	left    []job
	working int
	closed  bool
	over    chan struct{} // closed at the end
}

// A job is one repeat of a task.
type job struct {
	item  Item
	key   Key
	tries int // that failed although the place was ready
}

func newQueue(jobs []job) *queue {
	q := &queue{left: jobs, over: make(chan struct{})}
	q.changed = sync.NewCond(&q.mu)
	q.change(func() {})
	return q
}

// take waits for the next job; ok is false if none will come.
func (q *queue) take() (j job, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.left) == 0 && q.working > 0 && !q.closed {
		q.changed.Wait()
	}
	if len(q.left) == 0 || q.closed {
		return job{}, false
	}
	j, q.left = q.left[0], q.left[1:]
	q.working++
	return j, true
}

// done ends a job that was taken: it has its result.
func (q *queue) done() { q.change(func() { q.working-- }) }

// giveBack returns a job that has no result.
func (q *queue) giveBack(j job) {
	q.change(func() { q.working, q.left = q.working-1, append([]job{j}, q.left...) })
}

// close stops handing out jobs.
func (q *queue) close() { q.change(func() { q.closed = true }) }

// change makes a change and wakes the waiting callers.
func (q *queue) change(make func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.closed
	if make(); q.working == 0 && len(q.left) == 0 {
		q.closed = true
	}
	if q.closed && !was {
		close(q.over)
	}
	q.changed.Broadcast()
}

// waiting returns the number of jobs that nobody has taken.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.left)
}
