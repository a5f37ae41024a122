package solver

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// A desk is an agent's working state: the model, one session, and the record, which is saved
// after every turn. It belongs to one goroutine.
type desk struct {
	*ask.Caller
	*journal
	cfg     agent.Config
	session agent.Session
	most    int // maximum of an observation, in bytes
}

// Cells that define what agents have besides plain Python.
var (
	//go:embed actions.py
	actions string // bash(), python() and sql()
	//go:embed final_answer.py
	finalAnswer string
)

// A job is how an agent works at a desk.
type job struct {
	agent   string
	options any    // for the record
	most    int    // maximum of an observation, in bytes
	code    bool   // it runs code
	setup   string // the first cell; "": none
	work    func(context.Context, *desk) (answer string, finished bool, err error)
}

// do carries out a job within the limits of cfg, from opening the session to the last save.
func (j job) do(ctx context.Context, cfg agent.Config, task record.Task) (*Result, error) {
	d := &desk{Caller: ask.NewCaller(cfg.Settings), cfg: cfg, most: j.most}
	d.journal = &journal{agent: j.agent, options: j.options, task: task, sandbox: cfg.Sandbox,
		warnings: cfg.Warnings, started: time.Now()}
	if j.code {
		d.opening = (&record.Trajectory{Task: task}).Cells()
	}
	if j.setup != "" {
		d.opening = append(d.opening, strings.TrimSpace(j.setup))
	}
	err := d.save()
	if err == nil {
		err = d.Within(ctx, func(ctx context.Context) error { return d.at(ctx, j) })
	}
	switch {
	case errors.Is(err, context.Canceled):
		d.failure = "interrupted"
	case err != nil:
		d.failure = err.Error()
	}
	d.ended = true
	err = errors.Join(err, d.save())
	return d.result(), err
}

// at opens the session, if the job needs one, and calls the job's work.
func (d *desk) at(ctx context.Context, j job) (err error) {
	if j.code {
		stop := d.time()
		d.session, err = d.cfg.Open(ctx, agent.Work, d.cfg.Dir)
		stop()
		if err != nil {
			return err
		}
		defer func() { _ = d.session.Close() }() // the record is complete without it
		for _, code := range d.opening {
			e, err := d.execute(ctx, code)
			if err != nil {
				return err
			}
			if e.Status != notebook.OK {
				return fmt.Errorf("set up the session: %s", brief.Problem(e))
			}
		}
	}
	d.answer, d.finished, err = j.work(ctx, d)
	d.answer = strings.TrimSpace(d.answer)
	return err
}

// time adds the time until stop is called to the time in the kernel.
func (d *desk) time() (stop func()) {
	began := time.Now()
	return func() { d.kernel += time.Since(began) }
}

func (d *desk) execute(ctx context.Context, code string) (notebook.Execution, error) {
	defer d.time()()
	e, err := d.session.Execute(ctx, code)
	e.Outputs = notebook.Steady(e.Outputs)
	return e, err
}

// run runs the cell of a turn and adds the turn with its observation. A session that died or
// was stopped in a cell is restored to the state after the successful cells.
func (d *desk) run(ctx context.Context, t turn) (*turn, error) {
	e, err := d.execute(ctx, t.cell)
	if err != nil {
		return nil, err
	}
	t.ran = e
	t.did.Observation = observed(e, d.most)
	if e.Status != notebook.OK && e.Status != notebook.Raised {
		whole, err := d.back(ctx)
		if err != nil {
			return nil, err
		}
		t.did.Observation += "\nThe session was put back to where it stood before this code."
		if !whole {
			t.did.Observation += " Variables of earlier code that failed may be missing."
		}
	}
	return d.add(t)
}

// add adds a turn and saves the record. The pointer is valid until the next add.
func (d *desk) add(t turn) (*turn, error) {
	d.turns = append(d.turns, t)
	return &d.turns[len(d.turns)-1], d.save()
}

// back restores the session to the state after the successful cells. whole is false if state
// of other cells may be missing.
func (d *desk) back(ctx context.Context) (whole bool, err error) {
	defer d.time()()
	cells := slices.Clone(d.opening)
	whole = true
	for _, t := range d.turns {
		switch {
		case t.cell == "":
		case t.ran.Status == notebook.OK:
			cells = append(cells, t.cell)
		case t.ran.Status == notebook.Raised:
			whole = false
		}
	}
	r, err := d.session.Rollback(ctx, cells)
	if err != nil || r.Way == notebook.NotAtAll {
		return whole, err
	}
	return whole && !slices.ContainsFunc(r.Executions,
		func(e notebook.Execution) bool { return e.Status != notebook.OK }), nil
}

// save writes the notebook.
func (d *desk) save() error {
	d.spent, d.total = d.Spent(), time.Since(d.started)
	nb := d.draw()
	d.cfg.Key.Seal(nb)
	data, err := nb.Encode()
	if err != nil {
		return err
	}
	return disk.WriteFile(record.Folder(d.cfg.Dir).Notebook(), data)
}

// ordered returns the files of the task, and how many of them requests list individually. If
// these are not all, the files whose names are most similar to the question come first.
func (d *desk) ordered() (all []record.File, most int) {
	all, most = d.task.Files, d.cfg.TopK
	if most <= 0 {
		most = 100
	}
	if len(all) <= most {
		return all, len(all)
	}
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	order, _ := byNearness(names, d.task.Question)
	all = nil
	for _, i := range order {
		all = append(all, d.task.Files[i])
	}
	return all, most
}

// context returns the task and the names of the files. Requests begin with it.
func (d *desk) context() prompts.Context {
	c := prompts.Context{Question: d.task.Question, Guidelines: d.task.Guidelines, NamesOnly: true}
	all, most := d.ordered()
	var more strings.Builder
	for i, f := range all {
		path := brief.Python("data/" + f.Name)
		if i < most {
			c.Files = append(c.Files, prompts.File{Path: path, Size: human.StableBytes(f.Size)})
		} else {
			more.WriteString(path + "\n")
		}
	}
	c.LeftOut = brief.Clip(more.String(), d.cfg.DescriptionChars)
	return c
}

// ground returns what a request rests on, besides the question.
func (d *desk) ground(more ...any) llm.Ground {
	return llm.GroundOf(d.task.Question, d.task.Guidelines, more)
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
