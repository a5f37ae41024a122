package rerun

import (
	"fmt"
	"io"
	"strings"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook"
)

// A transcript shows the cells and their outputs on stderr as they run.
type transcript struct {
	*ui.Progress
	quiet bool            // a check shows none
	line  string          // of a stream, which is not complete yet
	seen  map[string]bool // display ids
}

// show shows whole lines, after what is left of a stream.
func (t *transcript) show(format string, args ...any) {
	if t.quiet {
		return
	}
	t.Show(notebook.Overstrike(t.line))
	t.line = ""
	t.Show(fmt.Sprintf(format, args...))
}

// shownBytes is how much is shown of an output; the notebook has all of it.
const shownBytes = 8 << 10

// output shows one output as it arrives, a stream line by line. Exceptions are shown when their
// cell ends.
func (t *transcript) output(o notebook.Output) {
	text := ui.OutputText(o)
	switch {
	case t.quiet || o.Type == notebook.ErrorOutput:
	case o.Type == notebook.Stream:
		t.line += text
		if at := strings.LastIndexByte(t.line, '\n'); at >= 0 {
			t.Show(notebook.Overstrike(t.line[:at+1]))
			t.line = t.line[at+1:]
		}
		t.line = t.line[max(0, len(t.line)-shownBytes):]
	case o.DisplayID != "" && t.seen[o.DisplayID]: // usually an update of a progress bar
	default:
		t.seen[o.DisplayID] = true
		text = strings.Trim(text[:min(len(text), shownBytes)], "\n ")
		if o.Type == notebook.ExecuteResult {
			space := map[bool]string{true: "\n", false: " "}[strings.Contains(text, "\n")]
			text = fmt.Sprintf("Out[%d]:%s%s", o.ExecutionCount, space, text)
		}
		t.show("%s", text)
	}
}

// end ends a cell after which the run continues.
func (t *transcript) end(x notebook.Execution) {
	t.show("%s", tracebacks(x))
	if x.Reason != "" {
		t.show("         %s", x.Reason)
	}
	if x.Seconds >= 1 {
		t.show("         %.1f s", x.Seconds)
	}
}

func tracebacks(x notebook.Execution) (text string) {
	for _, o := range x.Outputs {
		if o.Type == notebook.ErrorOutput {
			text += o.PlainText() + "\n"
		}
	}
	return text
}

// showFailure shows the error of the cell that ended the run, after the cell's first lines unless
// IPython's traceback shows those that failed.
func showFailure(w io.Writer, title, source string, x notebook.Execution) {
	const most = 9
	text := tracebacks(x)
	if !strings.Contains(text, "Cell In[") {
		lines := strings.Split(strings.Trim(source, "\n"), "\n")
		if len(lines) > most {
			lines = append(lines[:most], "…")
		}
		text = "    " + strings.Join(lines, "\n    ") + "\n" + text
	}
	for line := range strings.Lines(title + "\n" + text) {
		fmt.Fprintln(w, strings.TrimRight(ui.Clean(line), " "))
	}
}

// firstLine returns the first non-empty line of a cell, with … if there are more.
func firstLine(source string) string {
	first, more, _ := strings.Cut(strings.TrimSpace(source), "\n")
	if strings.TrimSpace(more) != "" {
		first += " …"
	}
	return ui.Clean(first)
}
