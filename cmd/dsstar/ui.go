package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/notebook"
)

// A progress reports on stderr: plain lines and, on a terminal, a live view below them. Its
// methods may be called concurrently. Only stop and wait("") wait for the terminal, for a
// limited time.
type progress struct {
	screen *term.Screen
	quiet  bool
	live   bool
	now    func() time.Time
	asks   func() bool // whether each cell is reviewed; nil: no

	mu   sync.Mutex
	view view
}

// newProgress starts a progress, which the caller must stop.
func (a *app) newProgress(quiet bool) *progress {
	able := a.stderrTTY && a.getenv("TERM") != "dumb"
	p := &progress{quiet: quiet, live: able && !quiet, now: time.Now}
	p.view.begun = p.now()
	p.screen = &term.Screen{W: a.stderr, Live: p.live, Colours: able && a.getenv("NO_COLOR") == "", Size: a.size, View: p.picture}
	p.screen.Start()
	return p
}

// size returns the columns and rows of the terminal behind stderr.
func (a *app) size() (columns, rows int) {
	if f, ok := term.Unwrapped(a.stderr).(*os.File); ok {
		if columns, rows, ok := term.Size(f); ok {
			return columns, rows
		}
	}
	return a.width(), 24
}

// picture returns the lines of the view.
func (p *progress) picture(columns, rows int) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view.lines(p.now(), columns, rows, p.screen.Colours)
}

// stop removes the live view; lines may still be written. It may be called more than once.
func (p *progress) stop() { p.screen.Stop() }

// say writes a line, cleaned of control characters.
func (p *progress) say(format string, args ...any) {
	p.sayIn(term.Faint, format, args...)
}

// warn writes a warning.
func (p *progress) warn(format string, args ...any) { p.sayIn(term.Doubt, "warning  "+format, args...) }

// sayIn is say with a style for the label or, in an indented line, for the text before a colon.
func (p *progress) sayIn(style term.Style, format string, args ...any) {
	if p.quiet {
		return
	}
	args = slices.Clone(args)
	for i, arg := range args { // one by one, so that an incomplete sequence does not swallow the next argument
		switch arg := arg.(type) {
		case string:
			args[i] = term.Clean(arg)
		case error:
			args[i] = term.Clean(arg.Error())
		}
	}
	p.screen.Tell(term.Line{Text: strings.TrimRight(term.Clean(fmt.Sprintf(format, args...)), " "), Style: style})
}

// wait shows what is being waited for. With "" it removes the view and flushes, so that others
// may write to stderr until the next wait.
func (p *progress) wait(doing string) {
	p.await(doing)
	if doing == "" {
		p.screen.Flush()
	}
}

func (p *progress) await(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.await(doing, p.now())
}

// models sets the names of the models, by role, for the live view.
func (p *progress) models(name func(role string) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.model = name
}

