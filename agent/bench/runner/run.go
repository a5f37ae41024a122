package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// sick is the number of consecutive model or kernel errors that end a run.
const sick = 5

// A LackingError reports that a task cannot run because something is missing. The task gets no
// record, and the run continues.
type LackingError struct{ Err error }

func (e *LackingError) Error() string { return e.Err.Error() }
func (e *LackingError) Unwrap() error { return e.Err }

// ErrOverTime is the cause with which a task's context ends at its time limit.
var ErrOverTime = errors.New("the task timed out")

// A Config is what all tasks of a run share. Only Timeout, Budget and Observe may be left out.
type Config struct {
	Folder  *Folder
	Jobs    int           // concurrent tasks
	Timeout time.Duration // of one task, without its scoring; 0: none
	Budget  *ask.Budget   // nil: none

	Tasks  map[string]bench.Task // by id
	Solver Solver
	Agent  agent.Config // of every task, without model, folder, sessions and sandbox
	Scorer bench.Scorer // without a judge, which is the task's model
	Site   Site
	Models func(Key) (model, embedder llm.Model, err error) // of one task

	// Observe, if set, is called for each event, one call at a time.
	Observe func(Event)

	solve func(ctx context.Context, j Job) (Record, error) // of tests
}

// An Event is that a task has begun, has ended with its Record, or cannot be run for Err; and the
// state after it.
type Event struct {
	Key    Key
	Record *Record
	Err    error

	Totals
}

// Totals is the progress of a run.
type Totals struct {
	Right, Wrong, Unscored int // records, including earlier ones
	Earlier                int // records at the start
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
	if r.Budget == nil {
		r.Budget = &ask.Budget{}
	}
	if r.solve == nil {
		r.solve = r.solveTask
	}
	r.Budget.AllTasks = true
	r.Budget.Add(r.Folder.Spent.Calls, r.Folder.Spent.Cost)
	for _, record := range r.Folder.Records {
		if r.Folder.Done(record.Key()) {
			r.totals.count(record)
			r.totals.Earlier++
		}
	}
	ctx, cancel := r.Budget.WithTime(ctx)
	defer cancel()
	tasks, ctx := errgroup.WithContext(ctx)
	tasks.SetLimit(cfg.Jobs)
	for _, j := range r.Folder.jobs() {
		if r.Folder.Done(j.Key()) {
			continue
		}
		tasks.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return r.do(ctx, j)
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

// do solves one task in a new run folder and records the result.
func (r *run) do(ctx context.Context, j Job) error {
	j.Dir, j.meter = r.Folder.Task(j.Key()), &meter{budget: r.Budget}
	if err := errors.Join(os.RemoveAll(j.Dir), os.MkdirAll(j.Dir, 0o755)); err != nil {
		return fmt.Errorf("begin %s: %w", j.Key(), err)
	}
	r.tell(Event{Key: j.Key()}, func(t *Totals) { t.Running++ })
	result, err := r.solve(ctx, j)
	if spent := r.Budget.Spent(); ctx.Err() != nil { // the record may be incomplete
		err = context.Cause(ctx)
	} else if spent != nil {
		err = spent
	}
	result.Task, result.Repeat, result.Level, result.Domain = j.ID, j.Repeat, j.Level, j.Domain
	result.Spent = &j.meter.spent
	if err != nil && result.Spent.Calls > 0 {
		stopped := Record{Task: j.ID, Repeat: j.Repeat, Stopped: true, Spent: result.Spent}
		err = errors.Join(err, r.Folder.Append(stopped))
	}
	if _, lacks := errors.AsType[*LackingError](err); lacks {
		r.tell(Event{Key: j.Key(), Err: err}, func(t *Totals) { t.Running-- })
		return nil
	}
	notebook := record.Folder(j.Dir).Notebook()
	if _, missing := os.Stat(notebook); missing == nil {
		result.Notebook = path.Join("tasks", filepath.Base(j.Dir), filepath.Base(notebook))
	}
	if err == nil {
		err = r.Folder.Append(result)
	}
	if err != nil {
		return err
	}
	ill := false
	r.tell(Event{Key: j.Key(), Record: &result}, func(t *Totals) {
		t.Running--
		t.count(result)
		if r.inARow++; result.Cause != ModelError && result.Cause != KernelError {
			r.inARow = 0
		}
		ill = r.inARow >= sick
	})
	if ill {
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

// tell changes the totals and reports an event.
func (r *run) tell(e Event, change func(*Totals)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.totals)
	if r.Observe != nil {
		r.totals.Cost = r.Budget.Paid()
		e.Totals = r.totals
		r.Observe(e)
	}
}

// A Job is one repeat of a task, which is to be done.
type Job struct {
	Item
	Repeat int
	Dir    string // its run folder, which exists and is empty

	meter *meter
}

// Key returns the key of the job's record.
func (j Job) Key() Key { return Key{j.ID, j.Repeat} }

// model returns m with its calls charged to the run's budget, including those that score the
// answer. When the budget is spent, Ask returns the error of [ask.Budget.Spent]; any other error is
// a callError.
func (j Job) model(m llm.Model) llm.Model { return metered{j.meter, m} }

// A meter counts what one attempt at a task uses.
type meter struct {
	budget *ask.Budget
	mu     sync.Mutex
	spent  Spent
}

type metered struct {
	*meter
	model llm.Model
}

// A callError is the error of a call of the model, not of the kernel.
type callError struct{ error }

func (e callError) Unwrap() error { return e.error }

func (m metered) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := m.budget.Reserve(); err != nil {
		return llm.Reply{}, err
	}
	reply, err := m.model.Ask(ctx, r)
	calls := max(1, reply.Calls) // the first of which is reserved
	m.budget.Add(calls-1, 0)
	paid, _ := m.budget.Pay(r.Role, reply.Usage)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent.add(Spent{calls, paid})
	if err != nil {
		err = callError{err}
	}
	return reply, err
}
