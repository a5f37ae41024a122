package kernel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// A quota counts the bytes left for the outputs of all cells. It is safe for concurrent use; cells
// that run at the same time may each use all that is left.
type quota struct {
	mu          sync.Mutex
	kept, files int64
	told        bool
}

// The default quotas, in bytes.
const runOutputs, runFiles = 256 << 20, 4 << 30

// withQuota returns o with a full quota, less the files that Folder already holds.
func (o Outputs) withQuota() Outputs {
	o.Run, o.Files = cmp.Or(o.Run, runOutputs), cmp.Or(o.Files, runFiles)
	o.quota = &quota{kept: o.Run, files: o.Files}
	entries, _ := os.ReadDir(o.Folder) // a missing folder is empty
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			o.quota.files -= info.Size()
		}
	}
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
	l.File = min(cmp.Or(l.File, notebook.DefaultLimits.File), max(o.quota.files, 1))
	return l
}

// take subtracts the outputs of a finished cell from the quota. When that uses it up, a note in f
// says so.
func (o Outputs) take(f *notebook.Fold) {
	if o.quota == nil {
		return
	}
	kept, files := f.Size()
	o.quota.mu.Lock()
	defer o.quota.mu.Unlock()
	o.quota.kept -= int64(kept)
	o.quota.files -= files
	if !o.quota.told && (o.quota.kept <= 0 || o.quota.files <= 0) {
		o.quota.told = true
		f.Note(fmt.Sprintf("the outputs of all cells have reached %s in the notebook or %s in files: "+
			"from here on little is kept of them",
			human.Bytes(o.Run), human.Bytes(o.Files)))
	}
}

// fold returns the fold for the outputs of a cell. Call [Outputs.take] at its end.
func (o Outputs) fold(c Cell) notebook.Fold {
	f := notebook.Fold{Limits: o.limits(), Prefix: c.ID, ShownAs: o.ShownAs, Observe: c.Observe,
		Secrets: o.Secrets}
	if o.Folder != "" {
		f.Folder = o.open
	}
	return f
}

// open opens the folder for long outputs, and creates it if necessary. It may lie where cells can
// write, so links that they put in its place or in that of its parent are not followed, and a pipe
// there does not block.
func (o Outputs) open() (*os.Root, error) {
	parent := o.parent
	if parent == nil {
		var err error
		if parent, err = disk.OpenFolder(filepath.Dir(o.Folder)); err != nil {
			return nil, err
		}
		defer parent.Close()
	} else if err := disk.LeadsTo(filepath.Dir(o.Folder), parent); err != nil {
		// nobody would find the files
		return nil, err
	}
	name := filepath.Base(o.Folder)
	if err := parent.Mkdir(name, 0o777); err != nil && !os.IsExist(err) {
		return nil, err
	}
	return disk.OpenFolderIn(parent, name)
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
		_ = f.Close() // its outputs say what could not be kept
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
