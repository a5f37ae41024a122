package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dsstar/agent"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/kernel"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
	"dsstar/prompts"
)

// solve does one task in its run folder and scores what comes of it.
func (r *benchRun) solve(run context.Context, j runner.Job) (runner.Record, error) {
	ctx, cancel := j.Bound(run)
	defer cancel()
	t := r.tasks[j.ID]
	folder, err := agent.CreateFolder(j.Dir)
	if err != nil {
		return runner.Record{}, err
	}
	p := r.placeOf(j.Place)
	task, err := benchTask(ctx, t, folder, !strings.HasPrefix(p.sandbox(), "none"))
	if err != nil {
		return runner.Record{}, err
	}
	trace, err := llm.OpenTrace(folder.Trace())
	if err != nil {
		return runner.Record{}, err
	}
	defer trace.Close()
	model, ranker, err := r.modelsOf(j)
	if err != nil {
		return runner.Record{}, err
	}
	told := &noting{Model: j.Model(llm.Traced(model, trace))}
	p.show(folder, task.Data)
	p.box.Own = append(p.box.Own, r.folder.Path())
	config := agentConfig(r.settings)
	config.Jobs = max(1, r.settings.Jobs)
	config.Model, config.Prompts, config.Dir, config.Open = told, r.words, string(folder), r.app.openAt(&p, r.settings, nil)
	config.RunScript = r.app.runScriptAt(&p, r.settings)
	config.Price, config.Sandbox = r.prices, p.sandbox()
	if ranker != nil {
		config.Ranker = j.Ranker(llm.TracedRanker(ranker, trace))
	}
	verified := false
	config.Observe = func(_ agent.Event, t *agent.Trajectory) error { verified = t.Verified(); return nil }
	result, err := r.solver.Solve(ctx, config, task)
	record := taskRecord(result)
	if err != nil {
		cause, fatal := r.cause(ctx, j, told, record.Executions > 0, err)
		if fatal != nil {
			return record, fatal
		}
		record.Cause, record.Error, record.Finished = cause, term.Fit(strings.ReplaceAll(err.Error(), "\n", " "), 300), false
	}
	record.Verified, record.Sandbox = verified && err == nil, p.sandbox()
	if _, err := os.Stat(folder.Notebook()); err == nil {
		record.Notebook = folder.Notebook()
	}
	return r.score(run, record, t, told, j.Place), nil
}

// everything of a benchmark's folder is its data: nothing is skipped.
var everything = []string{"."}

// benchTask is a task as agents are given it. Where a task names its files, the
// run folder gets a data folder with these only. What is not there is a
// [*runner.LackingError].
func benchTask(ctx context.Context, t bench.Task, folder agent.Folder, confined bool) (agent.Task, error) {
	data := t.Data
	if data == "" {
		return agent.Task{}, &runner.LackingError{Err: errors.New("it has no data")}
	}
	if t.Files != nil {
		data = filepath.Join(string(folder), "data")
		for _, name := range t.Files {
			err := lendFile(filepath.Join(t.Data, filepath.FromSlash(name)), filepath.Join(data, filepath.FromSlash(name)), confined)
			if errors.Is(err, fs.ErrNotExist) {
				return agent.Task{}, &runner.LackingError{Err: err}
			}
			if err != nil {
				return agent.Task{}, fmt.Errorf("task %s: %w", t.ID, err)
			}
		}
	}
	task, err := newTask(ctx, t.Question, t.Guidelines, data, everything, true)
	if isUsage(err) {
		return task, &runner.LackingError{Err: err}
	}
	return task, err
}

// lendFile makes a file, or the one that a link leads to, appear at another path: as
// another name of it where cells are confined, which cannot write there, and the file
// system allows, else as a copy.
func lendFile(from, to string, confined bool) error {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if confined && os.Link(from, to) == nil {
		return nil
	}
	data, err := disk.Open(from, 1<<62)
	if err != nil {
		return err
	}
	defer data.Close()
	copied, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, data)
	return errors.Join(err, copied.Close())
}

// taskRecord is what an agent's result says, before it is scored.
func taskRecord(s *solver.Result) runner.Record {
	if s == nil {
		return runner.Record{}
	}
	r := runner.Record{
		Answer: s.Answer, Finished: s.Finished, Rounds: s.Rounds, DebugTries: s.Debug, Executions: s.Executions, Failed: s.Failed,
		Usage: s.Usage, ByRole: s.ByRole, Cost: s.Cost, Seconds: s.Seconds,
	}
	for _, v := range s.Verdicts {
		r.Verdicts = append(r.Verdicts, verdictWord(v))
	}
	for _, route := range s.Routes {
		word := "add step"
		if route.Back > 0 {
			word = fmt.Sprintf("step %d", route.Back)
		}
		r.Routes = append(r.Routes, word)
	}
	return r
}

func verdictWord(v agent.Verdict) string {
	switch {
	case v.Inconclusive:
		return "inconclusive"
	case v.Sufficient:
		return "sufficient"
	case v.Unfinished:
		return "unfinished"
	}
	return "insufficient"
}

