package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"sync"
	"time"

	"dsstar/agent/ask"
)

const (
	sick     = 5                // consecutive model or kernel errors that end a run
	attempts = 3                // tries at a task that fails in places that are ready
	pause    = 5 * time.Second  // before a lost place is tried again, doubled up to a minute
	patience = 10 * time.Minute // how long all places may be lost
)

// Run runs all tasks of the folder that have no result. An error says why some still have none:
// ctx's cause, an [*ask.BudgetError] whose flag begins with total-, a [*SickError], an error of
// Solve, or that no place is left. The folder can always be resumed.
func Run(ctx context.Context, cfg Config) error {
	r, err := newRun(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := r.Budget.WithTime(ctx)
	defer cancel()
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	var workers sync.WaitGroup
	for n := range cfg.Jobs {
		workers.Go(func() { r.work(ctx, n%len(cfg.Sites)) })
	}
	workers.Wait()
	if r.failed != nil {
		return r.failed
	}
	if len(r.left) > 0 {
		return context.Cause(ctx)
	}
	return nil
}

type run struct {
	Config
	stop context.CancelCauseFunc
	over chan struct{} // closed when nothing is left to do, or the run has failed

	mu      sync.Mutex
	changed *sync.Cond
	left    []Job // that nobody has taken
	taken   int   // jobs in progress
	totals  Totals
	failed  error     // what ended the run
	healthy time.Time // when a place was last known to work
	missing []bool    // lost places
	inARow  int       // number of consecutive model or kernel errors
}

func newRun(cfg Config) (*run, error) {
	if len(cfg.Sites) == 0 || cfg.Jobs < 1 {
		return nil, errors.New("a run needs a place and a job")
	}
	if cfg.Budget == nil {
		cfg.Budget = &ask.Budget{}
	}
	cfg.Budget.AllTasks = true
	r := &run{Config: cfg, healthy: time.Now(), missing: make([]bool, len(cfg.Sites)),
		over: make(chan struct{})}
	r.changed = sync.NewCond(&r.mu)
	if err := cfg.Folder.settle(cfg.Budget); err != nil {
		return nil, err
	}
	records, err := readRecords(cfg.Folder.path)
	for _, record := range records {
		if record.Spent != nil {
			cfg.Budget.Add(record.Spent.Calls, record.Spent.Cost)
		}
	}
	for _, record := range latest(records) {
		if cfg.Folder.Done(record.Key()) {
			r.totals.count(record)
			r.totals.Earlier++
		}
	}
	r.left = cfg.Folder.jobs()
	r.change(func() {})
	return r, err
}

// jobs returns the tasks without a result: all of them once before any is repeated.
func (f *Folder) jobs() (jobs []Job) {
	for repeat := 1; repeat <= max(1, f.Repeat); repeat++ {
		for _, item := range f.Items {
			if j := (Job{Item: item, Repeat: repeat}); !f.Done(j.Key()) {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

// take waits for the next job; ok is false if none will come.
func (r *run) take() (j Job, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.left) == 0 && r.taken > 0 && r.failed == nil {
		r.changed.Wait()
	}
	if len(r.left) == 0 || r.failed != nil {
		return Job{}, false
	}
	j, r.left = r.left[0], r.left[1:]
	r.taken++
	return j, true
}

// giveBack returns a job that has no result. It is the next that is taken.
func (r *run) giveBack(j Job) {
	r.change(func() { r.taken, r.left = r.taken-1, append([]Job{j}, r.left...) })
}

// done ends a job that was taken.
func (r *run) done() { r.change(func() { r.taken-- }) }

// change makes a change and wakes those that wait.
func (r *run) change(make func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	make()
	if r.failed != nil || r.taken == 0 && len(r.left) == 0 {
		select {
		case <-r.over:
		default:
			close(r.over)
		}
	}
	r.changed.Broadcast()
}

// work runs one task after another at a place.
func (r *run) work(ctx context.Context, place int) {
	if !r.ready(ctx, place, nil) {
		return
	}
	for {
		j, ok := r.take()
		if !ok {
			return
		}
		j.Site = place
		err := r.do(ctx, j)
		lost, isPlace := errors.AsType[*SiteError](err)
		lacking, lacks := errors.AsType[*LackingError](err)
		switch {
		case err == nil: // it has its record
		case ctx.Err() != nil || !isPlace && !lacks:
			r.giveBack(j)
			r.end(err)
			return
		case lacks:
			r.done()
			r.tell(Event{Kind: Lacking, Key: j.Key(), Err: lacking})
		case r.Sites[place].Ready == nil || r.Sites[place].Ready(ctx) == nil:
			if j.tries++; j.tries < attempts {
				r.back(j, lost)
			} else if err := r.hopeless(j, lost); err != nil {
				r.giveBack(j)
				r.end(err)
				return
			}
		default:
			r.back(j, lost)
			if !r.ready(ctx, place, lost) {
				return
			}
		}
	}
}

func (r *run) back(j Job, err error) {
	r.giveBack(j)
	r.tell(Event{Kind: GivenBack, Key: j.Key(), Site: r.Sites[j.Site].Name, Err: err})
}

// hopeless records a kernel error for a task that kept failing although the places are ready.
func (r *run) hopeless(j Job, err error) error {
	record := Record{Task: j.ID, Repeat: j.Repeat, Level: j.Level, Domain: j.Domain,
		Cause: KernelError, Error: err.Error()}
	if !j.Hidden {
		record.Score = new(float64)
	}
	return r.record(record)
}

// ready waits until a place is ready, and reports false if nothing is left to do there. lost,
// if not nil, is why the place is already known to have failed.
func (r *run) ready(ctx context.Context, place int, lost error) bool {
	p := r.Sites[place]
	if p.Ready == nil {
		return true
	}
	for pause := pause; ; pause = min(2*pause, time.Minute) {
		if lost == nil {
			if lost = p.Ready(ctx); lost == nil {
				r.found(place)
				return true
			}
		}
		if ctx.Err() != nil {
			return false
		}
		if _, ok := errors.AsType[*SiteError](lost); !ok {
			r.end(lost)
			return false
		}
		if r.hopelesslyLost() {
			r.end(fmt.Errorf("no place for kernels is left: %w", lost))
			return false
		}
		r.miss(place, lost)
		select {
		case <-time.After(pause):
		case <-r.over:
			return false
		case <-ctx.Done():
			return false
		}
		lost = nil
	}
}

// miss reports a lost place, once.
func (r *run) miss(place int, err error) {
	r.mu.Lock()
	known := r.missing[place]
	r.missing[place] = true
	r.mu.Unlock()
	if !known {
		r.tell(Event{Kind: Lost, Site: r.Sites[place].Name, Err: err})
	}
}

// found notes that a place is ready.
func (r *run) found(place int) {
	r.mu.Lock()
	was := r.missing[place]
	r.missing[place] = false
	r.healthy = time.Now()
	r.mu.Unlock()
	if was {
		r.tell(Event{Kind: Back, Site: r.Sites[place].Name})
	}
}

func (r *run) hopelesslyLost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken == 0 && time.Since(r.healthy) > patience
}

// do solves one task in a new run folder and records the result. A job that has its record is done.
func (r *run) do(ctx context.Context, j Job) (err error) {
	if j.Dir, err = r.Folder.begin(j.Key()); err != nil {
		return err
	}
	r.tell(Event{Kind: Begun, Key: j.Key(), Site: r.Sites[j.Site].Name})
	j.timeout, j.tally = r.Timeout, &tally{budget: r.Budget}
	record, err := r.Solve(ctx, j)
	if err == nil {
		r.change(func() { r.healthy = time.Now() })
	}
	switch spent := r.Budget.Spent(); {
	case ctx.Err() != nil: // the record may be incomplete
		err = context.Cause(ctx)
	case spent != nil:
		err = spent
	case err == nil && record.Notebook != "": // below the run's folder
		record.Notebook = path.Join("tasks", filepath.Base(j.Dir), filepath.Base(record.Notebook))
	}
	spent := j.tally.sum()
	if err != nil {
		return errors.Join(err, r.Folder.stop(j.Key(), spent))
	}
	record.Task, record.Repeat, record.Level, record.Domain = j.ID, j.Repeat, j.Level, j.Domain
	record.Spent = &spent
	return r.record(record)
}

// record appends the record of a job, which is then done, and reports it.
func (r *run) record(record Record) error {
	if err := r.Folder.Append(record); err != nil {
		return err
	}
	ill := false
	r.change(func() {
		r.taken--
		r.totals.count(record)
		if r.inARow++; record.Cause != ModelError && record.Cause != KernelError {
			r.inARow = 0
		}
		ill = r.inARow >= sick
	})
	r.tell(Event{Kind: Ended, Key: record.Key(), Record: &record})
	if ill {
		r.end(&SickError{record.Error})
	}
	return nil
}

// A SickError reports that the last tasks all ended with a model or kernel error, so there is
// no point in continuing.
type SickError struct{ Last string }

func (e *SickError) Error() string {
	return fmt.Sprintf("the last %d tasks ended with an error of model or kernel, the last one "+
		"with: %s", sick, e.Last)
}

// end ends the run with an error, unless one has ended it before.
func (r *run) end(err error) {
	r.change(func() { r.failed = cmp.Or(r.failed, err) })
	r.stop(err)
}

func (r *run) tell(e Event) {
	if r.Observe == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Totals = r.totals
	e.Running, e.Left = r.taken, len(r.left)
	e.Cost = r.Budget.Paid()
	r.Observe(e)
}
