package notebook

import (
	"cmp"
	"strings"
	"unicode"
)

// Limits limit the outputs of a cell in the notebook, in bytes. A zero field means the one of
// [DefaultLimits]. Data counts as encoded in messages: pictures in base64. Past Cell, streams and
// errors still get a few KiB, and the notes that replace displays do not count.
type Limits struct {
	Stream int // text of one stream output or traceback; of longer text, the beginning and end stay
	Data   int // one display or result, all its MIME types together
	Cell   int // everything of one execution
}

// DefaultLimits are the limits of a Fold that sets none.
var DefaultLimits = Limits{Stream: 1 << 20, Data: 16 << 20, Cell: 64 << 20}

// Fixed limits, far beyond what a person reads.
const (
	maxOutputs = 10_000  // outputs; further ones are only counted
	shortText  = 8 << 10 // bytes of a stream or an error past Limits.Cell
	maxLine    = 250     // bytes of a name in a note
)

// filled returns l with zeros replaced by the defaults.
func (l Limits) filled() Limits {
	d := DefaultLimits
	return Limits{cmp.Or(l.Stream, d.Stream), cmp.Or(l.Data, d.Data), cmp.Or(l.Cell, d.Cell)}
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
