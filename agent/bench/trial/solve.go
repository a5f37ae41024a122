package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/agent/reply"
)

// A Run holds what all tasks of a run share.
type Run struct {
	Out    string                // its folder
	Tasks  map[string]bench.Task // by id
	Solver solver.Solver
	Config agent.Config // of every task, without model, folder, sessions and sandbox
	Compat bench.Compat
	Plain  bench.Python // runs the scorers of texts

	// Models returns the models of one task.
	Models func(runner.Job) (llm.Model, llm.Ranker, error)
}

// A Site is where the kernels of a task run.
type Site struct {
	Sandbox string // what confines cells, in words; "none …": nothing does
	// Sessions returns what runs the cells and scripts of a run over its data.
	Sessions func(folder record.Folder, data string) (agent.Open, agent.RunScript)
	Scoring  Opener
	Fatal    func(error) bool                  // whether every task would fail with this error
	Lost     func(context.Context, error) bool // whether the site itself is gone
}

// Solve solves one task in its run folder and scores the answer.
func (r *Run) Solve(run context.Context, j runner.Job, site Site) (runner.Record, error) {
	ctx, cancel := j.Bound(run)
	defer cancel()
	t := r.Tasks[j.ID]
	folder, err := record.CreateFolder(j.Dir)
	if err != nil {
		return runner.Record{}, err
	}
	task, err := prepare(ctx, t, folder, !strings.HasPrefix(site.Sandbox, "none"))
	if err != nil {
		return runner.Record{}, err
	}
	trace, err := llm.OpenTrace(folder.Trace())
	if err != nil {
		return runner.Record{}, err
	}
	defer trace.Close()
	trace.Price = r.Config.Price
	model, ranker, err := r.Models(j)
	if err != nil {
		return runner.Record{}, err
	}
	watched := &watchedModel{Model: j.Model(llm.Traced(model, trace))}
	config := r.Config
	config.Model, config.Dir, config.Sandbox = watched, string(folder), site.Sandbox
	config.Open, config.RunScript = site.Sessions(folder, task.Data)
	if ranker != nil {
		config.Ranker = j.Ranker(llm.TracedRanker(ranker, trace))
	}
	verified := false
	config.Observe = func(_ agent.Event, t *record.Trajectory) error {
		verified = t.Verified()
		return nil
	}
	record, err := r.Solver.Solve(ctx, config, task)
	if err != nil {
		cause, fatal := site.cause(ctx, watched, record.Executions > 0, err)
		if fatal != nil {
			return record, fatal
		}
		record.Cause, record.Error, record.Finished = cause, shorten(err.Error(), 300), false
	}
	record.Verified, record.Sandbox = verified && err == nil, site.Sandbox
	if _, err := os.Stat(folder.Notebook()); err == nil {
		record.Notebook = folder.Notebook()
	}
	return r.score(run, record, t, watched, site), nil
}

// cause returns the cause of an agent's error. A fatal error is not the task's: it ends the
// run or sends the task to another place, for example if no kernel started. ran tells
// whether any cell has run.
func (s Site) cause(ctx context.Context, m *watchedModel, ran bool,
	err error) (c runner.Cause, fatal error) {
	if errors.Is(context.Cause(ctx), runner.ErrOverTime) {
		return runner.OverTime, nil
	}
	if _, ok := errors.AsType[*llm.CredentialError](err); ok || ctx.Err() != nil {
		return "", err
	}
	if spent, ok := errors.AsType[*ask.BudgetError](err); ok {
		if strings.HasPrefix(spent.Flag, "total-") {
			return "", err
		}
		return runner.OverBudget, nil
	}
	if _, ok := errors.AsType[*reply.Error](err); ok {
		return runner.NotFinished, nil
	}
	switch {
	case m.failedWith(err):
		return runner.ModelError, nil
	case s.Fatal(err):
		return "", err
	case !ran || s.Lost(ctx, err):
		return "", &runner.SiteError{Err: err}
	}
	return runner.KernelError, nil
}

// A watchedModel remembers how its calls failed. Calls may be concurrent, and when one
// fails the others are cancelled.
type watchedModel struct {
	llm.Model
	mu   sync.Mutex
	errs []error
}

func (m *watchedModel) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	reply, err := m.Model.Ask(ctx, r)
	if err != nil && !errors.Is(err, context.Canceled) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.errs = append(m.errs, err)
	}
	return reply, err
}

// failedWith reports whether an error comes from a call that failed.
func (m *watchedModel) failedWith(err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.errs, func(failed error) bool { return errors.Is(err, failed) })
}

// scoreTime limits the scoring of one answer, whose cells have their own limits.
const scoreTime = 30 * time.Minute

// score scores the answer of a record. ctx is the run's, because the task's time may be over.
// Without a judge, right answer or kernel there is no score, but one can be added later.
func (r *Run) score(ctx context.Context, record runner.Record, t bench.Task, m llm.Model,
	site Site) runner.Record {
	if t.Gold == nil {
		return record
	}
	record.Task, record.Repeat = t.ID, record.Key().Repeat
	answer := answerOf(record, t, r.Out)
	if record.Notebook != "" { // of this repeat
		answer.Dir = filepath.Join(filepath.Dir(record.Notebook), "files")
	}
	ctx, cancel := context.WithTimeout(ctx, scoreTime)
	defer cancel()
	var err error
	if record.Error == "" {
		err = extractChart(ctx, site.Scoring.python([]string{t.Data}, answer.Dir), t,
			answer.Dir, r.Compat)
	}
	var score bench.Score
	if err == nil {
		scorer := bench.Scorer{
			Compat: r.Compat, Judge: Judge(m, r.Config.Prompts), Plain: r.Plain,
			Python: site.Scoring.python([]string{answer.Dir, t.GoldDir, t.Data}, ""),
		}
		score, err = scorer.Score(ctx, t, &answer)
	}
	if err != nil {
		record.Unscored = shorten(err.Error(), 300)
		return record
	}
	return withScore(record, score)
}
