package solver

import (
	"context"
	"fmt"
	"strings"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench/runner"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// A desk is where a baseline works on one task. It belongs to one goroutine.
type desk struct {
	at      *agent.Desk
	agent   Agent
	options Options
	cfg     agent.Config
	task    record.Task
	known   prompts.Context // the task and the names of the files
	listed  []record.File   // that it names one by one

	rounds int // steps, messages or tasks, as the agent counts
	debug  int // repairs
}

// solve has the agent's work done as the method of a run.
func (d *desk) solve(ctx context.Context) (runner.Record, error) {
	cfg := d.cfg
	cfg.Method = record.Method{Agent: d.agent.Name}
	cfg.ResultChars, cfg.DescriptionChars, cfg.ContextChars = 1, 1, 1 // what it shows does not become less
	cfg.Baseline = &agent.Baseline{Answer: d.work,
		System: prompts.Workplace{Code: d.agent.most > 0, Shown: d.agent.most}}
	t, err := agent.Run(ctx, cfg, d.task)
	r := resultOf(t, err == nil)
	r.Finished, r.Rounds, r.DebugTries = err == nil && t.Sufficient(), d.rounds, d.debug
	return r, err
}

// work defines what the agent has besides plain Python, and does its work.
func (d *desk) work(ctx context.Context, at *agent.Desk) (answer string, finished bool, err error) {
	d.at = at
	d.list()
	if code := strings.TrimSpace(d.agent.setup); code != "" {
		e, err := at.Run(ctx, "What the agent has besides plain Python.", code)
		if err == nil && e.Status != notebook.OK {
			err = fmt.Errorf("set up the session: %s", brief.Problem(e))
		}
		if err != nil {
			return "", false, err
		}
	}
	return d.agent.work(ctx, d)
}

// asked asks a role for what format reads. The error of a reply that cannot be used, also when it
// was asked for again, is a *ask.Error.
func asked[T any](ctx context.Context, d *desk, role, subject string, format ask.Format[T],
	parts ...prompts.Part) (T, error) {
	return ask.Role(ctx, d.at.Asker(), ask.Request{Role: role, Subject: subject,
		Words: func() []prompts.Part { return parts }}, format)
}

// run runs a cell and returns its observation, too.
func (d *desk) run(ctx context.Context, said, code string) (e notebook.Execution, shown string, err error) {
	e, err = d.at.Run(ctx, said, code)
	shown = observed(e, d.agent.most)
	if e.Status != notebook.OK && e.Status != notebook.Raised {
		shown += "\nThe session is put back to where it stood before this code. " +
			"Variables of earlier code that failed may be missing."
	}
	return e, shown, err
}

// list sets what is known. Files beyond the first ones are only named.
func (d *desk) list() {
	more := ""
	d.known = prompts.Context{Question: d.task.Question, Guidelines: d.task.Guidelines, NamesOnly: true}
	for n, f := range d.task.Files {
		if path := brief.Python("data/" + f.Name); n < d.cfg.TopK {
			d.listed = append(d.listed, f)
			d.known.Files = append(d.known.Files, prompts.File{Path: path, Size: human.Bytes(f.Size)})
		} else {
			more += path + "\n"
		}
	}
	d.known.LeftOut = brief.Clip(more, d.cfg.DescriptionChars)
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
