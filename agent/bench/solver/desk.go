package solver

import (
	"cmp"
	"context"
	_ "embed"
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
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// A desk is an agent's working state: the model, one session, and the journal, which is saved
// after every turn. It belongs to one goroutine.
type desk struct {
	*ask.Caller
	*journal
	job
	cfg     agent.Config
	session agent.Session
	system  string // message that single requests begin with
}

// Cells that define what agents have besides plain Python.
var (
	//go:embed actions.py
	actions string // bash(), python() and sql()
	//go:embed final_answer.py
	finalAnswer string
)

// A job is how a baseline works at a desk.
type job struct {
	agent   string
	options Options
	steps   int    // unless options say otherwise
	memory  int    // like steps
	most    int    // maximum of an observation, in bytes
	code    bool   // it runs code
	setup   string // the first cell; "": none
	work    func(context.Context, *desk) (answer string, finished bool, err error)
}

func (j job) with(o Options) runner.Solver {
	o.Steps, o.Memory = cmp.Or(o.Steps, j.steps), cmp.Or(o.Memory, j.memory)
	j.options = o
	return j
}

// Solve works within the limits of cfg, from opening the session to the last save.
func (j job) Solve(ctx context.Context, cfg agent.Config, task record.Task) (runner.Record, error) {
	d := &desk{Caller: ask.NewCaller(cfg.Settings), job: j, cfg: cfg,
		journal: &journal{started: time.Now()}}
	d.meta = recordMeta{Version: 1, Agent: j.agent, Options: j.options, Task: task, Sandbox: cfg.Sandbox}
	if j.code {
		d.opening = (&record.Trajectory{Task: task}).Cells()
	}
	if j.setup != "" {
		d.opening = append(d.opening, strings.TrimSpace(j.setup))
	}
	err := d.save()
	if err == nil {
		err = d.Within(ctx, d.begin)
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

// begin opens the session, if the job needs one, and does the job's work.
func (d *desk) begin(ctx context.Context) (err error) {
	if d.code {
		stop := d.kernel.Start()
		d.session, err = d.cfg.Open(ctx, agent.Work, d.cfg.Dir)
		stop()
		if err != nil {
			return err
		}
		defer func() { _ = d.session.Close() }() // the journal is complete without it
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
	answer, finished, err := d.work(ctx, d)
	if err == nil {
		d.meta.Answer, d.meta.Finished = strings.TrimSpace(answer), finished
	}
	return err
}

// request returns a role's request, which rests on the question and on more.
func (d *desk) request(role, subject string, more any, messages ...llm.Message) llm.Request {
	return llm.Request{Role: role, Subject: subject, MaxTokens: d.cfg.MaxTokens, Messages: messages,
		RestsOn: []any{d.meta.Task.Question, d.meta.Task.Guidelines, more}}
}

// asked asks a role for what format reads. The error of a reply that cannot be used, also when it
// was asked for again, is a *ask.Error.
func asked[T any](ctx context.Context, d *desk, role, subject string, format ask.Format[T],
	parts ...prompts.Part) (T, error) {
	text, err := d.cfg.Prompts.Text(parts...)
	if err != nil {
		return *new(T), err
	}
	return ask.Model(ctx, d.Caller, d.request(role, subject, parts,
		llm.Message{Role: "system", Text: d.system}, llm.Message{Role: "user", Text: text}), format)
}

func (d *desk) execute(ctx context.Context, code string) (notebook.Execution, error) {
	defer d.kernel.Start()()
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
	t.shown = observed(e, d.most)
	if !t.ended() {
		whole, err := d.back(ctx)
		if err != nil {
			return nil, err
		}
		t.shown += "\nThe session was put back to where it stood before this code."
		if !whole {
			t.shown += " Variables of earlier code that failed may be missing."
		}
	}
	return d.add(t)
}

// add adds a turn and saves the notebook. The pointer is valid until the next add.
func (d *desk) add(t turn) (*turn, error) {
	d.turns = append(d.turns, t)
	return &d.turns[len(d.turns)-1], d.save()
}

// back restores the session to the state after the successful cells. whole is false if state
// of other cells may be missing.
func (d *desk) back(ctx context.Context) (whole bool, err error) {
	defer d.kernel.Start()()
	cells := slices.Clone(d.opening)
	whole = true
	for _, t := range d.turns {
		switch t.ran.Status {
		case notebook.OK:
			cells = append(cells, t.cell)
		case notebook.Raised:
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
	nb := d.draw()
	d.cfg.Key.Seal(nb)
	return nb.Save(record.Folder(d.cfg.Dir).Notebook())
}

// ordered returns the files of the task, and how many of them requests list individually. If
// these are not all, the files whose names are most similar to the question come first.
func (d *desk) ordered() (all []record.File, most int) {
	given, most := d.meta.Task.Files, cmp.Or(d.cfg.TopK, 100)
	if len(given) <= most {
		return given, len(given)
	}
	var names []string
	for _, f := range given {
		names = append(names, f.Name)
	}
	for _, i := range describe.ByWords(d.meta.Task.Question, names) {
		all = append(all, given[i])
	}
	return all, most
}

// workplace describes where the agent works. System messages begin with it.
func (d *desk) workplace() prompts.Part { return prompts.Workplace{Code: d.code, Shown: d.most} }

// context returns the task and the names of the files. Requests begin with it.
func (d *desk) context() prompts.Context {
	c := prompts.Context{Question: d.meta.Task.Question, Guidelines: d.meta.Task.Guidelines,
		NamesOnly: true}
	all, most := d.ordered()
	var more strings.Builder
	for i, f := range all {
		path := brief.Python("data/" + f.Name)
		if i < most {
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
