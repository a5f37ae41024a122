package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"dsstar/notebook/human"
)

// A Fold turns the iopub messages of one execution into the outputs of a notebook cell: consecutive
// pieces of a stream become one output, a display_id updates every earlier output that has it, and
// clear_output drops what came before (messaging protocol 5.5, "Messages on the IOPub channel").
// The result is the same as nbclient's.
//
// A Fold takes a small multiple of its Limits and of the longest message in memory, whatever the
// code prints or shows. Whatever is left out of the outputs is replaced by a line that begins with
// "[dsstar: " and says how much is missing and which file has it.
//
// The zero value is ready to use; set the fields before the first Add. Close a Fold that has a
// Folder. A Fold is not safe for concurrent use.
type Fold struct {
	Limits  Limits
	Prefix  string // of the names of the files for what is left out, such as "cell-3"
	ShownAs string // how a reader of the notebook finds their folder, such as "files/outputs"

	// Folder opens the folder for the full text of what is left out. It is called when it is first
	// needed, and Close closes the folder. nil: nothing is kept.
	Folder func() (*os.Root, error)

	// Observe gets each piece as it arrives and before anything is left out: a stream output with only
	// the new text, a display or an update of one (with the same DisplayID), an error, a note. It must
	// not block or change its argument. It may be nil.
	Observe func(Output)

	outputs []folded
	used    int  // bytes of all outputs and displays
	clear   bool // clear_output(wait=True) was seen: the next output clears

	displays map[string]*display // the last data of each display id, shown or not
	ids      int                 // how many ids there were
	held     int                 // the part of used that belongs to displays
	// what no output shows, to be forgotten first; some may be shown again
	hidden []*display
	forgot bool // some were forgotten

	late    map[string]*stream // past the limits: the one output of each stream that is left
	notices int                // outputs that only say what is left out
	beyond  int                // outputs of which there is not even that

	root    *os.Root       // what Folder gave; nil before and after
	written int64          // bytes in files
	names   map[string]int // how often a name for a file was given out
}

// folded is an output under construction.
type folded struct {
	Output
	stream  *stream  // of a stream: its text
	display *display // of a display or result: its data
	note    bool     // our own words
}

// Add adds one iopub message. Types that make no output are ignored. An error means that the
// content violates the protocol; then nothing was added.
func (f *Fold) Add(msgType string, content json.RawMessage) error {
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

// Note adds the line "dsstar: " and text to the outputs, as stderr. It stays a separate output,
// counts against no limit, and is not cleared.
func (f *Fold) Note(text string) {
	o := Output{Type: Stream, Name: "stderr", Text: "dsstar: " + text + "\n"}
	f.finishLast()
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
			Text: fmt.Sprintf("[dsstar: %d more outputs are left out and not kept]\n", f.beyond)})
	}
	return outputs
}

// Size returns the size in bytes of the outputs in the notebook, and of those in files.
func (f *Fold) Size() (outputs int, files int64) { return f.used, f.written }

// Close closes the files, and removes those that turned out not to be needed. After an error a file
// may lack its end, which the output that names it says too. Outputs still works after Close, and
// Close may be called again.
func (f *Fold) Close() error {
	var errs []error
	for _, o := range f.outputs {
		if o.stream != nil {
			errs = append(errs, o.stream.finish())
		}
	}
	if f.root != nil {
		_ = f.root.Close() // it was only looked up in
		f.root = nil
	}
	return errors.Join(errs...)
}

// ParseError reads the content of an error message.
func ParseError(content json.RawMessage) (Output, error) {
	var c struct {
		EName, EValue string
		Traceback     []string
	}
	err := decode("error", content, &c)
	return Output{Type: ErrorOutput, EName: c.EName, EValue: c.EValue, Traceback: c.Traceback}, err
}

// AddError adds an exception, as [ParseError] gives it.
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
		o = f.shorten(o, size)
	}
	f.push(folded{Output: o})
}

// shorten returns the error output o, of size bytes, with only its beginning and end; a file gets
// all of it. Small errors stay as they are, even past the limits: what went wrong must be visible.
func (f *Fold) shorten(o Output, size int) Output {
	if size <= shortText {
		return o
	}
	traceback := []byte(strings.Join(o.Traceback, "\n"))
	kept := f.file("error", ".txt")
	kept.write(o.EName + ": " + o.EValue + "\n")
	kept.write(string(traceback) + "\n")
	_ = kept.close() // the note tells of the error

	head := traceback[:headEnd(traceback, shortText/2)]
	rest := traceback[len(head):]
	tail := rest[tailStart(rest, shortText/2):]
	note := fmt.Sprintf("[dsstar: an error of %s is shortened here; %s]", human.Bytes(int64(size)),
		kept.where("all of it"))
	return Output{
		Type: ErrorOutput, EName: shortLine(o.EName), EValue: shortLine(o.EValue),
		Traceback: []string{strings.TrimSuffix(string(head), "\n"), note, string(tail)},
	}
}

// begin carries out a pending clear_output before the next output. Notes stay, and so do the last
// data of displays with an id, which earlier cells may show. The files of all else are removed.
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
		case o.stream != nil:
			o.stream.kept.remove()
		case o.display != nil && o.display.id == "":
			o.display.kept.remove()
		case o.display != nil:
			o.display.shown = false
			f.hide(o.display)
		}
	}
	f.outputs, f.used = notes, f.held
	f.late, f.notices, f.beyond = nil, 0, 0
}

func (f *Fold) push(o folded) {
	f.finishLast()
	f.outputs = append(f.outputs, o)
}

// finishLast closes the file of the last output, which gets no more text, to keep few files open.
func (f *Fold) finishLast() {
	if n := len(f.outputs); n > 0 {
		if s := f.outputs[n-1].stream; s != nil && !s.late {
			_ = s.finish() // its text tells of the error
		}
	}
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
