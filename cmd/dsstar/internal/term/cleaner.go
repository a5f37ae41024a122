package term

import "strings"

// A Cleaner takes out of what cells put out everything that would do more to a
// terminal than show text: all escape sequences but, if wanted, those of colours.
type Cleaner struct {
	Colours  bool // of the escape sequences those of colours are kept
	Moves    bool // so are those of a live view: up, and clearing what is there
	Still    bool // so is nothing that goes back on the line
	coloured bool // a colour is on
	state    cleanState
	params   []rune // of the sequence under way
}

// Reset ends an escape sequence that was begun, and returns what ends a colour that is on.
func (c *Cleaner) Reset() string {
	c.state = plain
	if !c.coloured {
		return ""
	}
	c.coloured = false
	return "\x1b[0m"
}

type cleanState int

const (
	plain    cleanState = iota
	escape              // after ESC
	sequence            // after ESC [
	command             // after ESC ] and the like: text until BEL or ESC \
)

// Text returns what is left of a piece; a sequence may be cut by its end.
func (c *Cleaner) Text(piece string) string {
	var b strings.Builder
	for _, r := range piece {
		c.add(&b, r)
	}
	return b.String()
}

func (c *Cleaner) add(b *strings.Builder, r rune) {
	switch {
	case r == 0x1b:
		c.state, c.params = escape, c.params[:0]
	case c.state == escape && r == '[' || c.state == plain && r == 0x9b:
		c.state, c.params = sequence, c.params[:0]
	case c.state == escape && strings.ContainsRune("]PX^_", r) || c.state == plain && (r == 0x90 || r == 0x98 || 0x9d <= r && r <= 0x9f):
		c.state = command
	case c.state == escape && ' ' <= r && r <= '/': // one more character comes
	case c.state == escape:
		c.state = plain
	case c.state == command:
		if r == 7 || r == 0x9c || r == '\n' {
			c.state = plain
		}
	case c.state == sequence:
		c.param(b, r)
	case r == '\r' || r == '\b':
		if !c.Still {
			b.WriteRune(r)
		}
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f || r >= 0xa0 && !Turns(r):
		b.WriteRune(r)
	}
}

// param takes one character of a sequence.
func (c *Cleaner) param(b *strings.Builder, r rune) {
	if r >= ' ' && r <= '?' && len(c.params) < 64 {
		c.params = append(c.params, r)
		return
	}
	c.state = plain
	params := string(c.params)
	if r == 'm' && c.Colours && strings.Trim(params, "0123456789;:") == "" {
		b.WriteString("\x1b[" + params + "m")
		c.coloured = strings.Trim(params, "0") != ""
	}
	if (r == 'A' || r == 'J' || r == 'K') && c.Moves && strings.Trim(params, "0123456789") == "" {
		b.WriteString("\x1b[" + params + string(r))
	}
}

// Printed is text on one line, without anything but text.
func Printed(text string) string {
	c := Cleaner{}
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\r', '\b':
			return ' '
		}
		return r
	}, c.Text(text))
}
