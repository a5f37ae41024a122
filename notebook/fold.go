package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// A Fold turns the iopub messages of one execution into the outputs that a
// notebook keeps: neighbouring pieces of one stream become one output, a display
// with a display_id changes every earlier output that has it, clear_output
// forgets what came before (messaging protocol 5.5, "Messages on the IOPub
// channel"). What it gives is what nbclient gives.
//
// Whatever the code prints or shows, the memory that a Fold takes is a small
// multiple of its Limits and of the longest message. What is left out of the
// outputs is left out visibly: in its place stands a line that begins with
// "[dsstar: ", which says how much it is and which file has it.
//
// The zero value is ready to use; fields are set before the first Add. A Fold
// that may have files open is to be closed. It is not safe for concurrent use.
type Fold struct {
	Limits  Limits
	Prefix  string // of the names of the files for what is left out, such as "cell-3"
	ShownAs string // how a reader of the notebook finds their folder, such as "files/outputs"

	// Folder opens the folder where what is left out is kept whole, once it is
	// needed; Close closes it. nil: nothing is kept.
	Folder func() (*os.Root, error)

	// Observe is told of each piece as it arrives, before anything is left out
	// of it: a stream output with only the new text, a display or a new state
	// of it (with the same DisplayID), an error, a note. It must not block, and
	// must not change what it is given. It may be nil.
	Observe func(Output)

	outputs []folded
	used    int  // bytes of all outputs and displays
	clear   bool // clear_output(wait=True) was seen: the next output clears

	displays map[string]*display // the last data of each display id, shown or not
	ids      int                 // how many ids there were
	held     int                 // the part of used that belongs to displays
	hidden   []*display          // what no output shows, to be forgotten first; some may be shown again
	forgot   bool                // some were forgotten

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

// Note adds a line of our own to the outputs, as stderr: "dsstar: " and text. It
// stays an output of its own, counts against no limit, and is not cleared.
func (f *Fold) Note(text string) {
	o := Output{Type: Stream, Name: "stderr", Text: "dsstar: " + text + "\n"}
	f.finishLast()
	f.outputs = append(f.outputs, folded{Output: o, note: true})
	f.observe(o)
}

// Outputs returns the outputs so far. It may be called at any time. The data of
// displays are shared with the Fold and are not to be changed.
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

// Size returns the bytes that the outputs take in the notebook, and those in files.
func (f *Fold) Size() (outputs int, files int64) { return f.used, f.written }

// Close finishes and closes the files; a file that turned out not to be needed
// is removed. Its error says that a file may lack its end; the output that names
// the file says so too. Outputs works afterwards. Close may be called repeatedly.
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

// shorten returns an error output with the beginning and the end of what o, an
// error of size bytes, has; all of it goes to a file. Small errors are left as
// they are: what went wrong is to be seen past the limits too.
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
	note := fmt.Sprintf("[dsstar: an error of %s is shortened here; %s]", bytesText(int64(size)), kept.where("all of it"))
	return Output{
		Type: ErrorOutput, EName: shortLine(o.EName), EValue: shortLine(o.EValue),
		Traceback: []string{strings.TrimSuffix(string(head), "\n"), note, string(tail)},
	}
}

// begin carries out a clear_output that is due, before the next output. Notes
// stay, and so do the last data of displays with an id, which earlier cells may
// show. The files of all else are removed.
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

// finishLast closes the file of the last output, which gets no more text, so
// that few are open at a time.
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
