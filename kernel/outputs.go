package kernel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"dsstar/notebook"
	"dsstar/notebook/human"
)

// A quota counts the bytes left for the outputs of all cells. It is safe for concurrent use; cells
// that run at the same time may each use all that is left.
type quota struct {
	mu   sync.Mutex
	kept int64
	told bool
}

// runOutputs is the default quota, in bytes.
const runOutputs = 256 << 20

// withQuota returns o with a full quota.
func (o Outputs) withQuota() Outputs {
	o.Run = cmp.Or(o.Run, runOutputs)
	o.quota = &quota{kept: o.Run}
	return o
}

// limits returns the limits for the next cell.
func (o Outputs) limits() notebook.Limits {
	l := o.Limits
	if o.quota == nil {
		return l
	}
	o.quota.mu.Lock()
	defer o.quota.mu.Unlock()
	l.Cell = int(min(int64(cmp.Or(l.Cell, notebook.DefaultLimits.Cell)), max(o.quota.kept, 1)))
	return l
}

// take subtracts the outputs of a finished cell from the quota. When that uses it up, a note in f
// says so.
func (o Outputs) take(f *notebook.Fold) {
	if o.quota == nil {
		return
	}
	o.quota.mu.Lock()
	defer o.quota.mu.Unlock()
	o.quota.kept -= int64(f.Size())
	if !o.quota.told && o.quota.kept <= 0 {
		o.quota.told = true
		f.Note(fmt.Sprintf("the outputs of all cells have reached %s: from here on little is kept of them",
			human.Bytes(o.Run)))
	}
}

// fold returns the fold for the outputs of a cell. Call [Outputs.take] at its end.
func (o Outputs) fold(c Cell) notebook.Fold {
	return notebook.Fold{Limits: o.limits(), Observe: c.Observe, Secrets: o.Secrets}
}

// takeLate removes and returns the late outputs.
func (s *session) takeLate() []Late {
	s.mu.Lock()
	messages := s.late
	s.late, s.lateBytes = nil, 0
	s.mu.Unlock()
	var all []Late
	folds := map[string]*notebook.Fold{}
	for _, m := range messages {
		if folds[m.cell] == nil {
			f := s.outputs.fold(Cell{ID: m.cell})
			folds[m.cell] = &f
			all = append(all, Late{CellID: m.cell})
		}
		_ = folds[m.cell].Add(m.msg.Header.MsgType, m.msg.Content) // what cannot be read is no output
	}
	for i := range all {
		f := folds[all[i].CellID]
		s.outputs.take(f)
		all[i].Outputs, all[i].Updates = f.Outputs(), f.Updates()
	}
	return all
}

// exceeded recognises the message that a server sends in place of the output that it drops
// (jupyter_server, kernels/connection/channels.py, _limit_rate).
func exceeded(content json.RawMessage) bool {
	const longest = 2000
	if len(content) > longest || !bytes.Contains(content, []byte(" rate exceeded.")) {
		return false
	}
	var c struct{ Name, Text string }
	if json.Unmarshal(content, &c) != nil || c.Name != "stderr" {
		return false
	}
	return strings.HasPrefix(c.Text, "IOPub message rate exceeded.") ||
		strings.HasPrefix(c.Text, "IOPub data rate exceeded.")
}
