package notebook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/notebook/human"
)

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
