package solver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench/runner"
	"dsstar/agent/brief"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// A chat is a conversation with the model: the task and the role's own part, which are always sent,
// and what was said since.
type chat struct {
	*desk
	role   string
	words  []prompts.Part
	talk   []llm.Message // replies, each with the message after it
	window int           // replies to send; 0: all
}

// newChat returns a chat whose first message has the task and the role's own part.
func (d *desk) newChat(role string, window int, own prompts.Part) *chat {
	return &chat{desk: d, role: role, words: []prompts.Part{d.known, own}, window: window}
}

// ask returns the next reply without the model's thoughts. problem says why it is unusable: it stays in
// the conversation, but its actions are not carried out.
func (c *chat) ask(ctx context.Context, subject string) (text, problem string, err error) {
	from := 0
	if c.window > 0 {
		from = max(0, len(c.talk)/2-c.window)
	}
	text, err = ask.Role(ctx, c.at.Asker(), ask.Request{Role: c.role, Subject: subject,
		Words: func() []prompts.Part { return c.words }, Talk: c.talk[2*from:]}, ask.AnyText)
	if unread, ok := errors.AsType[*ask.Error](err); ok {
		return cmp.Or(unread.Reply, "(nothing)"), unread.Problem, nil
	}
	return text, "", err
}

// A move is what a reply asks for, or what is wrong with it.
type move struct {
	problem, rule string // why it cannot be carried out, and what the next reply must be
	cell          string // to run
	told          prompts.Observation
	failed        string // the note of told if the cell fails; "": no other one
	shown         string // the next message, if there is nothing to run
	ends          bool   // the conversation
	answer        string
	finished      bool // by the agent's own rule
}

// talkOn asks up to most times, and carries out the replies as read reads them, which may have a
// problem already. It ends with a move or with a cell that hands over the answer.
func (c *chat) talkOn(ctx context.Context, what string, most int,
	read func(text, problem string) move) (answer string, finished bool, err error) {
	for c.rounds < most {
		c.rounds++
		text, problem, err := c.ask(ctx, fmt.Sprintf("%s %d", what, c.rounds))
		if err != nil {
			return "", false, err
		}
		m := read(text, problem)
		if m.problem != "" {
			m.cell, m.shown = "", prompts.Text(prompts.Reask{Problem: m.problem, Rule: m.rule})
		}
		if m.cell == "" {
			err = c.at.Note(text, m.shown)
		} else {
			var e notebook.Execution
			if e, m.told.Output, err = c.run(ctx, rest(text), m.cell); e.Status != notebook.OK {
				m.told.Note = m.failed
			} else if answer, over := handedOver(e); over {
				return answer, true, err
			}
			m.shown = prompts.Text(m.told)
		}
		if err != nil || m.ends {
			return m.answer, m.finished, err
		}
		c.talk = append(c.talk, llm.Message{Role: "assistant", Text: text},
			llm.Message{Role: "user", Text: m.shown})
	}
	return "", false, nil
}

// rest returns a text without its code blocks.
func rest(text string) string { return strings.TrimSpace(ask.Prose(text)) }

// answers reads a reply whose last line is the answer.
var answers = ask.Format[string]{
	Rule: "The last line of the reply is `Answer:` and the answer, which may go on in lines below.",
	Parse: func(text string) (string, error) {
		if answerIn(text) == "" {
			return "", errors.New("it has no line that begins with Answer")
		}
		return text, nil
	},
}

var answerLine = regexp.MustCompile(`(?i)^[\s*_#>]*(?:final\s+)?answer[*_]*\s*:[*_]*(.*)$`)

// answerIn returns what follows the last "Answer:" at the beginning of a line, or "".
func answerIn(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if m := answerLine.FindStringSubmatch(lines[i]); m != nil {
			answer := strings.Join(append([]string{m[1]}, lines[i+1:]...), "\n")
			if answer = strings.Trim(answer, "*` \t\n"); answer != "" { // also marks around it
				return answer
			}
		}
	}
	return ""
}

// handedOver returns the answer that a cell passed to final_answer.
func handedOver(e notebook.Execution) (answer string, ok bool) {
	for _, o := range e.Outputs {
		data, is := o.Data["application/vnd.dsstar.answer+json"].(map[string]any)
		if is {
			answer, ok = data["answer"].(string)
		}
	}
	return answer, ok
}

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
