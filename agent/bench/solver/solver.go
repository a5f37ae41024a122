// Package solver contains the agents that benchmarks compare: dsstar itself and the methods that
// the papers measure it against. Each works as published, with its published defaults, over the
// same requests, sessions, journal and limits: see [agent.Baseline]. [All] lists them.
package solver

import (
	"cmp"
	"context"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench/runner"
	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
	"dsstar/prompts"
)

// Options change an agent. The zero value is the method as published. Agents ignore options
// that do not concern them.
type Options struct {
	Steps     int  // maximum of turns; of tasks, for data-interpreter
	Reasoning bool // react uses the prompt for reasoning models
}

// An Agent has a name, its published limits, and the published settings that only the caller can
// apply, when it opens the model and sessions.
type Agent struct {
	Name        string
	Temperature *float64 // of the model; nil: none was published
	// minimum: shorter ones would override the agent's own limit of an action; 0: none
	CellTimeout time.Duration

	steps int    // unless options say otherwise
	most  int    // maximum of an observation, in bytes; 0: the agent runs no code
	setup string // the first cell; "": none
	work  func(context.Context, *desk) (answer string, finished bool, err error)
}

// Cells that define what agents have besides plain Python.
var (
	//go:embed actions.py
	actions string // bash(), python() and sql()
	//go:embed final_answer.py
	finalAnswer string
)

// All returns all agents: docs/agents.md describes them.
func All() []Agent {
	const longest = (actionSeconds + 10) * time.Second
	return []Agent{
		{Name: "dsstar"},
		{Name: "model-only", work: modelOnly},
		{Name: "react", steps: 10, most: 20_000, setup: finalAnswer, work: react},
		{Name: "da-agent", steps: 20, most: 3000, setup: actions, work: daAgent,
			Temperature: new(0.0), CellTimeout: longest}, // section 5.1
		{Name: "data-interpreter", steps: 20, most: 5000, work: interpreter},
		{Name: "autogen", steps: 100, most: 20_000, setup: actions, work: autoGen, CellTimeout: longest},
	}
}

// Find returns the agent with that name.
func Find(name string) Agent {
	return lists.First(All(), func(a Agent) bool { return a.Name == name })
}

// New returns what has the agent answer tasks with these options.
func (a Agent) New(o Options) runner.Solver {
	o.Steps = cmp.Or(o.Steps, a.steps)
	return func(ctx context.Context, cfg agent.Config, task record.Task) (runner.Record, error) {
		cfg.Observe = saving(cfg)
		if a.work == nil {
			t, err := agent.Run(ctx, cfg, task)
			return resultOf(t, err == nil), err
		}
		return (&desk{agent: a, options: o, cfg: cfg, task: task}).solve(ctx)
	}
}

// saving returns what saves notebook and script after each event.
func saving(cfg agent.Config) func(agent.Event, *record.Trajectory) error {
	folder := record.Folder(cfg.Dir)
	return func(e agent.Event, t *record.Trajectory) error {
		if e.Kind == agent.Described {
			return nil // there are many, and other events follow
		}
		nb := page.Draw(t)
		cfg.Key.Seal(nb)
		if err := nb.Save(folder.Notebook()); err != nil || t.Method.Agent != "" {
			return err
		}
		return disk.WriteFile(folder.Script(), []byte(t.Script()))
	}
}

// resultOf summarizes a trajectory for a benchmark. A run is finished if its plan was judged
// sufficient within the rounds, and an answer was printed.
func resultOf(t *record.Trajectory, ended bool) runner.Record {
	r := runner.Record{
		Answer: t.Answer(), Finished: ended && t.Sufficient() && t.Answer() != "",
		Verified: ended && t.Verified(), Rounds: t.RoundsTaken(),
		Usage: t.Usage, ByRole: t.ByRole, Cost: t.Cost, Seconds: t.Seconds,
		Derivations: t.Derivations(),
	}
	for _, d := range t.Descriptions {
		r.DebugTries += max(0, d.Tries-1)
	}
	for _, round := range t.Rounds {
		r.DebugTries += max(0, len(round.Attempts)-1)
	}
	if t.Final != nil {
		r.DebugTries += max(0, len(t.Final.Attempts)-1)
	}
	return r
}

