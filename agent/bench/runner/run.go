package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"dsstar/agent/ask"
)

// sick is the number of consecutive model or kernel errors that ends a run.
const sick = 5

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
		workers.Go(func() { r.work(ctx, n%len(cfg.Places)) })
	}
	workers.Wait()
	if r.failed != nil {
		return r.failed
	}
	if r.queue.waiting() > 0 {
		return context.Cause(ctx)
	}
	return nil
}

type run struct {
	Config
	queue *queue
	stop  context.CancelCauseFunc

	mu      sync.Mutex
	totals  Totals
	failed  error     // what ended the run
	healthy time.Time // when a place was last known to work
	missing []bool    // lost places
	inARow  int       // number of consecutive model or kernel errors
	solving int       // tasks in progress
}

func newRun(cfg Config) (*run, error) {
	if len(cfg.Places) == 0 || cfg.Jobs < 1 {
		return nil, errors.New("a run needs a place and a job")
	}
	if cfg.Pause == 0 {
		cfg.Pause = 5 * time.Second
	}
	if cfg.Patience == 0 {
		cfg.Patience = 10 * time.Minute
	}
	if cfg.Tries == 0 {
		cfg.Tries = 3
	}
	if cfg.Budget == nil {
		cfg.Budget = &ask.Budget{}
	}
	cfg.Budget.AllTasks = true
	r := &run{Config: cfg, healthy: time.Now(), missing: make([]bool, len(cfg.Places))}
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
	r.queue = newQueue(cfg.Folder.jobs())
	return r, err
}

// jobs returns the tasks without a result: all of them once before any is repeated.
func (f *Folder) jobs() []job {
	var jobs []job
	for repeat := 1; repeat <= max(1, f.Repeat); repeat++ {
		for _, item := range f.Items {
			if k := (Key{item.ID, repeat}); !f.Done(k) {
				jobs = append(jobs, job{item: item, key: k})
			}
		}
	}
	return jobs
}

// work runs one task after another at a place.
func (r *run) work(ctx context.Context, place int) {
	if !r.ready(ctx, place, nil) {
		return
	}
	for {
		j, ok := r.queue.take()
		if !ok {
			return
		}
		err := r.do(ctx, j, place)
		if err == nil {
			r.queue.done()
			continue
		}
		if lacking, ok := errors.AsType[*LackingError](err); ok && ctx.Err() == nil {
			r.queue.done()
			r.tell(Event{Kind: Lacking, Key: j.key, Err: lacking})
			continue
		}
		lost, isPlace := errors.AsType[*PlaceError](err)
		if !isPlace || ctx.Err() != nil {
			r.queue.giveBack(j)
			r.end(err)
			return
		}
		if r.Places[place].Ready == nil || r.Places[place].Ready(ctx) == nil {
			if j.tries++; j.tries >= r.Tries {
				r.hopeless(j, lost)
				continue
			}
			r.back(j, place, lost)
			continue
		}
		r.back(j, place, lost)
		if !r.ready(ctx, place, lost) {
			return
		}
	}
}

func (r *run) back(j job, place int, err error) {
	r.queue.giveBack(j)
	r.tell(Event{Kind: GivenBack, Key: j.key, Place: r.Places[place].Name, Err: err})
}

// hopeless records a kernel error for a task that kept failing although the places are ready.
func (r *run) hopeless(j job, err error) {
	if err := r.record(Record{
		Task: j.item.ID, Repeat: j.key.Repeat, Level: j.item.Level, Domain: j.item.Domain,
		Score: r.wrong(j), Cause: KernelError, Error: err.Error(),
	}); err != nil {
		r.queue.giveBack(j)
		r.end(err)
		return
	}
	r.queue.done()
}

// wrong returns the score of a task that did not run; nil if its answer is not public.
func (r *run) wrong(j job) *float64 {
	if j.item.Hidden {
		return nil
	}
	return new(float64)
}

// ready waits until a place is ready, and reports false if nothing is left to do there. lost,
// if not nil, is why the place is already known to have failed.
func (r *run) ready(ctx context.Context, place int, lost error) bool {
	p := r.Places[place]
	if p.Ready == nil {
		return true
	}
	for pause := r.Pause; ; pause = min(2*pause, max(time.Minute, r.Pause)) {
		if lost == nil {
			if lost = p.Ready(ctx); lost == nil {
				r.found(place)
				return true
			}
		}
		if ctx.Err() != nil {
			return false
		}
		if _, ok := errors.AsType[*PlaceError](lost); !ok {
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
		case <-r.queue.over:
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
		r.tell(Event{Kind: Lost, Place: r.Places[place].Name, Err: err})
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
		r.tell(Event{Kind: Back, Place: r.Places[place].Name})
	}
}

func (r *run) hopelesslyLost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.solving == 0 && time.Since(r.healthy) > r.Patience
}

// do solves one task in a new run folder and records the result.
func (r *run) do(ctx context.Context, j job, place int) error {
	dir, err := r.Folder.begin(j.key)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.solving++
	r.mu.Unlock()
	r.tell(Event{Kind: Begun, Key: j.key, Place: r.Places[place].Name})
	used := &tally{budget: r.Budget}
	record, err := r.Solve(ctx, Job{Item: j.item, Repeat: j.key.Repeat, Dir: dir, Place: place,
		timeout: r.Timeout, tally: used})
	r.mu.Lock()
	r.solving--
	if err == nil {
		r.healthy = time.Now()
	}
	r.mu.Unlock()
	switch spent := r.Budget.Spent(); {
	case ctx.Err() != nil: // the record may be incomplete
		err = context.Cause(ctx)
	case spent != nil:
		err = spent
	case err == nil:
		record.Notebook, err = below(r.Folder.path, record.Notebook)
	}
	spent := used.sum()
	if err != nil {
		return errors.Join(err, r.Folder.stop(j.key, spent))
	}
	record.Task, record.Repeat, record.Level, record.Domain = j.item.ID, j.key.Repeat, j.item.Level, j.item.Domain
	record.Spent = &spent
	return r.record(record)
}

// below returns a file's path relative to a folder, with slashes; "" stays "".
func below(folder, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	from, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	return rel, err
}

// record appends a record and reports it.
func (r *run) record(record Record) error {
	if err := r.Folder.Append(record); err != nil {
		return err
	}
	r.mu.Lock()
	r.totals.count(record)
	if r.inARow++; record.Cause != ModelError && record.Cause != KernelError {
		r.inARow = 0
	}
	ill := r.inARow >= sick
	r.mu.Unlock()
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
	r.mu.Lock()
	if r.failed == nil {
		r.failed = err
	}
	r.mu.Unlock()
	r.queue.close()
	r.stop(err)
}

func (r *run) tell(e Event) {
	if r.Observe == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Totals = r.totals
	e.Running, e.Left = r.solving, r.queue.waiting()
	e.Cost = r.Budget.Paid()
	r.Observe(e)
}
