package rerun

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/cmd/dsstar/internal/term"
	"dsstar/notebook"
)

// A transcript shows the cells and their outputs on stderr as they run.
type transcript struct {
	w       *term.LazyWriter
	quiet   bool
	colours bool
	width   func() int

	clean  term.Cleaner
	broken bool // the last line has no line break yet
	count  int  // of the current cell
	raises bool // its exceptions are expected
	held   []notebook.Output
	seen   map[string]bool // display ids
}

func (a *Runner) newTranscript(quiet bool) *transcript {
	t := &transcript{w: term.NewLazyWriter(a.Stderr), quiet: quiet, width: func() int { return 100 },
		seen: map[string]bool{}}
	t.colours = a.Terminal && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	if a.Terminal {
		t.width = a.Width
	}
	t.clean.Colours = t.colours
	return t
}

// cell begins a cell.
func (t *transcript) cell(count int, source string, mayRaise bool) {
	t.count, t.raises, t.held = count, mayRaise, nil
	t.clean = term.Cleaner{Colours: t.colours}
	t.say("%s", term.Fit(fmt.Sprintf("In [%d]: %s", count, firstLine(source)), t.width()-1))
}

// say writes a line of dsstar's.
func (t *transcript) say(format string, args ...any) {
	if !t.quiet {
		t.line(fmt.Sprintf(format, args...))
	}
}

// line writes clean text on a line of its own.
func (t *transcript) line(text string) {
	t.endLine()
	t.put(text)
	t.endLine()
}

func (t *transcript) put(text string) {
	if text != "" {
		t.w.Write(text)
		t.broken = !strings.HasSuffix(text, "\n")
	}
}

// endLine ends the line and resets colours.
func (t *transcript) endLine() {
	if end := t.clean.Reset(); end != "" {
		t.w.Write(end)
	}
	if t.broken {
		t.w.Write("\n")
		t.broken = false
	}
}

// output shows one output. failure shows exceptions that end the run.
func (t *transcript) output(o notebook.Output) {
	switch {
	case o.Type == notebook.ErrorOutput && !t.raises:
		t.held = append(t.held, o)
	case t.quiet:
	case o.Type == notebook.Stream:
		t.put(t.clean.Text(o.Text))
	case o.Type == notebook.ErrorOutput:
		t.traceback(o)
	case o.DisplayID != "" && t.seen[o.DisplayID]: // usually an update of a progress bar
	default:
		t.seen[o.DisplayID] = true
		label := ""
		if o.Type == notebook.ExecuteResult {
			label = fmt.Sprintf("Out[%d]: ", o.ExecutionCount)
		}
		text := shown(o.Data)
		if label != "" && strings.Contains(text, "\n") {
			label = strings.TrimSpace(label) + "\n"
		}
		t.endLine()
		t.put(label + t.clean.Text(text))
		t.endLine()
	}
}

// late shows outputs that arrived after their cells had ended.
func (t *transcript) late(outputs []notebook.Output) {
	expected := t.raises
	t.raises = true // they do not end the run
	for _, o := range outputs {
		t.output(o)
	}
	t.raises = expected
}

// end ends a cell after which the run continues.
func (t *transcript) end(x notebook.Execution) {
	if t.quiet {
		return
	}
	for _, o := range t.held { // displayed by the cell, not raised
		t.traceback(o)
	}
	t.endLine()
	if x.Reason != "" {
		t.say("         %s", term.Printed(x.Reason))
	}
	if x.Seconds >= 1 {
		t.say("         %.1f s", x.Seconds)
	}
}

func (t *transcript) traceback(o notebook.Output) {
	text := strings.Join(o.Traceback, "\n")
	if text == "" {
		text = o.EName + ": " + o.EValue
	}
	t.endLine()
	t.clean.Reset()
	t.put(t.clean.Text(text))
	t.endLine()
}

// failure shows the error of the cell that ended the run, after the cell's first lines unless
// IPython's traceback shows those that failed.
func (t *transcript) failure(title, source string) {
	t.line(title)
	if !slices.ContainsFunc(t.held, func(o notebook.Output) bool {
		return strings.Contains(notebook.StripANSI(strings.Join(o.Traceback, "\n")), "Cell In[")
	}) {
		const most = 9
		lines := strings.Split(strings.Trim(source, "\n"), "\n")
		if len(lines) > most {
			lines = append(lines[:most], "…")
		}
		for _, line := range lines {
			t.line(term.Cut("    "+term.Printed(line), t.width()-1))
		}
	}
	for _, o := range t.held {
		t.traceback(o)
	}
	t.endLine()
}

func (t *transcript) close() {
	t.endLine()
	t.w.Close()
}

// Limits on what is shown of an output; the notebook has all of it.
const (
	shownLines = 60
	shownBytes = 8 << 10
)

// shown returns a display as text.
func shown(data notebook.MIMEBundle) string {
	text, hasText := data["text/plain"].(string)
	note := ""
	for _, mime := range slices.Sorted(maps.Keys(data)) {
		kind, _, _ := strings.Cut(mime, "/")
		media := kind == "image" || kind == "video" || kind == "audio" || mime == "application/pdf"
		if note == "" && (media || !hasText) {
			note = "<" + mime + ">"
		}
	}
	whole := text
	if len(text) > shownBytes {
		text = strings.ToValidUTF8(text[:shownBytes], "")
	}
	if lines := strings.SplitAfterN(text, "\n", shownLines+1); len(lines) > shownLines {
		text = strings.Join(lines[:shownLines], "")
	}
	if len(text) < len(whole) {
		text = strings.TrimSuffix(text, "\n") + "\n…"
	}
	text = strings.TrimRight(text, "\n")
	if note != "" && text != "" {
		note += " "
	}
	return note + text
}