// modelOnly is the model alone, as in DS-STAR's tables 1 and 2: it gets the question, the
// guidelines and as much text of the files as fits, and runs no code. The papers do not say
// how much they sent; here the limit is that of all descriptions together.
func modelOnly(ctx context.Context, d *desk) (string, bool, error) {
	d.rounds = 1
	most := d.cfg.ContextChars
	if d.cfg.Context > 0 {
		most = min(most, 2*d.cfg.Context) // at three bytes a token, leaves a third for the rest
	}
	text, err := asked(ctx, d, "model-only", "the answer", answers, d.withText(most), prompts.ModelOnly{})
	if err != nil {
		return "", false, err
	}
	return answerIn(text), true, d.at.Note(text, "")
}

// withText returns the context with text of the files: short files whole, and equal parts of the
// others. most limits the text of all files, in bytes.
func (d *desk) withText(most int) prompts.Context {
	c := d.known
	c.NamesOnly = false
	root := files.In(record.Folder(d.cfg.Dir).Data(d.task.Data), d.cfg.Readable...)
	sizes := lists.Map(d.listed, func(f files.File) int { return int(f.Size) })
	for i, room := range brief.Shares(sizes, most, most) {
		room = max(room, 100)
		text, whole, err := root.Text(d.listed[i].Name, 2*int64(room)) // UTF-16 takes twice the bytes
		f := &c.Files[i]
		f.Kind, f.Description = "text", brief.Clip(text, room)
		f.Whole = whole && f.Description == text
		if err != nil {
			f.Kind = "it cannot be read"
		} else if text == "" && d.listed[i].Size > 0 {
			f.Kind, f.Whole = "binary", false
		}
	}
	return c
}

// react is DABStep's baseline (section 4.1): at most 10 steps (table 1), each a thought and a
// Python cell in one session, until the code calls final_answer. Two settings are those of its
// library, smolagents: an observation has at most 20,000 characters, and one more call asks for
// the answer when no step is left. Reasoning models get a prompt of four stages.
func react(ctx context.Context, d *desk) (answer string, finished bool, err error) {
	steps := d.options.Steps
	c := d.newChat("react", 0, prompts.React{Steps: steps, Reasoning: d.options.Reasoning})
	answer, finished, err = c.talkOn(ctx, "step", steps, func(text, problem string) move {
		isPython := func(b ask.Block) bool { return b.Language == "python" || b.Language == "" }
		blocks := lists.Where(ask.Blocks(text), isPython)
		code := lists.Map(blocks, func(b ask.Block) string { return b.Code })
		cell := strings.Join(code, "\n\n")
		if problem == "" && cell == "" {
			problem = "it has no code block"
		}
		if problem != "" {
			return move{problem: problem, rule: "Reply with a thought and one ```python code block."}
		}
		return move{cell: cell, told: prompts.Observation{Left: steps - c.rounds}}
	})
	if err == nil && !finished {
		answer, err = c.lastWord(ctx)
	}
	return answer, finished, err
}

// lastWord asks for the answer when no step is left.
func (c *chat) lastWord(ctx context.Context) (string, error) {
	c.talk[len(c.talk)-1].Text += "\n\n" + prompts.Text(prompts.Answer{})
	text, problem, err := c.ask(ctx, "the answer")
	if err != nil || problem != "" {
		return "", err
	}
	return answerIn(text), c.at.Note(text, "")
}

const (
	assistantRule = "Send a code block to be run, or the answer and TERMINATE."
	goOn          = "There is no code block in your message, and no TERMINATE. Go on, or end with " +
		"the answer and TERMINATE."
)

var terminates = regexp.MustCompile("[\\s*_]*`?" + `\bTERMINATE[\s.!*_"'` + "`" + `]*$`)

// autoGen is the two-agent chat of AutoGen (Wu et al. 2023, figure 1; AssistantAgent and
// UserProxyAgent of version 0.2): an assistant writes code blocks, and a proxy runs them and
// replies with their output, until the assistant says TERMINATE or the proxy has replied 100
// times, the library's default. All code blocks of a message run in order, as one cell. Python runs in one session; the library's default executor starts a process for
// each block.
func autoGen(ctx context.Context, d *desk) (answer string, ended bool, err error) {
	c := d.newChat("assistant", 0, prompts.AutoGen{})
	last := "" // the last message that says more than TERMINATE
	steps := d.options.Steps
	_, ended, err = c.talkOn(ctx, "message", steps+1, func(text, problem string) move {
		if problem != "" {
			return move{problem: problem, rule: assistantRule}
		}
		if bare := strings.TrimSpace(terminates.ReplaceAllString(text, "")); bare != "" {
			last = bare
		}
		switch {
		case terminates.MatchString(text):
			return move{ends: true, finished: true}
		case c.rounds > steps:
			return move{shown: "The proxy has no reply left.", ends: true}
		}
		return blocksOf(text)
	})
	return cmp.Or(answerIn(last), rest(last)), ended, err // all but code
}

