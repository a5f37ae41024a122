package kernel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"dsstar/notebook"
	"dsstar/notebook/human"
)

// begin returns o with all that it may keep. Sessions that follow each other share it.
func (o Outputs) begin() Outputs {
	o.Run, o.left = cmp.Or(o.Run, 256<<20), new(atomic.Int64)
	o.left.Store(o.Run)
	return o
}

// fold returns the fold for the outputs of a cell. Call [Outputs.take] at its end.
func (o Outputs) fold(c Cell) notebook.Fold {
	l := o.Limits
	l.Cell = int(min(int64(cmp.Or(l.Cell, notebook.DefaultLimits.Cell)), max(o.left.Load(), 1)))
	return notebook.Fold{Limits: l, Observe: c.Observe, Secrets: o.Secrets}
}

// take subtracts the outputs of a finished cell from what is left. When that uses it up, a note in
// f says so.
func (o Outputs) take(f *notebook.Fold) {
	size := int64(f.Size())
	if left := o.left.Add(-size); left <= 0 && left+size > 0 {
		f.Note(fmt.Sprintf("the outputs of all cells have reached %s: from here on little is kept of them",
			human.Bytes(o.Run)))
	}
}

// exceeded recognises the message that a server sends in place of the output that it drops
// (jupyter_server, kernels/connection/channels.py, _limit_rate).
func exceeded(content json.RawMessage) bool {
	const longest = 2000
	var c struct{ Name, Text string }
	return len(content) <= longest && bytes.Contains(content, []byte(" rate exceeded.")) &&
		json.Unmarshal(content, &c) == nil && c.Name == "stderr" &&
		(strings.HasPrefix(c.Text, "IOPub message rate exceeded.") ||
			strings.HasPrefix(c.Text, "IOPub data rate exceeded."))
}
