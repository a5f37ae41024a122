// Package agent is DS-STAR's loop over a live notebook session: it describes
// the data files, plans one step, writes its cell, runs it, lets a judge decide
// whether the plan now answers the question, adds a step or goes back, writes
// the last cell and proves the whole in a fresh session.
//
// [Run] is the loop; every role has a file of its own. The record of a run is
// its [record.Trajectory]; the notebook is drawn from that.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/prompts"
)

// A Config is what a run needs beside its task. Model, Open, RunScript, Prompts and
// Dir are required, and so are the sizes without a meaning for 0.
type Config struct {
	Model     llm.Model
	Open      Open
	RunScript RunScript
	Prompts   *prompts.Set
	Dir       string // the run folder

	Method      record.Method
	Limits      Limits
	Context     int                                 // tokens that the model's context holds; 0: enough for what the sizes below say
	Ranker      llm.Ranker                          // nil: files are ranked by their words
	Price       func(role string) (llm.Price, bool) // nil: no price is known
	Cache       *Cache                              // of descriptions; nil: none
	Corrections map[string]string                   // descriptions that a person has written, by file
	Readable    []string                            // files and folders outside of the data that links in it may lead to
	Private     func(path string) bool              // what no warning advises the user to allow; nil: nothing
	Answered    []llm.Exchange                      // of the run that [Resume] goes on with: what need not be asked again

	MaxFiles         int // that are looked at at most; 0: all
	MaxRounds        int // steps that are tried at most
	DebugTries       int // repairs of one cell or script at most
	TopK             int // files that are shown to the model at most
	ResultChars      int // of one step's output, for the model
	DescriptionChars int // of one file's description, for the model
	ContextChars     int // of all descriptions together
	Jobs             int // kernels that describe files at the same time
	MaxTokens        int // of one reply; 0: the model's own limit

	Sandbox  string   // what confines the cells, for the record
	Memory   int64    // bytes that the session may take, for the coder; 0: not known
	Warnings []string // that the record begins with

	// Observe, if set, is told of each event after the trajectory holds it; it may read
	// the trajectory until it returns, and add to its Warnings. Its error ends
	// the run. One call at a time.
	Observe func(Event, *record.Trajectory) error

	// Review, if set, is asked about every cell right before it runs, and waited
	// for: each step's, each repair, and the last one. Cells that have run before are
	// run again unasked, and so are the scripts that describe files. Its error ends
	// the run.
	Review func(context.Context, Proposal) (Decision, error)

	// Agree, if set, is told what describing the files is likely to take, right
	// before the first call for it, and waited for. Its error ends the run. Where
	// the embedding model ranks them before, it is told of that first, in the same way.
	Agree func(context.Context, Estimate) error

	// Stream, if set, is told of a request when it is sent, with no text, and of the
	// reply as it comes: all of it so far, which begins again when a call is
	// repeated. It must not block. Calls for
	// different subjects may be concurrent.
	Stream func(role, subject, soFar string)
}

// A Kind is a kind of event.
type Kind string

// The kinds of events of a run, in the order in which they first occur.
const (
	Begun     Kind = "begun"     // nothing is done yet
	Started   Kind = "started"   // the environment is known
	Described Kind = "described" // a file has its description
	Met       Kind = "met"       // the variables of somebody else's session are known
	Estimated Kind = "estimated" // what the rounds may cost, in one line
	Planned   Kind = "planned"   // a step was proposed
	Repeated  Kind = "repeated"  // the cell of a step is run again
	Ran       Kind = "ran"       // a cell ran, well or not
	Picked    Kind = "picked"    // one of several candidates became the step's cell
	Rejected  Kind = "rejected"  // a person did not let a cell run
	Judged    Kind = "judged"    // a verdict was given
	Routed    Kind = "routed"    // a route was chosen
	WentBack  Kind = "went back" // the session is back at the accepted cells; the text says by which way
	Checked   Kind = "checked"   // the answer's form was held against the guidelines
	Finalized Kind = "finalized" // the last cell printed the answer
	Proving   Kind = "proving"   // a fresh run begins
	Proved    Kind = "proved"    // it ended
	Warned    Kind = "warned"    // something that the user should know
	Ended     Kind = "ended"     // nothing follows
)

// An Event is one thing that happened, for whoever watches.
type Event struct {
	Kind      Kind
	Round     int // from 1; 0 outside the rounds
	Step      int // the number of the step in the plan
	Try       int // from 1
	Candidate int // of Ran and Picked: from 1; 0: the cell is the only one
	Text      string
	Execution *notebook.Execution // of Ran and Rejected
}

