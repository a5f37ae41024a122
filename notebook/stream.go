package notebook

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

// A stream is a text of which, past a limit, only the beginning and the end are kept.
type stream struct {
	half  int    // half of the limit
	cut   bool   // text between head and tail was dropped
	head  string // the beginning, if cut
	tail  []byte // the end if cut, otherwise all
	total int    // bytes received
}

func (f *Fold) addStream(content json.RawMessage) error {
	var c struct{ Name, Text string }
	if err := decode("stream", content, &c); err != nil {
		return err
	}
	f.observe(Output{Type: Stream, Name: c.Name, Text: c.Text})
	f.begin()
	if c.Name != "stdout" { // the protocol has two
		c.Name = "stderr"
	}
	s := f.streamFor(c.Name)
	f.used -= s.size()
	s.write(c.Text)
	f.used += s.size()
	return nil
}

// streamFor returns the stream that gets the next text: the last output if it has that name,
// otherwise a new one. Past the limits it is the last one of that name.
func (f *Fold) streamFor(name string) *stream {
	s, n := f.streams[name], len(f.outputs)
	if s != nil && (f.outputs[n-1].stream == s || f.isFull()) {
		return s
	}
	s = f.newStream()
	f.streams[name] = s
	f.outputs = append(f.outputs, folded{Output: Output{Type: Stream, Name: name}, stream: s})
	return s
}

// newStream returns a stream with the room that is left, and a little past the limits: the answer
// may be printed last.
func (f *Fold) newStream() *stream {
	l := f.Limits.filled()
	room := min(l.Stream, max(l.Cell-f.used, shortText))
	return &stream{half: max(room/2, utf8.UTFMax)}
}

func (s *stream) size() int { return len(s.head) + len(s.tail) }

// write adds text. At one and a half times the limit it drops what was overwritten, and then what
// is between the ends.
func (s *stream) write(text string) {
	s.total += len(text)
	s.tail = append(s.tail, text...)
	if s.size() <= 3*s.half {
		return
	}
	kept := overstrike(string(s.tail), false)
	if !s.cut && len(kept) > 2*s.half {
		s.cut, s.head = true, head(kept, s.half)
	}
	if s.cut {
		kept = strings.ToValidUTF8(kept[max(len(kept)-s.half, 0):], "")
	}
	s.tail = []byte(kept)
}

// text returns what the notebook shows.
func (s *stream) text() string {
	all, begin := Overstrike(string(s.tail)), s.head
	if !s.cut && len(all) <= 2*s.half {
		return all
	}
	if !s.cut {
		begin = head(all, s.half)
	}
	end := tail(all, s.half)
	left := s.total - len(begin) - len(end)
	if begin != "" && !strings.HasSuffix(begin, "\n") {
		begin += "\n"
	}
	return fmt.Sprintf("%s[note: %s of %s are left out here]\n%s", begin, human.Bytes(int64(left)),
		human.Bytes(int64(s.total)), end)
}

// Overstrike applies the backspaces and carriage returns of text as a terminal does. Only the last
// state of a progress bar remains.
func Overstrike(text string) string { return overstrike(text, true) }

// overstrike is [Overstrike]. If the last line may go on, it becomes what it shows, a carriage
// return and what has been written over it so far.
func overstrike(text string, ends bool) string {
	if !strings.ContainsAny(text, "\r\b") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, isWhole := strings.CutSuffix(line, "\n")
		parts := lists.Map(strings.Split(line, "\r"), withoutBackspaces)
		end := len(parts)
		if last := parts[end-1]; end > 1 && (last == "" || !isWhole && !ends) {
			end--
		}
		b.WriteString(overlaid(parts[:end]))
		if end < len(parts) {
			b.WriteString("\r" + parts[end])
		}
		if isWhole {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// withoutBackspaces removes backspaces, and for each one a character before it.
func withoutBackspaces(text string) string {
	if !strings.Contains(text, "\b") {
		return text
	}
	var kept []byte
	for i, part := range strings.Split(text, "\b") {
		if i > 0 {
			_, n := utf8.DecodeLastRune(kept)
			kept = kept[:len(kept)-n]
		}
		kept = append(kept, part...)
	}
	return string(kept)
}

// overlaid returns what a terminal shows of texts that are written over each other. One with escape
// sequences replaces those before it, because it may erase them, and is replaced by the next.
func overlaid(texts []string) string {
	var shown []rune
	own, wasStyled := 0, false // own: the characters of the last text
	for _, text := range texts {
		if text == "" {
			continue
		}
		isStyled := strings.Contains(text, "\x1b")
		if isStyled || wasStyled {
			shown = nil
		}
		chars := []rune(text)
		shown = append(shown, chars[copy(shown, chars):]...)
		own, wasStyled = len(chars), isStyled
	}
	return string(shown[:own]) + strings.TrimRight(string(shown[own:]), " ")
}

// head returns at most n bytes of the beginning of a text: whole lines if there is a line break
// near the end, otherwise whole characters.
func head(text string, n int) string {
	if n >= len(text) {
		return text
	}
	if i := strings.LastIndexByte(text[n/2:n], '\n'); i >= 0 {
		return text[:n/2+i+1]
	}
	return strings.ToValidUTF8(text[:n], "")
}

// tail returns at most n bytes of the end of a text.
func tail(text string, n int) string {
	text = text[max(len(text)-n, 0):]
	if i := strings.IndexByte(text[:len(text)/2], '\n'); i >= 0 {
		return text[i+1:]
	}
	return strings.ToValidUTF8(text, "")
}

// shortLine returns the beginning of a text as one line.
func shortLine(text string) string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if short := head(line, maxLine); short != line {
		return short + "…"
	}
	return line
}
