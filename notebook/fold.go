package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"dsstar/notebook/human"
)

// A Fold turns the iopub messages of one execution into the outputs of a notebook cell: consecutive
// pieces of a stream become one output, a display_id updates every earlier output that has it, and
// clear_output drops what came before (messaging protocol 5.5, "Messages on the IOPub channel").
// The result is the same as nbclient's.
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

	outputs []folded
	used    int  // bytes of all outputs and displays
	clear   bool // clear_output(wait=True) was seen: the next output clears

	displays map[string]*display // the last data of each display id, shown or not
	ids      int                 // number of ids so far
	held     int                 // the part of used that belongs to displays with an id
	forgot   bool                // some displays were forgotten

	late    map[string]*stream // past the limits: the last output of each stream
	notices int                // number of outputs that only say what is left out
	beyond  int                // number of outputs left out without such a notice
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
			outputs[i].DisplayID = o.display.id
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
	size := len(o.EName) + len(o.EValue)
	for _, line := range o.Traceback {
		size += len(line)
	}
	if f.fits(size) {
		f.used += size
	} else if f.notices >= maxNotices {
		f.beyond++
		return
	} else {
		f.notices++
		o = shorten(o, size)
	}
	f.outputs = append(f.outputs, folded{Output: o})
}

// shorten returns the error output o, of size bytes, with only its beginning and end. Small errors
// stay as they are, even past the limits: what went wrong must be visible.
func shorten(o Output, size int) Output {
	if size <= shortText {
		return o
	}
	traceback := []byte(strings.Join(o.Traceback, "\n"))
	head := traceback[:headEnd(traceback, shortText/2)]
	rest := traceback[len(head):]
	tail := rest[tailStart(rest, shortText/2):]
	note := fmt.Sprintf("[note: an error of %s is shortened here]", human.Bytes(int64(size)))
	return Output{
		Type: ErrorOutput, EName: shortLine(o.EName), EValue: shortLine(o.EValue),
		Traceback: []string{strings.TrimSuffix(string(head), "\n"), note, string(tail)},
	}
}

// begin carries out a pending clear_output before the next output. Notes stay, and so does the last
// data of displays with an id, which earlier cells may show.
func (f *Fold) begin() {
	if !f.clear {
		return
	}
	f.clear = false
	var notes []folded
	for _, o := range f.outputs {
		switch {
		case o.note:
			notes = append(notes, o)
		case o.display != nil:
			o.display.shown = false
		}
	}
	f.outputs, f.used = notes, f.held
	f.late, f.notices, f.beyond = nil, 0, 0
}

// fits reports whether the outputs have room for one more of size bytes.
func (f *Fold) fits(size int) bool {
	l := f.Limits.filled()
	return size <= l.Data && f.used+size <= l.Cell && len(f.outputs) < maxOutputs
}

func (f *Fold) observe(o Output) {
	if f.Observe != nil {
		f.Observe(o)
	}
}

func decode(msgType string, content json.RawMessage, into any) error {
	err := json.Unmarshal(content, into)
	if string(content) == "null" {
		err = errors.New("it is null")
	}
	if err != nil {
		return fmt.Errorf("%s message: %v", msgType, err)
	}
	return nil
}
