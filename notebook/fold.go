package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A Fold turns the iopub messages of one execution into the outputs that a
// notebook keeps: neighbouring pieces of one stream become one output, a display
// with a display_id changes every earlier output that has it, clear_output
// forgets what came before (messaging protocol 5.5, "Messages on the IOPub
// channel"). The zero value is ready to use. It is not safe for concurrent use.
type Fold struct {
	outputs []folded
	clear   bool // clear_output(wait=True) was seen: the next output clears
}

// folded is an output under construction.
type folded struct {
	Output
	text      *strings.Builder // a stream's text, so that a flood is not quadratic
	displayID string
}

// Add takes one iopub message by its type and content; message types that make
// no output are ignored. An error means that the content is not what the
// protocol says, and that nothing was added.
func (f *Fold) Add(msgType string, content json.RawMessage) error {
	switch msgType {
	case "stream":
		return f.addStream(content)
	case "display_data", "execute_result", "update_display_data":
		return f.addDisplay(msgType, content)
	case "error":
		return f.addError(content)
	case "clear_output":
		var c struct{ Wait bool }
		if err := decode(msgType, content, &c); err != nil {
			return err
		}
		if c.Wait {
			f.clear = true
		} else {
			f.outputs, f.clear = nil, false
		}
	}
	return nil
}

// Outputs returns the outputs so far.
func (f *Fold) Outputs() []Output {
	outputs := make([]Output, len(f.outputs))
	for i, o := range f.outputs {
		outputs[i] = o.Output
		if o.text != nil {
			outputs[i].Text = overstrike(o.text.String())
		}
	}
	return outputs
}

func (f *Fold) addStream(content json.RawMessage) error {
	var c struct{ Name, Text string }
	if err := decode("stream", content, &c); err != nil {
		return err
	}
	if n := len(f.outputs); n > 0 && !f.clear && f.outputs[n-1].Type == Stream && f.outputs[n-1].Name == c.Name {
		f.outputs[n-1].text.WriteString(c.Text)
		return nil
	}
	o := folded{Output: Output{Type: Stream, Name: c.Name}, text: &strings.Builder{}}
	o.text.WriteString(c.Text)
	f.push(o)
	return nil
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
	data, displayID := joinBundle(c.Data), c.Transient.DisplayID
	if displayID != "" {
		for i := range f.outputs {
			if o := &f.outputs[i]; o.displayID == displayID {
				o.Data, o.Metadata = data, c.Metadata
			}
		}
	}
	if msgType == "update_display_data" {
		return nil
	}
	f.push(folded{displayID: displayID, Output: Output{
		Type: OutputType(msgType), Data: data, Metadata: c.Metadata, ExecutionCount: c.ExecutionCount,
	}})
	return nil
}

func (f *Fold) addError(content json.RawMessage) error {
	var c struct {
		EName, EValue string
		Traceback     []string
	}
	if err := decode("error", content, &c); err != nil {
		return err
	}
	f.push(folded{Output: Output{Type: ErrorOutput, EName: c.EName, EValue: c.EValue, Traceback: c.Traceback}})
	return nil
}

func (f *Fold) push(o folded) {
	if f.clear {
		f.outputs, f.clear = nil, false
	}
	f.outputs = append(f.outputs, o)
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

var rewritten = regexp.MustCompile("[^\n]*\r+([^\r\n])")

// overstrike shows text as a terminal would after backspaces and carriage
// returns, so that a progress bar leaves its last state and not all of them.
func overstrike(text string) string {
	if strings.Contains(text, "\b") {
		text = erase(text)
	}
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		text = rewritten.ReplaceAllString(text, "$1")
	}
	return text
}

// erase carries out the backspaces, none of which goes back over a line break.
func erase(text string) string {
	var kept []rune
	for _, r := range text {
		if r != '\b' {
			kept = append(kept, r)
		} else if n := len(kept); n > 0 && kept[n-1] != '\n' {
			kept = kept[:n-1]
		}
	}
	return string(kept)
}
