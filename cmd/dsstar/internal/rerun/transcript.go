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
	w     *term.LazyWriter
	quiet bool // but for the error that ends the run
	width func() int

	clean  term.Cleaner
	broken bool            // the last line has no line break yet
	seen   map[string]bool // display ids
}

func (a *Runner) newTranscript() *transcript {
	t := &transcript{w: term.NewLazyWriter(a.Stderr), width: func() int { return 100 },
		seen: map[string]bool{}}
	if a.Terminal {
		t.width = a.Width
		t.clean.Colours = a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	}
	return t
}

// cell begins a cell.
func (t *transcript) cell(count int, source string) {
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
	end := t.clean.Reset()
	if t.broken {
		end += "\n"
	}
	if t.broken = false; end != "" {
		t.w.Write(end)
	}
}

// output shows one output as it arrives. Exceptions are shown when their cell ends.
func (t *transcript) output(o notebook.Output) {
	switch {
	case t.quiet || o.Type == notebook.ErrorOutput:
	case o.Type == notebook.Stream:
		t.put(t.clean.Text(o.Text))
	case o.DisplayID != "" && t.seen[o.DisplayID]: // usually an update of a progress bar
	default:
		t.seen[o.DisplayID] = true
		text := shown(o.Data)
		if o.Type == notebook.ExecuteResult {
			label := fmt.Sprintf("Out[%d]: ", o.ExecutionCount)
			if strings.Contains(text, "\n") {
				label = strings.TrimSpace(label) + "\n"
			}
			text = label + text
		}
		t.line(t.clean.Text(text))
	}
}

// end ends a cell after which the run continues.
func (t *transcript) end(x notebook.Execution) {
	if t.quiet {
		return
	}
	t.errors(x)
	if x.Reason != "" {
		t.say("         %s", term.Printed(x.Reason))
	}
	if x.Seconds >= 1 {
		t.say("         %.1f s", x.Seconds)
	}
}

// errors shows the tracebacks of a cell.
func (t *transcript) errors(x notebook.Execution) {
	t.endLine()
	for _, o := range x.Outputs {
		if o.Type != notebook.ErrorOutput {
			continue
		}
		text := strings.Join(o.Traceback, "\n")
		if text == "" {
			text = o.EName + ": " + o.EValue
		}
		t.line(t.clean.Text(text))
	}
}

// failure shows the error of the cell that ended the run, after the cell's first lines unless
// IPython's traceback shows those that failed.
func (t *transcript) failure(title, source string, x notebook.Execution) {
	const most = 9
	t.line(title)
	e, _ := x.Error()
	if !strings.Contains(notebook.StripANSI(strings.Join(e.Traceback, "\n")), "Cell In[") {
		lines := strings.Split(strings.Trim(source, "\n"), "\n")
		if len(lines) > most {
			lines = append(lines[:most], "…")
		}
		for _, line := range lines {
			t.line(term.Cut("    "+term.Printed(line), t.width()-1))
		}
	}
	t.errors(x)
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
		isMedia := kind == "image" || kind == "video" || kind == "audio"
		if note == "" && (isMedia || !hasText) {
			note = "<" + mime + "> "
		}
	}
	lines := strings.SplitN(text[:min(len(text), shownBytes)], "\n", shownLines+1)
	if len(lines) > shownLines || len(text) > shownBytes {
		lines = append(lines[:min(len(lines), shownLines)], "…")
	}
	return strings.TrimRight(strings.ToValidUTF8(note+strings.Join(lines, "\n"), ""), "\n ")
}

// firstLine returns the first non-empty line of a cell, with … if there are more.
func firstLine(source string) string {
	first, more, _ := strings.Cut(strings.TrimSpace(source), "\n")
	if strings.TrimSpace(more) != "" {
		first += " …"
	}
	return term.Printed(first)
}