// run is the state of one run. Its fields belong to the goroutine of Run,
// except while files are described: then mu guards t and Observe.
type run struct {
	caller
	dir         *os.Root // the run folder
	session     Session
	host        Host            // the session, if it is somebody else's
	dirty       bool            // the session is not at the accepted cells
	answering   bool            // the rounds are over
	approved    bool            // the last cell is one that a person has seen and accepted
	warned      map[string]bool // what the user was told in this run
	data        dataState
	changedFile string // a data file that is no longer as data has it

	looks    []files.Look                  // of the task's files
	alike    []int                         // of the task's files: how many have its structure
	mayShow  int                           // files that are shown at most, were it not for TopK
	folder   string                        // what it holds, for the analyzer
	keys     []string                      // of the task's files in the cache; "": not kept
	nearness []int                         // the task's files, the nearest to the question first
	kept     map[string]record.Description // of an earlier attempt at this run, by file
	others   []string                      // files that are not looked at, or not described
	passed   int                           // files that were looked at, but are not described
	all      []record.File                 // that the data folder had and the run may look at
	alone    bool                          // nothing but the descriptions is wanted
	only     []string                      // and of these files only; empty: of all

	context   prompts.Context // the same in every request after the descriptions
	described bool            // context is made
	shown     shown
	earlier   record.Seconds // that an earlier attempt at this run took
	began     time.Time      // this one
	spent     error          // a budget, while files were described
	kernel    stopwatch
}

// Run answers the task's question. The trajectory is never nil and holds all
// that happened, also when the error is not: a model or server that failed, a
// reply that no role could use, a cancelled context.
func Run(ctx context.Context, cfg Config, task record.Task) (*record.Trajectory, error) {
	r := newRun(cfg, task)
	return r.carryOut(ctx, r.run)
}

// DescribeFiles gives the task's files their descriptions as [Run] would, and does
// nothing more: the trajectory has no rounds. The question only chooses among
// more files than MaxFiles. Where only names files, no others are described.
// Data must be absolute; Dir is not used, and no folder is made.
func DescribeFiles(ctx context.Context, cfg Config, task record.Task, only ...string) (*record.Trajectory, error) {
	r := newRun(cfg, task)
	r.alone, r.only = true, only
	return r.carryOut(ctx, r.describe)
}

func newRun(cfg Config, task record.Task) *run {
	if cfg.Observe == nil {
		cfg.Observe = func(Event, *record.Trajectory) error { return nil }
	}
	if cfg.Private == nil {
		cfg.Private = func(string) bool { return false }
	}
	r := &run{caller: caller{cfg: cfg}, shown: firstShown(cfg), began: time.Now()}
	r.t = &record.Trajectory{Task: task, Method: cfg.Method, Sandbox: cfg.Sandbox, Memory: cfg.Memory, Started: r.began, Warnings: slices.Clone(cfg.Warnings)}
	if cfg.Price != nil {
		r.t.Cost = new(float64)
	}
	return r
}

// carryOut does the work of a run within its time, and ends its record.
func (r *run) carryOut(ctx context.Context, work func(context.Context) error) (*record.Trajectory, error) {
	err := r.within(ctx, work)
	switch {
	case errors.Is(err, context.Canceled):
		r.t.Failure = "interrupted"
	case err != nil:
		r.t.Failure = err.Error()
	}
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		r.t.Unusable = &record.Request{Role: unread.Role, Subject: unread.Subject}
	}
	r.t.Ended = true
	if end := r.observe(Event{Kind: Ended}); err == nil {
		err = end
	}
	return r.t, err
}

// validate reports the first required field that is not set.
func (c Config) validate() error {
	for _, required := range []struct {
		name string
		set  bool
	}{
		{"Model", c.Model != nil}, {"Open", c.Open != nil}, {"RunScript", c.RunScript != nil}, {"Prompts", c.Prompts != nil}, {"Dir", c.Dir != ""},
	} {
		if !required.set {
			return fmt.Errorf("agent.Config: %s is not set", required.name)
		}
	}
	return nil
}

