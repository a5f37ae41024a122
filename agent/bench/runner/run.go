package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/llm"
)

// sick is the number of consecutive model or kernel errors that end a run.
const sick = 5

// A Config is what all tasks of a run share. Only Observe may be left out.
type Config struct {
	Folder *Folder
	Jobs   int         // concurrent tasks
	Budget *ask.Budget // of all tasks together

	Tasks  map[string]bench.Task // by id
	Solve  Solver
	Agent  agent.Config // of every task, without model, folder, sessions and sandbox
	Scorer bench.Scorer // without a judge, which is the task's model
	Site   Site
	Model  llm.Model

	// Observe, if set, is called for each event, one call at a time.
	Observe func(Event)
}

// An Event is that a task has begun, has ended with its Record, or cannot be run for Err; and the
// state after it.
type Event struct {
	Task   string
	Record *Record
	Err    error

	Totals
}

// Totals is the progress of a run.
type Totals struct {
	Right, Wrong, Unscored int // records, including earlier ones
	Running                int
	Cost                   float64
}

func (t *Totals) count(r Record) {
	switch {
	case r.Score == nil:
		t.Unscored++
	case r.Right():
		t.Right++
	default:
		t.Wrong++
	}
}

// Run runs all tasks of the folder that have no result. An error says why some still have none:
// ctx's cause, an [*ask.BudgetError] whose flag begins with total-, a [*SickError], or an error
// that every task would meet. The folder can always be resumed.
func Run(ctx context.Context, cfg Config) error {
	r := &run{Config: cfg}
	r.totals, _, _ = r.Folder.Totals()
	ctx, cancel := r.Budget.WithTime(ctx)
	defer cancel()
	tasks, ctx := errgroup.WithContext(ctx)
	tasks.SetLimit(cfg.Jobs)
	for _, item := range r.Folder.left() {
		tasks.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return r.do(ctx, item)
		})
	}
	return tasks.Wait()
}

type run struct {
	Config

	mu     sync.Mutex
	totals Totals
	inARow int // number of consecutive model or kernel errors
}

// do has a task solved in a new run folder and records the result.
func (r *run) do(ctx context.Context, item Item) error {
	dir := TaskFolder(r.Folder.Path, item.ID)
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("begin %s: %w", item.ID, err)
	}
	r.tell(Event{Task: item.ID}, 1)
	result, err := r.solve(ctx, item, dir)
	if _, spent := r.Budget.Used(); ctx.Err() != nil { // the record may be incomplete
		err = context.Cause(ctx)
	} else if spent != nil {
		err = spent
	}
	if errors.Is(err, errLacking) {
		r.tell(Event{Task: item.ID, Err: err}, -1)
		return nil
	} else if err != nil {
		return err
	}
	result.Sandbox = r.Site.Sandbox
	if err := r.Folder.Append(result); err != nil {
		return err
	}
	if r.tell(Event{Task: item.ID, Record: &result}, -1) >= sick {
		return &SickError{result.Error}
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

// tell counts and reports an event, with which so many more tasks are running. It returns the number
// of consecutive model or kernel errors.
func (r *run) tell(e Event, running int) (inARow int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.totals.Running += running
	if e.Record != nil {
		r.totals.count(*e.Record)
		if r.inARow++; e.Record.Cause != Broken {
			r.inARow = 0
		}
	}
	if r.Observe != nil {
		r.totals.Cost, _ = r.Budget.Used()
		e.Totals = r.totals
		r.Observe(e)
	}
	return r.inARow
}
