package notebook

import (
	"cmp"
	"strings"
	"unicode"
)

// Limits limit the outputs of a cell in the notebook, in bytes. A zero field means the one of
// [DefaultLimits]. Data counts as encoded in messages: pictures in base64. Past Cell, streams and
// errors still get a few KiB, and the notices that replace outputs do not count.
type Limits struct {
	Stream int // text of one stream output; of longer text, only the beginning and end stay
	Data   int // one display, result or error, all its MIME types together
	Cell   int // everything of one execution
}

// DefaultLimits are the limits of a Fold that sets none.
var DefaultLimits = Limits{Stream: 1 << 20, Data: 16 << 20, Cell: 64 << 20}

// Fixed limits, far beyond what a person reads, on small outputs and on notices.
const (
	maxOutputs = 100_000 // outputs; further ones are left out as if past Limits.Cell
	maxNotices = 10_000  // left-out outputs with their own notice; further ones are only counted
	shortText  = 8 << 10 // bytes of an error, or of the last output of a stream, past Limits.Cell
	maxName    = 100     // bytes of a stream's name
)

// filled returns l with zeros replaced by the defaults.
func (l Limits) filled() Limits {
	d := DefaultLimits
	return Limits{cmp.Or(l.Stream, d.Stream), cmp.Or(l.Data, d.Data), cmp.Or(l.Cell, d.Cell)}
}

// shortLine returns text as one line of at most about 300 bytes.
func shortLine(text string) string {
	short := text[:headEnd([]byte(text[:min(len(text), 300)]), 250)]
	short = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, short), "")
	if len(short) < len(text) {
		short += "…"
	}
	return short
}
