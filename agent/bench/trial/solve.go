// Package trial takes a task of a benchmark from its data to its score: it prepares the
// data, has an agent solve the task in a run folder, finds the cause of a failure and
// scores the answer. Answers that are on disk already can be scored again.
package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
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
	Site   Site

	// Models returns the models of one task.
	Models func(runner.Job) (llm.Model, llm.Ranker, error)
}

// A Site is where the kernels of a run are.
type Site struct {
	Sandbox string // what confines cells, in words; "none …": nothing does
	// Sessions returns what runs the cells and scripts of a run over its data.
	Sessions func(folder record.Folder, data string) (agent.Open, agent.RunScript)
	Scoring  Opener
	Fatal    func(error) bool // whether every task would fail with this error
}

// Solve solves one task in its run folder and scores the answer.
func (r *Run) Solve(run context.Context, j runner.Job) (runner.Record, error) {
	ctx, cancel := j.Bound(run)
	defer cancel()
	t := r.Tasks[j.ID]
	folder, err := record.CreateFolder(j.Dir)
	if err != nil {
		return runner.Record{}, err
	}
	task, err := prepare(ctx, t, folder, !strings.HasPrefix(r.Site.Sandbox, "none"))
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
	metered := j.Model(llm.Traced(model, trace))
	config := r.Config
	config.Model, config.Dir, config.Sandbox = metered, string(folder), r.Site.Sandbox
	config.Open, config.RunScript = r.Site.Sessions(folder, task.Data)
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
		cause, fatal := r.cause(ctx, j.FailedWith(err), err)
		if fatal != nil {
			return record, fatal
		}
		record.Cause, record.Error, record.Finished = cause, shorten(err.Error(), 300), false
	}
	record.Verified, record.Sandbox = verified && err == nil, r.Site.Sandbox
	if _, err := os.Stat(folder.Notebook()); err == nil {
		record.Notebook = folder.Notebook()
	}
	return r.score(run, record, t, metered), nil
}

// cause returns the cause of an agent's error. A fatal error is not the task's: it ends the run.
func (r *Run) cause(ctx context.Context, failedCall bool, err error) (c runner.Cause, fatal error) {
	_, refused := errors.AsType[*llm.CredentialError](err)
	spent, isSpent := errors.AsType[*ask.BudgetError](err)
	_, unread := errors.AsType[*reply.Error](err)
	switch {
	case errors.Is(context.Cause(ctx), runner.ErrOverTime):
		return runner.OverTime, nil
	case refused, ctx.Err() != nil, isSpent && strings.HasPrefix(spent.Flag, "total-"):
		return "", err
	case isSpent:
		return runner.OverBudget, nil
	case unread:
		return runner.NotFinished, nil
	case failedCall:
		return runner.ModelError, nil
	case r.Site.Fatal(err):
		return "", err
	}
	return runner.KernelError, nil
}

// scoreTime limits the scoring of one answer, whose cells have their own limits.
const scoreTime = 30 * time.Minute

// score scores the answer of a record. ctx is the run's, because the task's time may be over.
// Without a judge, right answer or kernel there is no score, but one can be added later.
func (r *Run) score(ctx context.Context, record runner.Record, t bench.Task, m llm.Model) runner.Record {
	if t.Gold == nil {
		return record
	}
	record.Task = t.ID
	answer := answerOf(record, t, r.Out)
	if record.Notebook != "" { // of this repeat
		answer.Dir = filepath.Join(filepath.Dir(record.Notebook), "files")
	}
	ctx, cancel := context.WithTimeout(ctx, scoreTime)
	defer cancel()
	scoring := Scoring{Compat: r.Compat, Judge: Judge(m, r.Config.Prompts), Plain: r.Plain,
		Open: r.Site.Scoring, Charts: true}
	scorer, done := scoring.scorer([]string{answer.Dir, t.GoldDir, t.Data})
	defer done()
	score, err := scorer.Score(ctx, t, &answer)
	if err != nil {
		score.Detail = shorten(err.Error(), 300)
	}
	return withScore(record, score)
}
