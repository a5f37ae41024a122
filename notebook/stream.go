package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"dsstar/notebook/human"
)

// A stream is the text of one stream output. Beyond one and a half times its limit, overwritten
// text is dropped; if that does not suffice, only the beginning and the end are kept.
type stream struct {
	half  int    // half of the limit
	cut   bool   // text between head and tail was dropped
	head  []byte // the beginning, if cut
	tail  []byte // the end if cut, otherwise all
	total int64  // bytes received
	late  bool   // it was returned by lateStream, and gets all further text
}

func (f *Fold) addStream(content json.RawMessage) error {
	var c struct{ Name, Text string }
	if err := decode("stream", content, &c); err != nil {
		return err
	}
	f.observe(Output{Type: Stream, Name: c.Name, Text: c.Text})
	f.begin()
	s := f.streamFor(c.Name, len(c.Text))
	f.used -= s.size()
	s.write(c.Text)
	f.used += s.size()
	return nil
}

// streamFor returns the stream for n bytes of text: the last output if it has that name, otherwise
// a new one. Even past the limits there is a little room, because the answer may be printed last.
func (f *Fold) streamFor(name string, n int) *stream {
	if i := len(f.outputs) - 1; i >= 0 && f.outputs[i].stream != nil && f.outputs[i].Name == name {
		return f.outputs[i].stream
	}
	l := f.Limits.filled()
	little, left := min(l.Stream, shortText), l.Cell-f.used
	room := max(min(l.Stream, left), little)
	if f.late != nil || len(f.outputs) >= maxOutputs || len(name) > maxName || left < min(n, little) {
		return f.lateStream(name, room)
	}
	return f.newStream(name, room)
}

// lateStream returns the stream output that gets all further text past the limits. There are at
// most two: for stdout, and for all other streams.
func (f *Fold) lateStream(name string, room int) *stream {
	if name != "stdout" {
		name = "stderr"
	}
	if s := f.late[name]; s != nil {
		return s
	}
	if f.late == nil {
		f.late = map[string]*stream{}
	}
	s := f.newStream(name, room)
	s.late, f.late[name] = true, s
	return s
}

func (f *Fold) newStream(name string, limit int) *stream {
	s := &stream{half: max(limit/2, utf8.UTFMax)}
	f.outputs = append(f.outputs, folded{Output: Output{Type: Stream, Name: name}, stream: s})
	return s
}

func (s *stream) write(text string) {
	s.total += int64(len(text))
	for {
		n := min(3*s.half-s.size(), len(text))
		s.tail = append(s.tail, text[:n]...)
		if text = text[n:]; text == "" {
			return
		}
		s.settle()
	}
}

// settle shortens the text by at least a third, if possible.
func (s *stream) settle() {
	s.tail = overstrike(s.tail)
	if !s.cut && len(s.tail) <= 2*s.half {
		return
	}
	if !s.cut {
		s.cut, s.head = true, bytes.Clone(s.tail[:headEnd(s.tail, s.half)])
	}
	if n := len(s.tail) - s.half; n > 0 {
		s.tail = append(s.tail[:0], s.tail[n:]...)
	}
}

func (s *stream) size() int { return len(s.head) + len(s.tail) }

// ends returns the beginning and the end of what the notebook shows, and whether
// something between them is left out.
func (s *stream) ends() (head, tail []byte, leftOut bool) {
	head, tail = s.head, overstrike(bytes.Clone(s.tail))
	if !s.cut && len(tail) <= 2*s.half {
		return nil, tail, false
	}
	if !s.cut {
		head = tail[:headEnd(tail, s.half)]
	}
	return head, tail[tailStart(tail, s.half):], true
}

// text returns what the notebook shows.
func (s *stream) text() string {
	head, tail, leftOut := s.ends()
	if !leftOut {
		return string(tail)
	}
	var b strings.Builder
	b.Write(head)
	if n := len(head); n > 0 && head[n-1] != '\n' {
		b.WriteByte('\n')
	}
	left := s.total - int64(len(head)+len(tail))
	fmt.Fprintf(&b, "[note: %s of %s are left out here]\n", human.Bytes(left), human.Bytes(s.total))
	b.Write(tail)
	return b.String()
}

// Overstrike applies the backspaces and carriage returns of text as a terminal does. Only the last
// state of a progress bar remains.
func Overstrike(text string) string { return string(overstrike([]byte(text))) }

// overstrike applies backspaces and carriage returns in place: text after a carriage return
// replaces the line, as in nbclient's coalesce_streams, and a backspace removes one character of
// it. Text may come in pieces, each appended to the result of the last call.
func overstrike(text []byte) []byte {
	from := bytes.IndexByte(text, '\r')
	if i := bytes.IndexByte(text, '\b'); i >= 0 && (from < 0 || i < from) {
		from = i
	}
	if from < 0 {
		return text
	}
	kept, line := text[:from], bytes.LastIndexByte(text[:from], '\n')+1
	returned := false // the line ends with a carriage return
	for _, c := range text[from:] {
		switch {
		case c == '\b':
			if !returned && len(kept) > line {
				_, n := utf8.DecodeLastRune(kept[line:])
				kept = kept[:len(kept)-n]
			}
			continue
		case c == '\n':
			if returned {
				kept = append(kept, '\r')
			}
			line, returned = len(kept)+1, false
		case returned:
			kept, returned = kept[:line], false
		}
		if c == '\r' {
			returned = true
		} else {
			kept = append(kept, c)
		}
	}
	if returned {
		kept = append(kept, '\r')
	}
	return kept
}

// headEnd returns where to cut text so that at most n bytes come before: after a line break if one
// is near, otherwise between two characters.
func headEnd(text []byte, n int) int {
	if n >= len(text) {
		return len(text)
	}
	if i := bytes.LastIndexByte(text[n/2:n], '\n'); i >= 0 {
		return n/2 + i + 1
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// tailStart returns where to cut text so that at most n bytes come after it.
func tailStart(text []byte, n int) int {
	start := max(len(text)-n, 0)
	if i := bytes.IndexByte(text[start:start+min(n, len(text))/2], '\n'); i >= 0 {
		return start + i + 1
	}
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return start
}
