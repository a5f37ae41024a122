package notebook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"dsstar/notebook"
)

// foldKinds are the message types that FuzzFold tells by the first byte of a line.
var foldKinds = map[byte]string{
	's': "stream", 'd': "display_data", 'r': "execute_result", 'u': "update_display_data", 'e': "error", 'c': "clear_output",
}

// script is the input of FuzzFold for messages: a line for each.
func script(messages []message) string {
	var b strings.Builder
	for _, m := range messages {
		for c, kind := range foldKinds {
			if kind == m.kind {
				b.WriteString(string(c) + m.content + "\n")
			}
		}
	}
	return b.String()
}

// FuzzFold folds messages under small limits: n is added to each of them. A line
// that begins with "n" is a note; one that begins with "=" prints much.
func FuzzFold(f *testing.F) {
	for i, test := range foldTests {
		f.Add(script(test.messages), uint8(i))
	}
	for i, test := range sessions {
		f.Add(script(test.cells[len(test.cells)-1]), uint8(i))
	}
	figure := picture(300, "1")
	f.Add(
		script([]message{figure, figure, stdout(numbered(20)), stderr(numbered(20)), clearNext, figure}),
		uint8(3),
	)
	f.Add("=\nnnote\n=\n", uint8(100))
	f.Fuzz(func(t *testing.T, script string, n uint8) {
		limits := notebook.Limits{Stream: 10 + int(n), Data: 20 + int(n), Cell: 100 + int(n)}
		fold := notebook.Fold{Limits: limits}
		for _, line := range strings.Split(script, "\n") {
			addLine(t, &fold, line)
		}
		outputs := fold.Outputs()
		checkBounds(t, outputs, limits)
		checkBounds(t, fold.Updates(), limits)
		first := encode(t, &notebook.Notebook{Cells: []notebook.Cell{code("", outputs...)}})
		if read, err := notebook.Read(strings.NewReader(first)); err != nil {
			t.Errorf("%v\n%s", err, first)
		} else if again := encode(t, read); again != first {
			t.Errorf("an encoding changes:\n%s\n%s", first, again)
		}
	})
}

func addLine(t *testing.T, fold *notebook.Fold, line string) {
	if line == "" {
		return
	}
	switch {
	case line[0] == 'n':
		fold.Note(line[1:])
	case line[0] == '=':
		for range 20 {
			add(t, fold, stdout("some lines\nof text\n"), stderr(line+"\r"))
		}
	default:
		_ = fold.Add(foldKinds[line[0]], json.RawMessage(line[1:])) // it may well be refused
	}
}

// checkBounds checks that outputs do not exceed the limits by much: only by the
// notices about what is left out, by the last outputs of streams, and by displays
// with the same id, which share their data.
func checkBounds(t *testing.T, outputs []notebook.Output, limits notebook.Limits) {
	const line = 1000
	total, seen := 0, map[string]bool{}
	for _, o := range outputs {
		if strings.HasPrefix(o.Text, "note: ") { // a note may be of any length
			continue
		}
		n := len(o.Text)
		if n > max(limits.Stream, 8)+line {
			t.Errorf("a stream has %d bytes", n)
		}
		if !utf8.ValidString(o.Text) {
			t.Errorf("text is cut within a character: %q", o.Text)
		}
		if o.Type != notebook.Stream && (o.DisplayID == "" || !seen[o.DisplayID]) {
			seen[o.DisplayID] = true
			data, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			n = max(len(data)-line, 0) / 6 // an escape takes up to six bytes
		}
		total += min(n, max(n-line, 0))
	}
	if total > limits.Cell+4*max(limits.Stream, 8) {
		t.Errorf("all outputs have %d bytes", total)
	}
}
