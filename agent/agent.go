package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/record"
	"dsstar/agent/reply"
)

// run is one run of the loop. requests words what it asks, the workspace runs its cells, and
// the recorder reports its events.
type run struct {
	*recorder
	*workspace
	*requests
	cfg      Config
	approved bool // the last cell is one that a person has seen and accepted
}

// Run answers the task's question. The trajectory is never nil. It holds all that happened,
// also if there is an error: a model or server that failed, a reply that could not be read,
// or a cancelled context.
func Run(ctx context.Context, cfg Config, task record.Task) (*record.Trajectory, error) {
	t := newTrajectory(cfg, task)
	if err := cfg.validateRun(); err != nil {
		return t, err
	}
	r := newRun(cfg, t)
	return r.carryOut(ctx, r.run)
}

// DescribeFiles describes the task's files as [Run] would, and nothing more: the trajectory
// has no rounds. If there are more files than MaxFiles, the question chooses among them. If
// only names files, no others are described. Data must be absolute. Dir is not used, and no
// folder is made.
func DescribeFiles(ctx context.Context, cfg Config, task record.Task,
	only ...string) (*record.Trajectory, error) {
	t := newTrajectory(cfg, task)
	if err := cfg.validate(); err != nil {
		return t, err
	}
	r := newRun(cfg, t)
	return r.carryOut(ctx, func(ctx context.Context) error { return r.files.DescribeOnly(ctx, only) })
}

// newTrajectory returns the trajectory of a new run.
func newTrajectory(cfg Config, task record.Task) *record.Trajectory {
	return &record.Trajectory{
		Task: task, Method: cfg.Method, Sandbox: cfg.Sandbox, Memory: cfg.Memory, Started: time.Now(),
		Warnings: slices.Clone(cfg.Warnings),
	}
}

func newRun(cfg Config, t *record.Trajectory) *run {
	if cfg.Observe == nil {
		cfg.Observe = func(Event, *record.Trajectory) error { return nil }
	}
	rec := &recorder{t: t, observer: cfg.Observe, began: time.Now()}
	work := &workspace{recorder: rec, open: cfg.Open, dir: cfg.Dir}
	words := &requests{recorder: rec, work: work, candidateCount: 1}
	if cfg.Review == nil && !t.Method.Script {
		words.candidateCount = max(1, t.Method.Candidates)
	}
	rec.Asker = ask.NewAsker(cfg.Settings, words.system, rec.Warn)
	open := func(ctx context.Context, dir string) (describe.Session, error) {
		return cfg.Open(ctx, Describe, dir)
	}
	words.files = describe.New(rec.Asker, cfg.Options, t, work.dataPath(), &rec.kernel, rec, open)
	return &run{recorder: rec, workspace: work, requests: words, cfg: cfg}
}

// carryOut does the work of a run within its time and ends its record.
func (r *run) carryOut(ctx context.Context,
	work func(context.Context) error) (*record.Trajectory, error) {
	err := r.Within(ctx, work)
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

func (r *run) run(ctx context.Context) (ended error) {
	if err := r.observe(Event{Kind: Begun}); err != nil {
		return err
	}
	folder, err := os.OpenRoot(r.cfg.Dir)
	if err != nil {
		return fmt.Errorf("open the run folder: %w", err)
	}
	defer folder.Close()
	prove := &prover{r.workspace, r.cfg.RunScript, folder}
	warning, err := putBackFiles(folder)
	if err != nil {
		return fmt.Errorf("put the files of the run back: %w", err)
	}
	if warning != "" {
		if err := r.Warn(warning); err != nil {
			return err
		}
	}
	if r.t.Answer() != "" && r.settled() {
		return r.proveAlone(ctx, prove)
	}
	ctx, cancel := context.WithCancel(ctx)
	work := r.openSession(ctx, Work)
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
	if err := r.readyToAsk(ctx); err != nil {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	if err := r.again(ctx); err != nil {
		return err
	}
	if err := r.answer(ctx); err != nil {
		return err
	}
	return prove.prove(ctx, work)
}

// answer runs rounds until the plan suffices, has the answer printed, computes it under the
// readings that are open, and derives it again. A mistake that comes to light then reopens the
// rounds.
func (r *run) answer(ctx context.Context) error {
	for {
		if r.t.Answer() == "" {
			if err := cmp.Or(r.rounds(ctx), ctx.Err()); err != nil {
				return err
			}
			if err := r.finalize(ctx); err != nil {
				return err
			}
		}
		if r.settled() {
			return nil
		}
		if err := r.computeReadings(ctx); err != nil {
			return err
		}
		reopened, err := r.deriveAgain(ctx)
		if err != nil {
			return err
		}
		if !reopened {
			return r.leaveBranches(ctx)
		}
	}
}

// settled reports whether nothing is left to do for an answer but its proof: only that of a plan
// that suffices is derived again.
func (r *run) settled() bool {
	s := r.t.Second
	switch {
	case r.t.Method.Script || !r.t.Sufficient() || r.t.Answer() == "":
		return true
	case len(r.pending()) > 0:
		return false
	}
	return r.t.Method.NoSecond ||
		s != nil && (s.Agrees || s.Answer == "" && s.Reason != "" || s.Ruling != "" && !carriedOut(s.Ruling))
}

// leaveBranches puts somebody else's session back to the accepted cells. A session of the run's
// own ends anyway.
func (r *run) leaveBranches(ctx context.Context) error {
	if r.host == nil || !r.dirty {
		return nil
	}
	_, err := r.restore(ctx)
	return err
}

// learn has the files described unless the record has their descriptions.
func (r *run) learn(ctx context.Context) error {
	if r.t.Described {
		r.recall()
		return nil
	}
	if err := r.files.Choose(); err != nil {
		return err
	}
	r.all = r.t.Task.Files
	r.data = lookAt(r.dataPath(), r.all)
	return r.files.Describe(ctx)
}

// readyToAsk marks the descriptions as complete and reports the estimate, once.
func (r *run) readyToAsk(ctx context.Context) error {
	if r.t.Described {
		return nil
	}
	r.t.Described = true
	return r.estimate(ctx)
}

// rounds runs rounds until the plan suffices, the rounds are used up, or the planner's reply
// cannot be read. In the first round that is an error.
func (r *run) rounds(ctx context.Context) error {
	for r.underWay() || r.left() > 0 && !r.t.Sufficient() {
		err := r.round(ctx)
		if unread, ok := errors.AsType[*reply.Error](err); ok && r.t.Steps() > 0 {
			return r.Warn(unread.Error())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errNoStep = errors.New("no step of the plan could be carried out")

func (r *run) left() int { return r.t.RoundsLeft(r.cfg.MaxRounds) }

// underWay reports whether the last round is unfinished.
func (r *run) underWay() bool {
	if len(r.t.Rounds) == r.t.EarlierRounds() || r.t.Sufficient() {
		return false
	}
	last := r.current()
	return last.Route == nil && (last.Verdict == nil || r.left() > 0)
}

// round is one turn of the loop (Algorithm 1, lines 13 to 28). It begins at the planner so
// that the first round is like every other. An unfinished round continues where its record
// ends.
func (r *run) round(ctx context.Context) error {
	if !r.underWay() && !r.t.Method.Script {
		if err := r.propose(ctx); err != nil {
			return err
		}
	} else if !r.underWay() {
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
		r.current().Verdict = &record.Verdict{Unfinished: true, Reason: "no step is left"}
		r.current().Route = &record.Route{}
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
	if !r.t.Method.Script {
		return r.judgeOrGoOn(ctx)
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
