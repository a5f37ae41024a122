// Package brief shortens and quotes text for models and people: excerpts of long
// outputs, reports of failed executions, sizes, Python literals.
package brief

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// Clip returns at most about n bytes of text: its beginning and its end, with
// a line between them that says how much was cut.
func Clip(text string, n int) string {
	if n <= 0 || len(text) <= n {
		return text
	}
	cut := len(text) - n + n*2/3
	for cut < len(text) && !utf8.RuneStart(text[cut]) {
		cut++
	}
	return without(text, n*2/3, cut)
}

// Cut returns what stands for a text that is left out, unless that is as long.
func Cut(text string) string {
	if len(text) <= len(markOfCut) {
		return text
	}
	return fmt.Sprintf(markOfCut, len(text))
}

// markOfCut stands for what is cut.
const markOfCut = "[… %d characters cut here …]"

// without returns text whose part between head and tail is cut, and no character in half.
func without(text string, head, tail int) string {
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	return fmt.Sprintf("%s\n"+markOfCut+"\n%s", text[:head], tail-head, text[tail:])
}

// Lines is Clip for text whose beginning matters most. It cuts at line ends if there are
// any, so that no number is cut, and never less than its mark takes.
func Lines(text string, n int) string {
	if n <= 0 || len(text) <= n+len(markOfCut) {
		return text
	}
	head, tail := n*9/10, len(text)
	if end := strings.LastIndexByte(text[:head], '\n'); end > head/2 {
		head = end
	}
	if end := strings.IndexByte(text[len(text)-n/10:], '\n'); end >= 0 {
		tail += end + 1 - n/10
	}
	return strings.TrimRight(without(text, head, tail), "\n")
}

// Shares divides a budget among texts of the given lengths: short ones are whole and long
// ones get equal shares, each of at most most.
func Shares(lengths []int, budget, most int) []int {
	order, share := make([]int, len(lengths)), make([]int, len(lengths))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return lengths[a] - lengths[b] })
	for n, i := range order {
		each := min(budget/(len(order)-n), most)
		if lengths[i] > each {
			for _, long := range order[n:] {
				share[long] = max(each, 1)
			}
			break
		}
		share[i], budget = max(lengths[i], 1), budget-lengths[i]
	}
	return share
}

var (
	cellFrame = lazy.Regexp(`Cell In\[\d+\], `)
	libFrame  = lazy.Regexp(`^File (.+):\d+, in (.+)`)
)

// ErrorReport returns what a debugger needs of a failed execution: the frames in the cell,
// frames in libraries by name only, and the message. A traceback through pandas is then ten
// lines instead of a hundred.
func ErrorReport(e notebook.Execution, budget int) string {
	var b strings.Builder
	if o, ok := e.Error(); ok {
		for _, frame := range o.Traceback {
			frame = cellFrame().ReplaceAllString(notebook.StripANSI(frame), "Cell, ")
			if m := libFrame().FindStringSubmatch(frame); m != nil {
				frame = fmt.Sprintf("File %s, in %s", libraryPath(m[1]), m[2])
			}
			if strings.Trim(frame, "- \n") != "" {
				b.WriteString(strings.TrimRight(frame, " \n") + "\n")
			}
		}
		if b.Len() == 0 {
			b.WriteString(o.PlainText() + "\n")
		}
	}
	if e.Reason != "" {
		b.WriteString(e.Reason + "\n")
	}
	if printed := e.Stdout(); printed != "" {
		b.WriteString("\nPrinted before the error:\n" + Clip(printed, budget/4))
	}
	return b.String()
}

// libraryPath shortens the path of a library's file to the part that is the same on every
// machine.
func libraryPath(path string) string {
	for _, root := range []string{"site-packages/", "dist-packages/"} {
		if _, rest, ok := strings.Cut(path, root); ok {
			return rest
		}
	}
	return filepath.Base(path)
}

// Problem returns what was wrong with an execution, in one line.
func Problem(e notebook.Execution) string {
	if e.Reason != "" {
		return e.Reason
	}
	if o, ok := e.Error(); ok {
		text := o.EName
		if o.EValue != "" {
			text += ": " + o.EValue
		}
		return Clip(strings.Join(strings.Fields(text), " "), 300)
	}
	return string(e.Status)
}

func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// controls are characters that JSON does not escape but some readers take for line breaks.
var controls = lazy.Regexp("[\u007f-\u009f]")

// Python returns s as a Python string literal in one line; a JSON string is one.
func Python(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string cannot fail
	literal := strings.TrimSuffix(b.String(), "\n")
	return controls().ReplaceAllStringFunc(literal, func(c string) string {
		return fmt.Sprintf("\\u%04x", []rune(c)[0])
	})
}
