package notebook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"dsstar/notebook/human"
)

// A display is the content of all outputs with the same display_id, or of one output without an id.
type display struct {
	id       string
	order    int // position among the ids
	data     MIMEBundle
	metadata map[string]any
	size     int  // bytes that count against Limits.Cell
	shown    bool // an output shows it
}

// shows is the content of a display message. Its data is decoded only if there is room for it.
type shows struct {
	Data           map[string]json.RawMessage
	Metadata       json.RawMessage
	ExecutionCount int `json:"execution_count"`
	Transient      struct {
		DisplayID string `json:"display_id"`
	}
	metadata map[string]any
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

// Updates returns the last data of each display_id of this execution as display data, in the order
// of first use. Outputs of earlier executions may have the same ids; [Redisplay] updates those.
// clear_output does not affect Updates.
func (f *Fold) Updates() []Output {
	byOrder := func(a, b *display) int { return cmp.Compare(a.order, b.order) }
	var updates []Output
	for _, d := range slices.SortedFunc(maps.Values(f.displays), byOrder) {
		updates = append(updates,
			Output{Type: DisplayData, Data: d.data, Metadata: d.metadata, DisplayID: d.id})
	}
	return updates
}

func (f *Fold) addDisplay(msgType string, content json.RawMessage) error {
	var c shows
	if err := decode(msgType, content, &c); err != nil {
		return err
	}
	if len(c.Metadata) > 0 {
		if err := unmarshal(c.Metadata, &c.metadata); err != nil {
			return fmt.Errorf("%s message: metadata: %v", msgType, err)
		}
	}
	if msgType == "update_display_data" {
		f.update(c)
		return nil
	}
	f.begin()
	d := f.display(c.Transient.DisplayID)
	o := Output{Type: OutputType(msgType), ExecutionCount: c.ExecutionCount, DisplayID: d.id}
	fits := len(f.outputs) < maxOutputs && f.makeRoom(d, c)
	if !fits {
		if f.notices >= maxNotices {
			f.beyond++
			if !d.shown && d.data == nil && d.id != "" {
				f.forget(d) // nothing shows this new display
			}
			f.observe(c.output(o))
			return nil
		}
		f.notices++
	}
	f.set(d, c, o, fits)
	d.shown = true
	f.outputs = append(f.outputs, folded{Output: o, display: d})
	return nil
}

// update sets new data for a display_id, of this execution or an earlier one.
func (f *Fold) update(c shows) {
	if c.Transient.DisplayID == "" {
		return
	}
	d := f.display(c.Transient.DisplayID)
	f.set(d, c, Output{Type: DisplayData, DisplayID: d.id}, f.makeRoom(d, c))
}

// display returns the display with an id, creating it if it is new.
func (f *Fold) display(id string) *display {
	if d := f.displays[id]; d != nil {
		return d
	}
	d := &display{id: id}
	if id != "" {
		if f.displays == nil {
			f.displays = map[string]*display{}
		}
		f.ids++
		d.order = f.ids
		f.displays[id] = d
	}
	return d
}

// set sets the data of d to that of c, or to a notice if it does not fit. Observe gets o with the
// full data.
func (f *Fold) set(d *display, c shows, o Output, fits bool) {
	f.resize(d, 0)
	if fits || f.Observe != nil {
		o = c.output(o)
	}
	f.observe(o)
	if fits {
		d.data, d.metadata = Inert(o.Data), o.Metadata
		f.resize(d, c.size())
		return
	}
	kind := "display"
	if o.Type == ExecuteResult {
		kind = "result"
	}
	d.data, d.metadata = MIMEBundle{"text/plain": fmt.Sprintf("[note: a %s of %s is left out here: %s]",
		kind, human.Bytes(int64(c.size())), shortLine(c.largest()))}, nil
}

func (f *Fold) resize(d *display, size int) {
	f.used += size - d.size
	if d.id != "" {
		f.held += size - d.size
	}
	d.size = size
}

// makeRoom reports whether the data of c fits into d. If necessary, it first drops all displays that
// no output shows.
func (f *Fold) makeRoom(d *display, c shows) bool {
	l := f.Limits.filled()
	data, size := c.dataSize(), c.size()
	fits := data <= l.Data && size-data <= l.Data && size <= l.Cell
	if !fits {
		size = 0
	}
	full := func() bool { return f.used-d.size+size > l.Cell || len(f.displays) > maxOutputs }
	if full() {
		for _, old := range f.displays {
			if old != d && !old.shown {
				f.forget(old)
			}
		}
	}
	return fits && !full()
}

// forget drops a display that no output shows. Updates then lacks it.
func (f *Fold) forget(d *display) {
	f.resize(d, 0)
	delete(f.displays, d.id)
	if !f.forgot {
		f.forgot = true
		f.Note("what this cell changed in displays of earlier cells may be incomplete")
	}
}

// largest returns the MIME type with most data.
func (c shows) largest() string {
	if len(c.Data) == 0 {
		return "text/plain"
	}
	return slices.MinFunc(slices.Collect(maps.Keys(c.Data)), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(c.Data[b]), len(c.Data[a])), cmp.Compare(a, b))
	})
}

// output returns o with the data and metadata.
func (c shows) output(o Output) Output {
	data := make(map[string]any, len(c.Data))
	for mime, raw := range c.Data {
		var value any
		if err := unmarshal(raw, &value); err != nil {
			value = string(raw) // cannot happen: the whole message was valid JSON
		}
		data[mime] = value
	}
	o.Data, o.Metadata = joinBundle(data), c.metadata
	return o
}

// dataSize returns the size of the data in the message, in bytes.
func (c shows) dataSize() int {
	n := 0
	for mime, raw := range c.Data {
		n += len(mime) + len(raw)
		if len(raw) > 1 && raw[0] == '"' {
			n -= 2
		}
	}
	return n
}

func (c shows) size() int { return c.dataSize() + len(c.Metadata) + len(c.Transient.DisplayID) }