func (r *run) run(ctx context.Context) (ended error) {
	if err := r.cfg.validate(); err != nil {
		return err
	}
	if err := r.observe(Event{Kind: Begun}); err != nil {
		return err
	}
	var err error
	if r.dir, err = os.OpenRoot(r.cfg.Dir); err != nil {
		return fmt.Errorf("open the run folder: %w", err)
	}
	defer r.dir.Close()
	warning, err := putBackFiles(r.dir)
	if err != nil {
		return fmt.Errorf("put the files of the run back: %w", err)
	}
	if warning != "" {
		if err := r.observe(Event{Kind: Warned, Text: warning}); err != nil {
			return err
		}
	}
	if r.t.Answer() != "" {
		return r.proveAlone(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	work := r.openLater(ctx, Work, r.cfg.Dir)
	defer work.close()
	defer cancel() // first, so that a session still opening gives up
	if err := r.learn(ctx); err != nil {
		return err
	}
	if r.session, err = work.wait(); err != nil {
		return err
	}
	if err := r.meet(ctx); err != nil {
		return err
	}
	defer func() { ended = cmp.Or(ended, r.takeLeave(ctx)) }()
	if err := r.readyToAsk(); err != nil {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	if err := r.again(ctx); err != nil {
		return err
	}
	if err := r.rounds(ctx); err != nil {
		return err
	}
	if err := r.finalize(ctx); err != nil {
		return err
	}
	return r.prove(ctx, work)
}

// learn gets the files described, unless they are.
func (r *run) learn(ctx context.Context) error {
	if r.t.Described {
		r.recall()
		return nil
	}
	return r.describe(ctx)
}

// readyToAsk makes the beginning of all requests that follow.
func (r *run) readyToAsk() error {
	r.context, r.described = r.taskContext(), true
	if r.t.Described {
		return nil
	}
	r.t.Described = true
	return r.estimate()
}

// rounds goes round until the plan suffices, the rounds are used up, or the
// planner has no step to give. In the first round the last is an error.
func (r *run) rounds(ctx context.Context) error {
	for r.underWay() || r.left() > 0 && !r.t.Sufficient() {
		err := r.round(ctx)
		if unread, ok := errors.AsType[*reply.Error](err); ok && r.t.Steps() > 0 {
			return r.observe(Event{Kind: Warned, Text: unread.Error()})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errNoStep = errors.New("no step of the plan could be carried out")

func (r *run) left() int { return r.t.RoundsLeft(r.cfg.MaxRounds) }

// underWay reports whether the last round has not come to its end.
func (r *run) underWay() bool {
	if len(r.t.Rounds) == r.t.EarlierRounds() || r.t.Sufficient() {
		return false
	}
	last := r.current()
	return last.Route == nil && (last.Verdict == nil || r.left() > 0)
}

// begin runs the cells that come before the next step: for a run that goes on
// from its record those of the plan, too.
func (r *run) begin(ctx context.Context) error {
	stop := r.kernel.start()
	cells := r.t.Base()
	executions, err := executeAll(ctx, r.session, cells)
	stop()
	if err != nil {
		return err
	}
	broken, err := r.replayed(executions, len(cells))
	if err != nil || broken == 0 {
		return err
	}
	if f := r.t.Final; f != nil && f.ByHand {
		return &record.EditError{Problem: fmt.Sprintf("step %d no longer runs, and the last cell, which builds on it, is yours; it is in the notebook as you left it", broken)}
	}
	r.dirty, r.t.Final = true, nil // what it rests on is no more
	_, err = r.restore(ctx)
	return err
}

// round is one turn of the loop: Algorithm 1, lines 13 to 28, begun at the
// planner so that the first round is like every other. A round that is under way
// goes on from where its record ends.
func (r *run) round(ctx context.Context) error {
	if !r.underWay() {
		step, err := r.plan(ctx)
		if err != nil {
			return err
		}
		r.t.Rounds = append(r.t.Rounds, record.Round{Step: step})
		if err := r.observe(Event{Kind: Planned, Text: step}); err != nil {
			return err
		}
	}
	if r.current().Edit != nil && r.t.Steps() == 0 {
		r.current().Verdict, r.current().Route = &record.Verdict{Unfinished: true, Reason: "no step is left"}, &record.Route{}
		return r.observe(Event{Kind: Routed})
	}
	if _, accepted := r.current().Accepted(); !accepted && r.current().Edit == nil {
		done, err := r.implement(ctx)
		if err != nil {
			return err
		}
		if !done {
			_, err := r.restore(ctx)
			return err
		}
	}
	if r.current().Verdict == nil {
		if err := r.verify(ctx); err != nil {
			return err
		}
	}
	if r.t.Sufficient() || r.left() <= 0 {
		return nil
	}
	return r.route(ctx)
}

// current returns the round that is under way.
func (r *run) current() *record.Round { return &r.t.Rounds[len(r.t.Rounds)-1] }

// observe tells the observer, with the round and step that are under way.
func (r *run) observe(e Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == Warned {
		if r.warned[e.Text] {
			return nil // once is enough
		}
		if r.warned == nil {
			r.warned = map[string]bool{}
		}
		r.warned[e.Text] = true
		if !slices.Contains(r.t.Warnings, e.Text) {
			r.t.Warnings = append(r.t.Warnings, e.Text)
		}
	}
	if n := len(r.t.Rounds); n > 0 && e.Kind != Finalized && e.Kind != Proved {
		e.Round, e.Step = n, cmp.Or(e.Step, r.t.StepOf(n-1))
	}
	r.t.Seconds = record.Seconds{
		Total: r.earlier.Total + time.Since(r.began).Seconds(),
		Model: r.earlier.Model + r.model.seconds(), Kernel: r.earlier.Kernel + r.kernel.seconds(),
	}
	return r.cfg.Observe(e, r.t)
}
