package export

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// escape matches escape sequences: SGR, with its parameters as the group, other CSI sequences,
// and OSC and the like, such as window titles and links.
var escape = lazy.Regexp(`\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|` +
	`\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]`)

// terminal returns text as a terminal would show it, as HTML.
func terminal(text string) string {
	text = notebook.Overstrike(text)
	var b strings.Builder
	p := pen{}
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

// A pen is the terminal's current text style: a class of page.css or a colour ("#123456") by what
// it sets: 'f' the colour of text, 'g' that of the ground, and 1, 3, 4 and 7 as in SGR.
type pen map[rune]string

func (p pen) write(b *strings.Builder, text string) {
	if text = visible(text); text == "" {
		return
	}
	var classes, styles []string
	for _, of := range slices.Sorted(maps.Keys(p)) {
		switch value := p[of]; {
		case value[0] != '#':
			classes = append(classes, value)
		case of == 'f':
			styles = append(styles, "color:"+value)
		default:
			styles = append(styles, "background-color:"+value)
			if p['f'] == "" {
				styles = append(styles, "color:#1b1f24")
			}
		}
	}
	span(b, strings.Join(classes, " "), strings.Join(styles, ";"), text)
}

// set applies the parameters of one SGR sequence (ECMA-48).
func (p pen) set(parameters string) {
	var codes []int
	for s := range strings.FieldsSeq(strings.NewReplacer(";", " ", ":", " ").Replace(parameters)) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return
		}
		codes = append(codes, n)
	}
	if len(codes) == 0 {
		clear(p)
	}
	for len(codes) > 0 {
		codes = p.obey(codes[0], codes[1:])
	}
}

// obey applies a code and returns the remaining codes.
func (p pen) obey(n int, rest []int) []int {
	of, digit := 'f', n%10
	if n/10 == 4 || n/10 == 10 {
		of = 'g'
	}
	switch {
	case n == 0:
		clear(p)
	case n == 1 || n == 3 || n == 4 || n == 7:
		p[rune('0'+n)] = map[int]string{1: "ab", 3: "ai", 4: "au", 7: "av"}[n]
	case n == 22:
		delete(p, '1')
	case n == 23 || n == 24 || n == 27:
		delete(p, rune('0'+n-20))
	case n < 30 || n >= 50 && n < 90 || n >= 108:
	case digit == 9 && n < 50:
		delete(p, of)
	case digit == 8 && n < 50 && len(rest) >= 2 && rest[0] == 5:
		p[of] = of256(of, rest[1]&0xff)
		return rest[2:]
	case digit == 8 && n < 50 && len(rest) >= 4 && rest[0] == 2:
		p[of] = rgb(rest[1], rest[2], rest[3])
		return rest[4:]
	case digit == 8:
		return nil
	default:
		p[of] = fmt.Sprintf("%c%d", of, digit+8*(n/90))
	}
	return rest
}

// of256 returns one of xterm's 256 colours: 16 named ones, a cube of 6×6×6, 24 greys.
func of256(of rune, n int) string {
	level := func(n int) int { return min(n, 1)*55 + 40*n }
	switch {
	case n < 16:
		return fmt.Sprintf("%c%d", of, n)
	case n >= 232:
		grey := 8 + 10*(n-232)
		return rgb(grey, grey, grey)
	}
	n -= 16
	return rgb(level(n/36), level(n/6%6), level(n%6))
}

func rgb(r, g, b int) string { return fmt.Sprintf("#%02x%02x%02x", r&0xff, g&0xff, b&0xff) }