// stream shows a request to a model and its reply so far.
func (p *progress) stream(role, subject, soFar string) {
	if !p.live {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.write(draft{role, subject, soFar}, p.now())
}

// cell shows the code of a cell that begins to run.
func (p *progress) cell(code string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.run(code, p.now())
}

// output shows an output of the running cell.
func (p *progress) output(o notebook.Output) {
	if !p.live {
		return
	}
	text := outputText(o)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.put(text)
}

// manyFiles is the number of files above which a terminal shows only their count.
const manyFiles = 20

// event reports an event of the run. It does not keep t.
func (p *progress) event(e agent.Event, t *record.Trajectory) {
	p.mu.Lock()
	p.view.learn(e, t, p.now())
	described := p.view.described
	p.mu.Unlock()
	switch e.Kind {
	case agent.Started:
		p.say("session  %s", term.Fit(e.Text, 70))
		if described == len(t.Task.Files) {
			p.await(forKernel)
		} else {
			p.await(describingFiles)
		}
	case agent.Described:
		p.described(e, t, described)
	case agent.Met:
		p.say("session  has %s", term.Fit(e.Text, 200))
	case agent.Estimated:
		p.say("estimate %s", e.Text)
	case agent.Planned:
		if p.asks == nil || !p.asks() { // else the review shows the step
			p.sayIn(term.Strong, "step %-3d %s", e.Step, e.Text)
		}
		p.await("writing the cell")
	case agent.Repeated:
		p.sayIn(term.Strong, "step %-3d %s", e.Step, e.Text)
		p.await("running the cell again")
	case agent.Ran:
		p.ran(e, t)
	case agent.Rejected:
		p.sayIn(term.Normal, "         %s", e.Text)
	case agent.Judged:
		p.judged(t)
	case agent.Routed:
		p.routed(t)
	case agent.Picked:
		p.sayIn(term.Normal, "         candidate %d is chosen%s", e.Candidate, after(": ", e.Text))
		p.await("judging")
	case agent.WentBack:
		p.sayIn(term.Normal, "         the session is back at the accepted cells (%d), %s", t.Steps(), e.Text)
		p.await("planning")
	case agent.Checked:
		p.say("form     %s", checked(e.Text, t.Task.Guidelines != ""))
	case agent.Finalized:
		p.await("finishing")
	case agent.Proving:
		p.await("proving: running everything again from nothing")
	case agent.Proved:
		if e.Text == "" {
			p.sayIn(term.Strong, "proof    a fresh session and the script print the same answer")
		} else {
			p.sayIn(term.Strong, "proof    %s", e.Text)
		}
	case agent.Warned:
		p.warn("%s", e.Text)
	case agent.Ended:
		p.await("")
	}
}

func (p *progress) described(e agent.Event, t *record.Trajectory, done int) {
	i := slices.IndexFunc(t.Descriptions, func(d record.Description) bool { return d.File == e.Text && d.Error != "" })
	note, files := "", len(t.Task.Files)
	if i >= 0 {
		note = ": not described: " + t.Descriptions[i].Error
	}
	if !p.live || files <= manyFiles || note != "" {
		p.say("file     %s (%d of %d)%s", term.Printable(e.Text), done, files, note)
	} else if done == files {
		p.say("files    %d", files)
	}
	if done == files {
		p.await(forKernel)
	}
}

const forKernel = "waiting for the kernel"

func (p *progress) ran(e agent.Event, t *record.Trajectory) {
	if t.Rounds[len(t.Rounds)-1].Verdict != nil && e.Text == "" {
		p.sayIn(term.Strong, "answer   printed in %.1f s", e.Execution.Seconds)
		return
	}
	if e.Candidate > 0 {
		p.sayIn(term.Normal, "         candidate %d %s", e.Candidate, cmp.Or(after("failed: ", e.Text), fmt.Sprintf("ran in %.1f s", e.Execution.Seconds)))
		p.await("writing the next candidate")
		return
	}
	if e.Execution.Status == notebook.OK && e.Text == "" {
		p.sayIn(term.Normal, "         ran in %.1f s", e.Execution.Seconds)
		p.await("judging")
		return
	}
	p.sayIn(term.Bad, "         try %d failed: %s", e.Try, e.Text)
	p.await("going back and repairing the cell")
}

// after returns intro + text, or "" if text is empty.
func after(intro, text string) string {
	if text == "" {
		return ""
	}
	return intro + text
}

func (p *progress) judged(t *record.Trajectory) {
	p.sayIn(judgementStyle(t), "         %s", judgement(t))
	if t.Sufficient() {
		p.await("writing the answer's cell")
	} else {
		p.await("planning")
	}
}

// judgementStyle is how the last verdict is shown.
func judgementStyle(t *record.Trajectory) term.Style {
	if t.Sufficient() {
		return term.Good
	}
	return term.Doubt
}

// judgement returns the last verdict with its reason.
func judgement(t *record.Trajectory) string {
	v := t.Rounds[len(t.Rounds)-1].Verdict
	return v.Word() + ": " + v.Reason
}

func (p *progress) routed(t *record.Trajectory) {
	p.sayIn(term.Normal, "         route: %s", direction(t))
	if t.Rounds[len(t.Rounds)-1].Route.Back > 0 {
		p.await("going back")
	}
}

// direction describes the last route.
func direction(t *record.Trajectory) string {
	if back := t.Rounds[len(t.Rounds)-1].Route.Back; back > 0 {
		return fmt.Sprintf("step %d is wrong, going back", back)
	}
	return "add a step"
}

// checked describes the check of the answer's form.
func checked(wrong string, guidelines bool) string {
	switch {
	case wrong != "":
		return "the answer does not fit: " + wrong
	case guidelines:
		return "the answer fits the guidelines"
	}
	return "the answer has the form that the question asks for"
}
