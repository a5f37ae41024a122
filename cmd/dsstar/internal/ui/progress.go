// Package ui shows a run on stderr: lines for what has happened and, on a terminal, a live view of
// what is happening. Text of models, files and cells is not trusted: it is cleaned of control
// sequences and wrapped to the terminal's width.
package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A Progress reports on stderr: plain lines and, on a terminal, a live view below them. Its
// methods may be called concurrently. Only Stop and Wait("") wait for the terminal, for a
// limited time.
type Progress struct {
	screen *Screen
	now    func() time.Time
	asks   func() bool // whether each cell is reviewed; nil: no

	mu           sync.Mutex // of the live view
	begun, since time.Time
	doing        string // what is being waited for since then; "": no view
	described    int
	label        string        // of the text below
	text         func() string // a reply so far, the running cell or its outputs; nil: none
	output       string        // the end of the cell's outputs
	spent        string        // "": not known
}

// Options say what the terminal behind a Progress can do.
type Options struct {
	Quiet   bool                       // write nothing
	JSON    bool                       // write an object per line, for programs
	Live    bool                       // it can move the cursor
	Colours bool                       // it supports them
	Size    func() (columns, rows int) // of the terminal
}

// New starts a Progress on w. The caller must stop it.
func New(w io.Writer, o Options) *Progress {
	p := &Progress{now: time.Now, begun: time.Now()}
	o.JSON, o.Live, o.Colours = o.JSON && !o.Quiet, o.Live && !o.Quiet && !o.JSON, o.Colours && !o.JSON
	p.screen = &Screen{W: w, Options: o, View: p.picture}
	p.screen.Start()
	return p
}

// Colours reports whether the terminal shows colours.
func (p *Progress) Colours() bool { return p.screen.Colours }

// Reviewed makes p leave out steps while asks returns true, because the review shows them.
func (p *Progress) Reviewed(asks func() bool) { p.asks = asks }

// Stop removes the live view; lines may still be written. It may be called more than once.
func (p *Progress) Stop() { p.screen.Stop() }

// Say writes a line, cleaned of control characters.
func (p *Progress) Say(format string, args ...any) {
	p.SayIn(Faint, format, args...)
}

// Warn writes a warning.
func (p *Progress) Warn(format string, args ...any) {
	p.SayIn(Doubt, "warning  "+format, args...)
}

// SayIn is Say with a style for the label or, in an indented line, for the text before a colon.
func (p *Progress) SayIn(style Style, format string, args ...any) {
	p.tell(Line{Style: style}, format, args...)
}

// Paste is Say for a line with a path or command to paste, or with code: it stays one line.
func (p *Progress) Paste(format string, args ...any) {
	p.tell(Line{Style: Faint, Whole: true}, format, args...)
}

// Show writes lines of a cell, cleaned of control characters.
func (p *Progress) Show(text string) {
	for line := range strings.Lines(text) {
		p.tell(Line{Whole: true}, "%s", line)
	}
}

// tell writes a line with this text.
func (p *Progress) tell(line Line, format string, args ...any) {
	if p.screen.Quiet {
		return
	}
	args = slices.Clone(args)
	// one by one, so that an incomplete sequence does not swallow the next argument
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = Clean(arg)
		case error:
			args[i] = Clean(arg.Error())
		}
	}
	line.Text = strings.TrimRight(Clean(fmt.Sprintf(format, args...)), " ")
	if p.screen.JSON {
		p.send(message{Event: "line", Text: line.Text})
		return
	}
	p.screen.Tell(line)
}

// Wait shows what is being waited for. With "" it removes the view and flushes, so that others
// may write to stderr until the next wait.
func (p *Progress) Wait(doing string) {
	p.mu.Lock()
	p.await(doing)
	p.mu.Unlock()
	if doing == "" {
		p.screen.Flush()
	}
}

