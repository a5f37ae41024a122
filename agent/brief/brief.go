// Package brief shortens and quotes text for models and people: excerpts of long outputs, reports
// of failed executions, Python literals.
package brief

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// markOfCut stands for what is cut.
const markOfCut = "[… %d characters cut here …]"

// Clip returns at most about n bytes of text: its beginning and its end, with a line between them
// that says how much was cut. It cuts at line ends if there are any near, so that no number is cut,
// and never less than that line takes. 0 is no limit.
func Clip(text string, n int) string {
	if n <= 0 || len(text) <= n+len(markOfCut) {
		return text
	}
	head, tail := text[:n*2/3], text[len(text)-n/3:]
	if end := strings.LastIndexByte(head, '\n'); end > len(head)/2 {
		head = head[:end]
	}
	if end := strings.IndexByte(tail, '\n'); end < len(tail)/2 {
		tail = tail[end+1:]
	}
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	cut := fmt.Sprintf(markOfCut, len(text)-len(head)-len(tail))
	return strings.Trim(head+"\n"+cut+"\n"+tail, "\n")
}

// Shares divides a budget among texts of the given lengths: short ones are whole and long ones get
// equal shares, each of at most most. No share is 0, which would be no limit.
func Shares(lengths []int, budget, most int) []int {
	share, each := make([]int, len(lengths)), most
	for n, length := range slices.Sorted(slices.Values(lengths)) {
		if each = min(most, budget/(len(lengths)-n)); length > each {
			break
		}
		budget -= length
	}
	for i, length := range lengths {
		share[i] = max(1, min(length, each))
	}
	return share
}

var (
	cellFrame = lazy.Regexp(`Cell In\[\d+\], `)
	// libFrame has the part of a path that is the same on every machine.
	libFrame = lazy.Regexp(`^File (?:.*/(?:site|dist)-packages/|.*/)?(.+):\d+, in (.+)`)
)

// ErrorReport returns what a debugger needs of a failed execution: the frames in the cell, frames
// in libraries by name only, and the message. A traceback through pandas is then ten lines instead
// of a hundred.
func ErrorReport(e notebook.Execution, budget int) string {
	var b strings.Builder
	if o, ok := e.Error(); ok {
		for _, frame := range o.Traceback {
			frame = cellFrame().ReplaceAllString(notebook.StripANSI(frame), "Cell, ")
			if m := libFrame().FindStringSubmatch(frame); m != nil {
				frame = fmt.Sprintf("File %s, in %s", m[1], m[2])
			}
			if strings.Trim(frame, "- \n") != "" {
				b.WriteString(strings.TrimRight(frame, " \n") + "\n")
			}
		}
		if b.Len() == 0 {
			b.WriteString(o.PlainText() + "\n")
		}
	}
	if e.Reason != "" || b.Len() == 0 {
		b.WriteString(Problem(e) + "\n")
	}
	if printed := e.Stdout(); printed != "" {
		b.WriteString("\nPrinted before the error:\n" + Clip(printed, budget/4))
	}
	return b.String()
}

// Problem returns what was wrong with an execution, in one line.
func Problem(e notebook.Execution) string {
	if e.Reason != "" {
		return e.Reason
	}
	if o, ok := e.Error(); ok {
		return Clip(OneLine(strings.TrimSuffix(o.EName+": "+o.EValue, ": ")), 300)
	}
	said := strings.TrimSpace(e.Stream("stderr"))
	if e.Status == notebook.Raised && said != "" { // IPython says so of a magic that it does not know
		return Clip(OneLine(said[strings.LastIndexByte(said, '\n')+1:]), 300)
	}
	return string(e.Status)
}

func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Python returns s as a Python string literal in one line; one of Go means the same.
func Python(s string) string { return strconv.Quote(s) }

// Packed returns a text as zlib and Base64 write it. A kernel that is sent more than about 60 kB at once
// starts a thread, and a process with threads cannot be frozen.
func Packed(text string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = io.WriteString(w, text) // to a buffer
	_ = w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}
