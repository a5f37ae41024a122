package notebook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/notebook/human"
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

// A display is the content of all outputs with the same display_id, or of one output without an id.
type display struct {
	data     MIMEBundle
	metadata map[string]any
	size     int // bytes that count against Limits.Cell
}

// Redisplay gives every output with update's DisplayID the data and metadata of update, as a front
// end does for all cells of a notebook. It reports whether there was such an output.
func Redisplay(outputs []Output, update Output) bool {
	found := false
	for i := range outputs {
		if o := &outputs[i]; update.DisplayID != "" && o.DisplayID == update.DisplayID {
			o.Data, o.Metadata, found = update.Data, update.Metadata, true
		}
	}
	return found
}

// Updates returns the last data of each display_id of this execution as display data. Outputs of
// earlier executions may have the same ids; [Redisplay] updates those. clear_output does not affect
// Updates.
func (f *Fold) Updates() (updates []Output) {
	for _, id := range slices.Sorted(maps.Keys(f.displays)) {
		d := f.displays[id]
		updates = append(updates,
			Output{Type: DisplayData, Data: d.data, Metadata: d.metadata, DisplayID: id})
	}
	return updates
}

func (f *Fold) addDisplay(msgType string, content json.RawMessage) error {
	var c struct {
		Data           map[string]any
		Metadata       map[string]any
		ExecutionCount int `json:"execution_count"`
		Transient      struct {
			DisplayID string `json:"display_id"`
		}
	}
	if err := decode(msgType, content, &c); err != nil {
		return err
	}
	isUpdate := msgType == "update_display_data"
	if isUpdate && c.Transient.DisplayID == "" {
		return nil
	}
	o := Output{Type: OutputType(msgType), ExecutionCount: c.ExecutionCount, Metadata: c.Metadata,
		Data: joinBundle(c.Data), DisplayID: c.Transient.DisplayID}
	if isUpdate {
		o.Type = DisplayData
	} else {
		f.begin()
	}
	f.observe(o)
	d := f.display(o.DisplayID)
	if d == nil || !isUpdate && len(f.outputs) >= maxOutputs {
		f.beyond++
		return nil
	}
	f.used -= d.size
	if l, size := f.Limits.filled(), len(content); size > l.Data || f.used+size > l.Cell {
		d.data, d.metadata, d.size = MIMEBundle{"text/plain": leftOut(o, size)}, nil, 0
	} else {
		d.data, d.metadata, d.size = Inert(o.Data), o.Metadata, size
	}
	f.used += d.size
	if !isUpdate {
		o.Data, o.Metadata = nil, nil
		f.outputs = append(f.outputs, folded{Output: o, display: d})
	}
	return nil
}

// display returns the display with an id, a new one if there is none, or nil if there are too many.
func (f *Fold) display(id string) *display {
	if id == "" {
		return &display{}
	}
	d := f.displays[id]
	if d == nil && len(f.displays) < maxOutputs {
		d = &display{}
		f.displays[id] = d
	}
	return d
}

// leftOut returns the note in place of an output of that size, with the MIME types of its data.
func leftOut(o Output, size int) string {
	what := map[OutputType]string{DisplayData: "display", ExecuteResult: "result"}[o.Type]
	types := strings.Join(slices.Sorted(maps.Keys(o.Data)), ", ")
	return fmt.Sprintf("[note: a %s of %s is left out here: %s]", what, human.Bytes(int64(size)),
		shortLine(types))
}