// await is Wait; mu is held.
func (p *Progress) await(doing string) {
	if doing != p.doing {
		p.doing, p.since = doing, p.now()
		p.send(message{Event: "waiting", Text: doing})
	}
}

// Folder reports the run folder.
func (p *Progress) Folder(path string) {
	p.Paste("run      %s", path)
	p.send(message{Event: "folder", Text: path})
}

// Stream shows a request to a model, and its reply so far: nil, before it comes. Until then the
// view keeps what it shows.
func (p *Progress) Stream(role, _ string, soFar func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if soFar == nil {
		p.await("asking the " + role)
	} else {
		p.label, p.text = cmp.Or(agent.Roles[role], role), soFar
	}
}

// Cell shows the code of a cell that begins to run.
func (p *Progress) Cell(code string) { p.Running("running the cell", code) }

// Running shows the code of a cell that begins to run, until it puts something out.
func (p *Progress) Running(doing, code string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label, p.text, p.output = agent.Roles["coder"], func() string { return code }, ""
	p.await(doing)
}

// Output shows an output of the running cell; the view keeps only the end.
func (p *Progress) Output(o notebook.Output) {
	text := outputText(o)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.output += text
	p.output = p.output[max(0, len(p.output)-tailBytes):]
	p.label, p.text = "output", func() string { return p.output }
}

// DescribingFiles names the activity before the first round.
const DescribingFiles = "describing the files"

// Event reports an event of the run. It does not keep t. What is asked and run next says so itself.
func (p *Progress) Event(e agent.Event, t *record.Trajectory) {
	p.mu.Lock()
	p.learn(e, t)
	done, files := p.described, len(t.Task.Files)
	p.mu.Unlock()
	p.send(eventMessage(e, t))
	looking := fmt.Sprintf("%s (%d of %d)", DescribingFiles, done, files)
	if done == files {
		looking = "waiting for the kernel"
	}
	switch last := t.Last(); e.Kind {
	case agent.Started:
		p.Say("session  %s", Fit(e.Text, 70))
		p.Wait(looking)
	case agent.Described:
		p.file(e, t, done, files)
		p.Wait(looking)
	case agent.Met:
		p.Say("session  has %s", Fit(e.Text, 200))
	case agent.Planned:
		if p.asks == nil || !p.asks() { // else the review shows the step
			p.SayIn(Strong, "step %-3d %s", e.Step, e.Text)
		}
	case agent.Repeated:
		p.SayIn(Strong, "step %-3d %s", e.Step, e.Text)
	case agent.Ran:
		switch {
		case e.Text != "" || e.Execution.Status != notebook.OK:
			p.SayIn(Bad, "         try %d failed: %s", e.Try, e.Text)
			p.Wait("going back")
		case len(t.Rest) == 0 && last.Verdict != nil:
			p.SayIn(Strong, "answer   printed in %.1f s", e.Execution.Seconds)
		default:
			p.SayIn(Normal, "         ran in %.1f s", e.Execution.Seconds)
		}
	case agent.Rejected:
		p.SayIn(Normal, "         %s", e.Text)
	case agent.Judged:
		style := Doubt
		if t.Sufficient() {
			style = Good
		}
		p.SayIn(style, "         %s: %s", last.Verdict.Word(), last.Verdict.Reason)
	case agent.Routed:
		route := "add a step"
		if last.Route.Back > 0 {
			route = fmt.Sprintf("step %d is wrong, going back", last.Route.Back)
			p.Wait("going back")
		}
		p.SayIn(Normal, "         route: %s", route)
	case agent.WentBack:
		p.SayIn(Normal, "         the session is back at the accepted cells (%d), %s", t.Steps(), e.Text)
	case agent.Branched:
		if e.Text == "" {
			p.SayIn(Normal, "         %s: ran in %.1f s", e.Branch, e.Execution.Seconds)
		} else {
			p.SayIn(Bad, "         %s, try %d failed: %s", e.Branch, e.Try, e.Text)
		}
	case agent.Read:
		p.Say("reading  %s: %s", e.Branch, cmp.Or(e.Text, "no answer"))
	case agent.Ruled:
		p.Say("ruling   %s: %s", t.Second.Ruling, e.Text)
	case agent.Derived:
		switch s := t.Second; {
		case s.Agrees:
			p.SayIn(Strong, "second   another derivation gives the same answer")
		case s.Answer == "":
			p.SayIn(Doubt, "second   no second answer: %s", s.Reason)
		default:
			p.SayIn(Doubt, "second   another derivation gives %s: %s", Fit(s.Answer, 80), s.Reason)
		}
	case agent.Proving:
		p.Wait("proving: running everything again from scratch")
	case agent.Proved:
		p.SayIn(Strong, "proof    %s", cmp.Or(e.Text, "a fresh session and the script print the same answer"))
	case agent.Warned:
		p.Warn("%s", e.Text)
	case agent.Ended:
		p.Wait("")
	}
}

