package rerun

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dsstar/cmd/dsstar/internal/term"
	"dsstar/notebook"
	"dsstar/notebook/human"
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

// failure shows the cell that ended the run, with its error.
func (t *transcript) failure(title, source string, x notebook.Execution) {
	t.line(title)
	at := 0
	e, raised := x.Error()
	if raised {
		at = failedLine(e, x.Count)
	}
	t.put(excerpt(source, at))
	for _, o := range t.held {
		t.traceback(o)
	}
	t.endLine()
}

func (t *transcript) close() {
	t.endLine()
	t.w.Close()
}

// cellLine matches a cell's line in IPython's tracebacks: "Cell In[3], line 7".
var cellLine = regexp.MustCompile(`In ?\[(\d+)\],? line (\d+)`)

// failedLine returns the last line of the cell that its traceback names; 0 if there is none.
func failedLine(e notebook.Output, count int) int {
	at := 0
	for _, m := range cellLine.FindAllStringSubmatch(notebook.StripANSI(strings.Join(e.Traceback,
		"\n")), -1) {
		if m[1] == strconv.Itoa(count) {
			at, _ = strconv.Atoi(m[2]) // 0 if it overflows
		}
	}
	return at
}

// around is the number of lines shown before and after the failed one.
const around = 4

// excerpt returns the lines of the source around a line, or the first ones.
func excerpt(source string, at int) string {
	lines := strings.Split(strings.TrimRight(source, "\n"), "\n")
	if at > len(lines) {
		at = 0
	}
	from, to := max(0, at-1-around), min(len(lines), max(at, 1)+around)
	if at == 0 {
		to = min(len(lines), 2*around+1)
	}
	var b strings.Builder
	gap := func(n int) {
		if n > 0 {
			fmt.Fprintf(&b, "        … (%s)\n", human.Plural(n, "line"))
		}
	}
	gap(from)
	for i := from; i < to; i++ {
		mark := "  "
		if i == at-1 {
			mark = "→ "
		}
		fmt.Fprintf(&b, "%s%5d  %s\n", mark, i+1, fitWidth(term.Printed(lines[i]), 200))
	}
	gap(len(lines) - to)
	return b.String()
}

func fitWidth(line string, columns int) string {
	if runes := []rune(line); len(runes) > columns {
		return string(runes[:columns-1]) + "…"
	}
	return line
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
