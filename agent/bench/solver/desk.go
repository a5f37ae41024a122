package solver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench/runner"
	"dsstar/agent/brief"
	"dsstar/agent/describe"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// A desk is where a baseline works: it asks the model, runs cells in one session, and keeps its
// turns, from which the notebook is drawn after each of them. It belongs to one goroutine.
type desk struct {
	*ask.Asker
	baseline
	cfg     agent.Config
	task    record.Task
	session agent.Session
	kernel  ask.Stopwatch

	opening []string // cells before the first turn
	turns   []turn
	rounds  int // steps, messages or tasks, as the agent counts
	debug   int // repairs

	answer   string
	finished bool // by the agent's own rule
	ended    bool
	failure  string // what stopped the agent early
}

// A baseline is an agent that works at a desk.
type baseline struct {
	Agent
	options Options
}

// Solve works within the limits of cfg, from opening the session to the last save.
func (b baseline) Solve(ctx context.Context, cfg agent.Config,
	task record.Task) (runner.Record, error) {
	d := &desk{baseline: b, cfg: cfg, task: task}
	// what a baseline shows does not become less
	cfg.ResultChars, cfg.ContextChars, cfg.DescriptionChars = 0, 0, 0
	d.Asker = ask.NewAsker(cfg.Settings, d.workplace, func(string) error { return nil })
	if b.most > 0 {
		d.opening = record.New(task, record.Question{}).Cells()
	}
	if b.setup != "" {
		d.opening = append(d.opening, strings.TrimSpace(b.setup))
	}
	began, err := time.Now(), d.save()
	if err == nil {
		err = d.Within(ctx, d.begin)
	}
	if d.ended = true; errors.Is(err, context.Canceled) {
		d.failure = "interrupted"
	} else if err != nil {
		d.failure = err.Error()
	}
	err = errors.Join(err, d.save())
	return d.result(time.Since(began)), err
}

// begin opens the session, if the agent runs code, and does its work.
func (d *desk) begin(ctx context.Context) (err error) {
	if d.most > 0 {
		stop := d.kernel.Start()
		d.session, err = d.cfg.Open(ctx, agent.Work, d.cfg.Dir)
		stop()
		if err != nil {
			return err
		}
		defer func() { _ = d.session.Close() }() // the turns are complete without it
	}
	for _, code := range d.opening {
		e, err := d.execute(ctx, code)
		if err == nil && e.Status != notebook.OK {
			err = fmt.Errorf("set up the session: %s", brief.Problem(e))
		}
		if err != nil {
			return err
		}
	}
	answer, finished, err := d.work(ctx, d)
	if err == nil {
		d.answer, d.finished = strings.TrimSpace(answer), finished
	}
	return err
}

// asked asks a role for what format reads. The error of a reply that cannot be used, also when it
// was asked for again, is a *ask.Error.
func asked[T any](ctx context.Context, d *desk, role, subject string, format ask.Format[T],
	parts ...prompts.Part) (T, error) {
	return ask.Role(ctx, d.Asker, ask.Request{Role: role, Subject: subject,
		Words: func() []prompts.Part { return parts }}, format)
}

func (d *desk) execute(ctx context.Context, code string) (notebook.Execution, error) {
	defer d.kernel.Start()()
	e, err := d.session.Execute(ctx, code)
	e.Outputs = notebook.Steady(e.Outputs)
	return e, err
}

// add begins a turn and saves the notebook.
func (d *desk) add(t turn) error {
	d.turns = append(d.turns, t)
	return d.save()
}

// last returns the turn that is under way.
func (d *desk) last() *turn { return &d.turns[len(d.turns)-1] }

// run runs a cell of the last turn. A session that died or was stopped in it is put back to the
// state after the successful cells.
func (d *desk) run(ctx context.Context, code string) (c cell, err error) {
	if c.Execution, err = d.execute(ctx, code); err != nil {
		return c, err
	}
	if c.code, c.shown = code, observed(c.Execution, d.most); !c.ended() {
		if err := d.back(ctx); err != nil {
			return c, err
		}
		c.shown += "\nThe session was put back to where it stood before this code. " +
			"Variables of earlier code that failed may be missing."
	}
	d.last().cells = append(d.last().cells, c)
	return c, d.save()
}

// back puts the session back to the state after the successful cells.
func (d *desk) back(ctx context.Context) error {
	defer d.kernel.Start()()
	good := slices.Clone(d.opening)
	for _, c := range d.cells() {
		if c.Status == notebook.OK {
			good = append(good, c.code)
		}
	}
	_, err := d.session.Rollback(ctx, good)
	return err
}

// cells returns the cells that ran after the opening.
func (d *desk) cells() (all []cell) {
	for _, t := range d.turns {
		all = append(all, t.cells...)
	}
	return all
}

// result sums up what was done for a benchmark.
func (d *desk) result(took time.Duration) runner.Record {
	spent := d.Spent()
	result := runner.Record{
		Answer: d.answer, Finished: d.finished, Rounds: d.rounds, DebugTries: d.debug,
		Seconds: record.Seconds{Total: took.Seconds(), Model: spent.Model, Kernel: d.kernel.Seconds()},
		Usage:   spent.Usage, ByRole: spent.ByRole, Cost: spent.Cost,
	}
	for _, c := range d.cells() {
		if result.Executions++; c.Status != notebook.OK {
			result.Failed++
		}
	}
	return result
}

// files returns the files of the task that requests list individually, with the others after them.
// If these are not all, the names that are most similar to the question come first.
func (d *desk) files() (all []record.File, listed int) {
	all = d.task.Files
	if listed = min(len(all), cmp.Or(d.cfg.TopK, 100)); listed < len(all) {
		var names []string
		for _, f := range all {
			names = append(names, f.Name)
		}
		all = nil
		for _, i := range describe.ByWords(d.task.Question, names) {
			all = append(all, d.task.Files[i])
		}
	}
	return all, listed
}

// workplace describes where the agent works. System messages begin with it.
func (d *desk) workplace() prompts.Part {
	return prompts.Workplace{Code: d.most > 0, Shown: d.most}
}

// context returns the task and the names of the files.
func (d *desk) context() prompts.Context {
	c := prompts.Context{Question: d.task.Question, Guidelines: d.task.Guidelines, NamesOnly: true}
	all, listed := d.files()
	var more strings.Builder
	for i, f := range all {
		path := brief.Python("data/" + f.Name)
		if i < listed {
			c.Files = append(c.Files, prompts.File{Path: path, Size: human.Bytes(f.Size)})
		} else {
			more.WriteString(path + "\n")
		}
	}
	c.LeftOut = brief.Clip(more.String(), d.cfg.DescriptionChars)
	return c
}

// observed returns the observation of an execution. Its size is limited to about most.
func observed(e notebook.Execution, most int) string {
	text := e.PlainText()
	if problem, ok := e.Error(); ok && problem.EName == "ActionFailed" {
		text = e.Stdout() + problem.EValue // no traceback: its frames are ours
	} else if e.Status != notebook.OK {
		text = brief.ErrorReport(e, most)
	}
	if strings.TrimSpace(text) == "" {
		return "The code ran, and printed nothing."
	}
	return strings.TrimRight(brief.Clip(text, most), "\n")
}