// cause says whose fault it is that an agent ended with an error. What is nobody's
// in the run is fatal: it ends the run, or sends the task to another place, such as a
// kernel that does not start before any cell has run.
func (r *benchRun) cause(ctx context.Context, j runner.Job, told *noting, ran bool, err error) (c runner.Cause, fatal error) {
	if errors.Is(context.Cause(ctx), runner.ErrOverTime) {
		return runner.OverTime, nil
	}
	if _, ok := errors.AsType[*llm.CredentialError](err); ok || ctx.Err() != nil {
		return "", err
	}
	if spent, ok := errors.AsType[*agent.BudgetError](err); ok {
		if strings.HasPrefix(spent.Flag, "total-") {
			return "", err
		}
		return runner.OverBudget, nil
	}
	if _, ok := errors.AsType[*agent.ReplyError](err); ok {
		return runner.NotFinished, nil
	}
	if told.failedWith(err) {
		return runner.ModelError, nil
	}
	if _, ok := errors.AsType[*usageError](err); ok || errors.Is(err, sandbox.ErrNone) || errors.Is(err, sandbox.ErrExposed) || errors.Is(err, sandbox.ErrTooMany) {
		return "", err
	}
	if !ran {
		return "", &runner.PlaceError{Err: err}
	}
	if r.places[j.Place].url == "" {
		return runner.KernelError, nil
	}
	_, lost := errors.AsType[*kernel.ServerLostError](err)
	_, refused := errors.AsType[*kernel.ServerError](err)
	if lost || refused || !r.answers(ctx, j.Place) {
		return "", &runner.PlaceError{Err: err}
	}
	return runner.KernelError, nil
}

// A noting model remembers how its calls failed. Some are made at once, and when one
// has failed the others are cancelled.
type noting struct {
	llm.Model
	mu   sync.Mutex
	errs []error
}

func (n *noting) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	reply, err := n.Model.Ask(ctx, r)
	if err != nil && !errors.Is(err, context.Canceled) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.errs = append(n.errs, err)
	}
	return reply, err
}

// failedWith reports whether an error comes from a call that failed.
func (n *noting) failedWith(err error) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.errs, func(failed error) bool { return errors.Is(err, failed) })
}

// scoreTime is how long the scoring of one answer may take: the cells in it have
// the time of cells.
const scoreTime = 30 * time.Minute

// score scores the answer of a record; ctx is the run's, as the time of the task
// may be over. What lacks a judge, a right answer or a kernel has no score and can
// be scored later; what the agent's code or files bring down is wrong.
func (r *benchRun) score(ctx context.Context, record runner.Record, t bench.Task, model llm.Model, at int) runner.Record {
	if t.Gold == nil {
		return record
	}
	record.Task, record.Repeat = t.ID, max(1, record.Repeat)
	answer := answerOf(record, t, r.flags.out)
	if record.Notebook != "" { // of this repeat
		answer.Dir = filepath.Join(filepath.Dir(record.Notebook), "files")
	}
	here := func(context.Context) (place, error) { return r.placeOf(at), nil }
	scorer := bench.Scorer{
		Compat: bench.Compat(r.flags.compat), Judge: judge(model, r.words),
		Python: r.benchPython(r.settings, here, []string{answer.Dir, t.GoldDir, t.Data}, ""),
	}
	ctx, cancel := context.WithTimeout(ctx, scoreTime)
	defer cancel()
	var err error
	if record.Error == "" {
		_, err = chart(ctx, r.benchPython(r.settings, here, []string{t.Data}, answer.Dir), t, answer.Dir, scorer.Compat)
	}
	var score bench.Score
	if err == nil {
		score, err = scorer.Score(ctx, t, &answer)
	}
	if err != nil {
		record.Unscored = term.Fit(strings.ReplaceAll(err.Error(), "\n", " "), 300)
		return record
	}
	return withScore(record, score)
}

// withScore is a record with another score.
func withScore(record runner.Record, s bench.Score) runner.Record {
	value := s.Value
	record.Score, record.Metric, record.Scores, record.Detail, record.Unscored = &value, s.Metric, s.Parts, s.Detail, ""
	record.Uncounted = s.Uncounted
	switch {
	case record.Error != "": // its cause is known
	case record.Right():
		record.Cause = ""
	case strings.TrimSpace(record.Answer) == "":
		record.Cause = runner.NoAnswer
	case !record.Finished:
		record.Cause = runner.NotFinished
	default:
		record.Cause = runner.Wrong
	}
	return record
}

// judge has a model say whether two answers mean the same.
func judge(m llm.Model, words *prompts.Set) bench.Judge {
	if m == nil {
		return nil
	}
	return func(ctx context.Context, answer, gold string) (bool, error) {
		asks, err := words.Text(prompts.Judge{Gold: gold, Answer: answer})
		if err != nil {
			return false, err
		}
		reply, err := m.Ask(ctx, llm.Request{
			Role: "judge", Subject: "the answer", Inputs: map[string]string{"answer": answer, "gold": gold},
			Messages: []llm.Message{{Role: "user", Text: asks}},
		})
		if err != nil {
			return false, err
		}
		text, err := agent.Visible(reply.Text)
		if err != nil {
			return false, err
		}
		word := strings.ToLower(strings.Trim(strings.TrimSpace(text), ".*\"'`"))
		switch {
		case strings.HasPrefix(word, "yes"):
			return true, nil
		case strings.HasPrefix(word, "no"):
			return false, nil
		}
		return false, fmt.Errorf("the judge says neither yes nor no: %s", term.Fit(text, 80))
	}
}