// blocksOf returns the move that runs the blocks of a message.
func blocksOf(text string) move {
	m := move{failed: "The code failed.", told: prompts.Observation{Note: "The code ran without an error."}}
	var cells []string
	for _, b := range ask.Blocks(text) {
		switch {
		case b.Code == "":
		case b.Language == "python" || b.Language == "":
			cells = append(cells, b.Code)
		case slices.Contains(shells, b.Language):
			cells = append(cells, call("bash", b.Code))
		default:
			m.told.Note = "A block in the language " + b.Language + " cannot be run: use python or sh."
		}
	}
	m.cell, m.shown = strings.Join(cells, "\n\n"), goOn
	return m
}

const (
	actionSeconds = 300 // as in actions.py
	remembered    = 15  // actions
	mostUnread    = 3
	mostRepeated  = 1
)

// daAgent is DA-Agent (DA-Code, section 4): at most 20 actions of Bash, Python, SQL and
// Terminate, of at most 300 seconds each, the last 15 of which are remembered (section 5.1).
// Python is a file that runs in its own process. The observations are those of section 4.3:
// output, error, success without output, an invalid or repeated action, a time-out.
//
// Where the paper is silent, it follows the public code: an observation has at most 3,000
// characters, and the run ends after the fourth reply without an action, or when an action is
// repeated twice.
func daAgent(ctx context.Context, d *desk) (string, bool, error) {
	c := d.newChat("da-agent", remembered,
		prompts.DAAgent{Steps: d.options.Steps, Seconds: actionSeconds})
	last, unread, repeated := "", 0, 0
	return c.talkOn(ctx, "step", d.options.Steps, func(text, problem string) move {
		m := move{problem: problem}
		if problem == "" {
			m = actionOf(text)
		}
		switch {
		case m.problem != "":
			unread++
			return move{problem: m.problem, ends: unread > mostUnread,
				rule: "Reply with a thought and one action, in the form that was given."}
		case m.cell != "" && m.cell == last:
			repeated++
			return move{problem: "its action is the last one again", rule: "Take another action.",
				ends: repeated > mostRepeated}
		}
		last, repeated = m.cell, 0
		return m
	})
}

// shells are the languages of blocks for the shell.
var shells = []string{"bash", "sh", "shell"}

// named is a line at the beginning of a block that names a file.
var named = regexp.MustCompile(`^(?:#|--)[ \t]*(file|output):[ \t]*(\S.*?)[ \t]*(?:\n|$)`)

const notAction = "its code block is no action: it names no file, or its language is another one"

// actionOf returns the action of a reply: its first code block, or else its answer. It ignores what
// follows, such as an observation that the model made up.
func actionOf(text string) move {
	blocks, answer := ask.Blocks(text), answerIn(text)
	switch {
	case len(blocks) > 0:
	case answer != "":
		return move{ends: true, finished: true, answer: answer}
	default:
		return move{problem: "it has no action"}
	}
	code, names := blocks[0].Code, map[string]string{}
	for m := named.FindStringSubmatch(code); m != nil; m = named.FindStringSubmatch(code) {
		names[m[1]], code = m[2], code[len(m[0]):]
	}
	switch language, file := blocks[0].Language, names["file"]; {
	case strings.TrimSpace(code) == "":
		return move{problem: "its action is empty"}
	case slices.Contains(shells, language):
		return move{cell: call("bash", code)}
	case language == "python" && file != "":
		return move{cell: call("python", file, code)}
	case language == "sql" && file != "":
		return move{cell: call("sql", file, code, names["output"])}
	}
	return move{problem: notAction}
}

// call returns the call of a function of actions.py with texts.
func call(function string, texts ...string) string {
	return function + "(" + strings.Join(lists.Map(texts, brief.Python), ", ") + ")"
}
