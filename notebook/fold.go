package notebook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// A Fold turns the iopub messages of one execution into the outputs of a notebook cell: consecutive
// pieces of a stream become one output, a display_id updates every earlier output that has it, and
// clear_output drops what came before (messaging protocol 5.5, "Messages on the IOPub channel").
// The result is the same as nbclient's, but text after a carriage return is written over the line, as
// on a terminal.
//
// The memory use of a Fold is bounded by a small multiple of its Limits and of the longest message,
// whatever the code prints or shows. A line that begins with "[note: " replaces what is left out
// of the outputs. It says how much is missing.
//
// The zero value is ready to use; set the fields before the first Add. A Fold is not safe for
// concurrent use.
type Fold struct {
	Limits Limits

	// Secrets are texts that outputs must not show: each message has xxxxx instead.
	Secrets []string

	// Observe, if set, gets each piece as it arrives, before anything is left out: a stream output
	// with only the new text, a display or an update of one (with the same DisplayID), an error, a
	// note. It must not block or change its argument.
	Observe func(Output)

	outputs  []folded
	used     int                 // bytes of all outputs and displays
	clear    bool                // clear_output(wait=True) was seen: the next output clears
	streams  map[string]*stream  // the last output of each stream
	displays map[string]*display // the last data of each display id, shown or not
	forgot   bool                // some of these were forgotten
	beyond   int                 // number of outputs that are left out without a note of their own
}

// folded is an output under construction.
type folded struct {
	Output
	stream  *stream  // the text, if it is a stream
	display *display // the data, if it is a display or result
	note    bool     // not of the code
}

// Add adds one iopub message. It ignores types that make no output. An error means that the
// content violates the protocol and that nothing was added.
func (f *Fold) Add(msgType string, content json.RawMessage) error {
	content = f.withoutSecrets(content)
	if f.streams == nil {
		f.streams, f.displays = map[string]*stream{}, map[string]*display{}
	}
	switch msgType {
	case "stream":
		return f.addStream(content)
	case "display_data", "execute_result", "update_display_data":
		return f.addDisplay(msgType, content)
	case "error":
		o, err := ParseError(content)
		if err != nil {
			return err
		}
		f.AddError(o)
	case "clear_output":
		var c struct{ Wait bool }
		if err := decode(msgType, content, &c); err != nil {
			return err
		}
		f.clear = true
		if !c.Wait {
			f.begin()
		}
	}
	return nil
}

// withoutSecrets replaces the secrets, as JSON writes them.
func (f *Fold) withoutSecrets(content json.RawMessage) json.RawMessage {
	for _, secret := range f.Secrets {
		if written, err := json.Marshal(secret); err == nil && secret != "" {
			content = bytes.ReplaceAll(content, written[1:len(written)-1], []byte("xxxxx"))
		}
	}
	return content
}

// Note adds the line "note: " and text to the outputs, as stderr. It stays a separate output,
// counts against no limit, and is not cleared.
func (f *Fold) Note(text string) {
	o := Output{Type: Stream, Name: "stderr", Text: "note: " + text + "\n"}
	f.outputs = append(f.outputs, folded{Output: o, note: true})
	f.observe(o)
}

// Outputs returns the outputs so far, at any time. The data of displays are shared with the Fold
// and must not be changed.
func (f *Fold) Outputs() []Output {
	outputs := make([]Output, len(f.outputs), len(f.outputs)+1)
	for i, o := range f.outputs {
		outputs[i] = o.Output
		switch {
		case o.stream != nil:
			outputs[i].Text = o.stream.text()
		case o.display != nil:
			outputs[i].Data, outputs[i].Metadata = o.display.data, o.display.metadata
		}
	}
	if f.beyond > 0 {
		outputs = append(outputs, Output{Type: Stream, Name: "stderr",
			Text: fmt.Sprintf("[note: %d more outputs are left out]\n", f.beyond)})
	}
	return outputs
}

// Size returns the size of the outputs in the notebook, in bytes.
func (f *Fold) Size() int { return f.used }

// ParseError reads the content of an error message.
func ParseError(content json.RawMessage) (Output, error) {
	var c struct {
		EName, EValue string
		Traceback     []string
	}
	err := decode("error", content, &c)
	return Output{Type: ErrorOutput, EName: c.EName, EValue: c.EValue, Traceback: c.Traceback}, err
}

// AddError adds an exception, as returned by [ParseError].
func (f *Fold) AddError(o Output) {
	f.observe(o)
	f.begin()
	if len(f.outputs) >= maxOutputs {
		f.beyond++
		return
	}
	s := f.newStream()
	s.write(strings.Join(o.Traceback, "\n"))
	if size := 2 * s.half; len(o.EName)+len(o.EValue)+s.total > size { // what went wrong is visible
		o.EName, o.EValue, o.Traceback = shortLine(o.EName), shortLine(o.EValue), []string{s.text()}
	}
	f.used += len(o.EName) + len(o.EValue) + s.size()
	f.outputs = append(f.outputs, folded{Output: o})
}

// begin carries out a pending clear_output before the next output. Notes stay, and so does the last
// data of displays with an id, which earlier cells may show, as long as it leaves room for more.
func (f *Fold) begin() {
	if !f.clear {
		return
	}
	f.clear = false
	f.outputs = slices.DeleteFunc(f.outputs, func(o folded) bool { return !o.note })
	clear(f.streams)
	f.beyond, f.used = 0, 0
	for _, d := range f.displays {
		f.used += d.size
	}
	if f.used > f.Limits.filled().Cell/2 || len(f.displays) > maxOutputs/2 {
		clear(f.displays)
		f.used = 0
		if !f.forgot {
			f.Note("what this cell changed in displays of earlier cells may be incomplete")
		}
		f.forgot = true
	}
}

// isFull reports whether nothing more of any size fits.
func (f *Fold) isFull() bool {
	return f.used >= f.Limits.filled().Cell || len(f.outputs) >= maxOutputs
}

func (f *Fold) observe(o Output) {
	if f.Observe != nil {
		f.Observe(o)
	}
}

func decode(msgType string, content json.RawMessage, into any) error {
	err := unmarshal(content, into)
	if string(content) == "null" {
		err = errors.New("it is null")
	}
	if err != nil {
		return fmt.Errorf("%s message: %v", msgType, err)
	}
	return nil
}