// file reports a file that has its description, or has none. Above a view, which counts them, many
// are one line.
func (p *Progress) file(e agent.Event, t *record.Trajectory, done, files int) {
	i := slices.IndexFunc(t.Descriptions,
		func(d record.Description) bool { return d.File == e.Text && d.Error != "" })
	switch {
	case i >= 0:
		p.Say("file     %s (%d of %d): not described: %s", Printable(e.Text), done, files,
			t.Descriptions[i].Error)
	case !p.screen.Live || files <= 20:
		p.Say("file     %s (%d of %d)", Printable(e.Text), done, files)
	case done == files:
		p.Say("files    %d", files)
	}
}

// Skipped reports which data files are skipped.
func (p *Progress) Skipped(t record.Task) {
	if said := files.InWords(t.Skipped); said != "" {
		p.Say("skipped  %s; --data takes one that it names", Fit(said, 400))
	}
}

// Retrying reports a model call that will be retried.
func (p *Progress) Retrying(r llm.Request, cause string) {
	p.SayIn(Doubt, "retry    %s for %s: %s", r.Role, r.Subject, cause)
}

// A message is one line of the progress for programs. Its fields are a contract: docs/results.md.
type message struct {
	// the kind of an [agent.Event], or: line, one of the progress for people; waiting, what the run
	// waits for from now on; folder, that of the run
	Event   string `json:"event"`
	Text    string `json:"text"`
	Step    int    `json:"step,omitempty"`
	Code    string `json:"code,omitempty"`    // of ran
	Status  string `json:"status,omitempty"`  // of ran: that of the execution
	Verdict string `json:"verdict,omitempty"` // of judged
	Spent   *spent `json:"spent,omitempty"`   // of events of the run
}

type spent struct {
	Calls        int      `json:"calls"`
	InputTokens  int      `json:"input_tokens"`
	OutputTokens int      `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"` // null: unknown
}

// send writes a message, if the progress is for programs.
func (p *Progress) send(m message) {
	if p.screen.JSON {
		b, _ := json.Marshal(m) // no field can fail
		p.screen.Tell(Line{Text: EscapeControls(string(b))})
	}
}

// eventMessage returns the message of an event.
func eventMessage(e agent.Event, t *record.Trajectory) message {
	m := message{Event: string(e.Kind), Text: e.Text, Step: e.Step,
		Spent: &spent{t.Usage.Calls, t.Usage.InputTokens, t.Usage.OutputTokens, t.Cost}}
	if e.Execution != nil {
		m.Status = string(e.Execution.Status)
	}
	switch last := t.Last(); {
	case last == nil:
	case e.Kind == agent.Ran && (last.Verdict == nil || len(t.Rest) > 0) && len(last.Attempts) > 0:
		m.Code = last.Attempts[len(last.Attempts)-1].Code
	case e.Kind == agent.Judged:
		m.Verdict = last.Verdict.Word()
	}
	return m
}
