package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"dsstar/agent"
	"dsstar/notebook"
)

// A progress tells a person on stderr what goes on: plain lines, and on a
// terminal a last line that shows what is being waited for.
type progress struct {
	mu      sync.Mutex
	w       io.Writer
	quiet   bool
	live    bool
	width   func() int
	done    int
	doing   string
	since   time.Time
	once    sync.Once     // for stop
	stopped chan struct{} // closed by stop
	ended   chan struct{} // closed when nothing draws any more
}

func (a *app) newProgress(quiet bool) *progress {
	p := &progress{w: a.stderr, quiet: quiet, live: a.stderrTTY && !quiet, width: a.width,
		stopped: make(chan struct{}), ended: make(chan struct{})}
	if p.live {
		go p.tick()
	} else {
		close(p.ended)
	}
	return p
}

// stop takes the live line away; lines may still be told. It may be called more
// than once.
func (p *progress) stop() {
	p.once.Do(func() { close(p.stopped) })
	<-p.ended
}

func (p *progress) tick() {
	defer close(p.ended)
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-p.stopped:
			p.mu.Lock()
			fmt.Fprint(p.w, "\r\x1b[K")
			p.mu.Unlock()
			return
		case <-ticker.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// draw shows the live line; mu is held.
func (p *progress) draw() {
	if p.doing == "" {
		return
	}
	line := fmt.Sprintf("… %s %.0f s", p.doing, time.Since(p.since).Seconds())
	fmt.Fprintf(p.w, "\r\x1b[K%s", fit(line, p.width()-1))
}

// say writes a line.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	text := fmt.Sprintf(format, args...)
	if p.live {
		text = wrap(text, p.width()-1)
		select {
		case <-p.stopped:
		default:
			text = "\r\x1b[K" + text
		}
	}
	fmt.Fprintln(p.w, text)
}

// margin is the width of the word that a line of progress begins with.
const margin = 9

// wrap breaks a line between words, with its further lines below its text.
func wrap(line string, columns int) string {
	if len(line) <= margin || columns < 3*margin {
		return line
	}
	var b strings.Builder
	b.WriteString(line[:margin])
	at := margin
	for i, word := range strings.Fields(line[margin:]) {
		switch n := utf8.RuneCountInString(word); {
		case i == 0:
			at += n
		case at+1+n > columns:
			b.WriteString("\n" + strings.Repeat(" ", margin))
			at = margin + n
		default:
			b.WriteByte(' ')
			at += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}

// wait says what is being waited for from now on.
func (p *progress) wait(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.since = doing, time.Now()
}

// event tells of one event of the run.
func (p *progress) event(e agent.Event, t *agent.Trajectory) {
	switch e.Kind {
	case agent.Started:
		p.say("session  %s", fit(e.Text, 70))
		p.wait("describing the files")
	case agent.Described:
		p.described(e, t)
	case agent.Planned:
		p.say("step %-3d %s", e.Step, e.Text)
		p.wait("writing the cell")
	case agent.Ran:
		p.ran(e, t)
	case agent.Judged:
		word := "insufficient"
		if t.Sufficient() {
			word = "sufficient"
		}
		p.say("         %s: %s", word, e.Text)
		p.wait("planning")
	case agent.Routed:
		p.routed(t)
	case agent.WentBack:
		p.say("         the session is back at the accepted cells (%d)", t.Steps())
		p.wait("planning")
	case agent.Finalized:
		p.wait("finishing")
	case agent.Proving:
		p.wait("proving: running everything again from nothing")
	case agent.Proved:
		if e.Text == "" {
			p.say("proof    a fresh session and the script print the same answer")
		} else {
			p.say("proof    %s", e.Text)
		}
	case agent.Warned:
		p.say("warning  %s", e.Text)
	case agent.Ended:
		p.wait("")
	}
}

func (p *progress) described(e agent.Event, t *agent.Trajectory) {
	p.mu.Lock()
	p.done++
	done := p.done
	p.mu.Unlock()
	note := ""
	for _, d := range t.Descriptions {
		if d.File == e.Text && d.Error != "" {
			note = ": not described: " + d.Error
		}
	}
	p.say("file     %s (%d of %d)%s", printable(e.Text), done, len(t.Task.Files), note)
	if done == len(t.Task.Files) {
		p.wait("planning")
	}
}

func (p *progress) ran(e agent.Event, t *agent.Trajectory) {
	if t.Rounds[len(t.Rounds)-1].Verdict != nil && e.Text == "" {
		p.say("answer   printed in %.1f s", e.Execution.Seconds)
		return
	}
	if e.Execution.Status == notebook.OK && e.Text == "" {
		p.say("         ran in %.1f s", e.Execution.Seconds)
		p.wait("judging")
		return
	}
	p.say("         try %d failed: %s", e.Try, e.Text)
	p.wait("going back and repairing the cell")
}

func (p *progress) routed(t *agent.Trajectory) {
	route := t.Rounds[len(t.Rounds)-1].Route
	if route.Back == 0 {
		p.say("         route: add a step")
		return
	}
	p.say("         route: step %d is wrong, going back", route.Back)
	p.wait("going back")
}

// printable quotes a name that would break a line.
func printable(name string) string {
	if quoted := strconv.Quote(name); strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return quoted
	}
	return name
}

// fit shortens a line to the given number of columns.
func fit(line string, columns int) string {
	runes := []rune(strings.Join(strings.Fields(line), " "))
	if len(runes) <= columns || columns < 2 {
		return string(runes)
	}
	return string(runes[:columns-1]) + "…"
}

// stream is told of replies as they come.
func (p *progress) stream(role, subject, soFar string) {}
