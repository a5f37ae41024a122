package export

import (
	"fmt"
	"strconv"
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// escape matches escape sequences: SGR, with its parameters as the group, other CSI sequences,
// and OSC and the like, such as window titles and links.
var escape = lazy.Regexp(
	`\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]`)

// terminal returns text as a terminal would show it, as HTML.
func terminal(text string) string {
	text = notebook.Overstrike(text)
	var b strings.Builder
	var p pen
	at := 0
	for _, m := range escape().FindAllStringSubmatchIndex(text, -1) {
		p.write(&b, text[at:m[0]])
		if m[2] >= 0 {
			p.set(text[m[2]:m[3]])
		}
		at = m[1]
	}
	p.write(&b, text[at:])
	return b.String()
}

// A pen is the terminal's current text style.
type pen struct {
	bold, italic, underline, inverse bool

	fg, bg color
}

// A color is "" for the terminal's default, "0" to "15" for its palette, or a CSS color.
type color string

func (p *pen) write(b *strings.Builder, text string) {
	if text = visible(text); text == "" {
		return
	}
	var classes, styles []string
	for _, c := range []struct {
		on    bool
		class string
	}{{p.bold, "ab"}, {p.italic, "ai"}, {p.underline, "au"}, {p.inverse, "av"}} {
		if c.on {
			classes = append(classes, c.class)
		}
	}
	fg, bg := p.fg, p.bg
	if p.inverse {
		fg, bg = bg, fg
	}
	for _, c := range []struct {
		of              color
		class, property string
	}{{fg, "f", "color"}, {bg, "g", "background-color"}} {
		switch {
		case strings.HasPrefix(string(c.of), "#"):
			styles = append(styles, c.property+":"+string(c.of))
		case c.of != "":
			classes = append(classes, c.class+string(c.of))
		}
	}
	if strings.HasPrefix(string(bg), "#") && fg == "" {
		styles = append(styles, "color:#1b1f24")
	}
	span(b, strings.Join(classes, " "), strings.Join(styles, ";"), text)
}

// set applies the parameters of one SGR sequence (ECMA-48).
func (p *pen) set(parameters string) {
	var codes []int
	for _, s := range strings.FieldsFunc(parameters+";",
		func(r rune) bool { return r == ';' || r == ':' }) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return
		}
		codes = append(codes, n)
	}
	if len(codes) == 0 {
		codes = []int{0}
	}
	for len(codes) > 0 {
		codes = p.obey(codes)
	}
}

// obey applies the first code and returns the remaining codes.
func (p *pen) obey(codes []int) []int {
	n, rest := codes[0], codes[1:]
	switch n {
	case 0:
		*p = pen{}
	case 1, 22:
		p.bold = n == 1
	case 3, 23:
		p.italic = n == 3
	case 4, 24:
		p.underline = n == 4
	case 7, 27:
		p.inverse = n == 7
	}
	c, bright := &p.fg, n >= 90
	if n/10 == 4 || n/10 == 10 {
		c = &p.bg
	}
	switch digit := n % 10; {
	case n < 30 || n >= 50 && !bright || n >= 108:
	case digit < 8 && bright:
		*c = numbered(digit + 8)
	case digit < 8:
		*c = numbered(digit)
	case digit == 8 && !bright:
		*c, rest = chosen(rest)
	case digit == 9 && !bright:
		*c = ""
	}
	return rest
}

func numbered(n int) color { return color(strconv.Itoa(n)) }

// chosen parses a 256-color or RGB color.
func chosen(codes []int) (color, []int) {
	switch {
	case len(codes) >= 2 && codes[0] == 5:
		return of256(codes[1] & 0xff), codes[2:]
	case len(codes) >= 4 && codes[0] == 2:
		return rgb(codes[1], codes[2], codes[3]), codes[4:]
	}
	return "", nil
}

// of256 returns one of xterm's 256 colors: 16 named ones, a cube of 6×6×6, 24 greys.
func of256(n int) color {
	if n < 16 {
		return numbered(n)
	}
	if n >= 232 {
		grey := 8 + 10*(n-232)
		return rgb(grey, grey, grey)
	}
	level := func(n int) int {
		if n == 0 {
			return 0
		}
		return 55 + 40*n
	}
	n -= 16
	return rgb(level(n/36), level(n/6%6), level(n%6))
}

func rgb(r, g, b int) color { return color(fmt.Sprintf("#%02x%02x%02x", r&0xff, g&0xff, b&0xff)) }
