// Package notebook defines the types that kernel and agent share: notebooks in nbformat 4.5, their
// cells and outputs, and the [Execution] of one cell.
//
//   - A [Fold] turns the iopub messages of a kernel into outputs, within [Limits].
//   - [Read] and [Open] read notebooks of nbformat 4.0 to 4.5, and 3.
//   - [Notebook.Encode] and [Notebook.Save] write the same bytes as Python's nbformat and Jupyter
//     Server, so a save by either side causes no needless diff. [Guard] saves without overwriting
//     an editor's changes.
//
// Package compare compares the outputs of two executions, export makes pages and scripts, and disk
// reads and writes files safely.
//
// The package knows nothing of dsstar's rounds and plans: those are in the metadata key "dsstar".
package notebook

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"

	"dsstar/notebook/disk"
)

// CellType is nbformat's cell_type.
type CellType string

// The cell types of nbformat 4.5.
const (
	Code     CellType = "code"
	Markdown CellType = "markdown"
	Raw      CellType = "raw"
)

// A Notebook is a notebook of nbformat 4.5.
type Notebook struct {
	Cells    []Cell
	Metadata map[string]any
}

// A Cell is one cell. ID is unique in its notebook and survives saves.
// Outputs and ExecutionCount (0: never run) count for code cells only.
type Cell struct {
	ID             string
	Type           CellType
	Source         string
	Metadata       map[string]any
	Attachments    map[string]MIMEBundle // by name; none for code cells
	Outputs        []Output
	ExecutionCount int
}

// Tags returns the cell's tags.
func (c Cell) Tags() []string {
	list, _ := c.Metadata["tags"].([]any)
	var tags []string
	for _, t := range list {
		if s, ok := t.(string); ok {
			tags = append(tags, s)
		}
	}
	return tags
}

// uniqueIDs gives an id to every cell that lacks one or repeats another's. The
// schema does not require unique ids, but nbformat's validator does.
func (n *Notebook) uniqueIDs() {
	seen := map[string]bool{}
	for i := range n.Cells {
		c := &n.Cells[i]
		for try := 0; c.ID == "" || seen[c.ID]; try++ {
			c.ID = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d %d %s", i, try, c.Source)))[:8]
		}
		seen[c.ID] = true
	}
}

// Open reads the notebook at path with [Read]. The file need not be trusted. A link there is an
// error.
func Open(path string) (*Notebook, error) {
	data, err := disk.ReadPlain(path, disk.MaxDocument)
	if err != nil {
		return nil, err
	}
	return Read(bytes.NewReader(data))
}

// Save writes the notebook to path whole or not at all.
func (n *Notebook) Save(path string) error {
	data, err := n.Encode()
	if err != nil {
		return err
	}
	return disk.WriteFile(path, data)
}

// Guard guards the notebook at path. What Jupyter changes by itself is no edit: see [content].
func Guard(path string) *disk.Guarded {
	return disk.Guard(path, func(a, b []byte) bool {
		x, errX := content(a)
		y, errY := content(b)
		return errX == nil && errY == nil && reflect.DeepEqual(x, y)
	})
}

// content returns what a notebook's file holds without execution counts and what Jupyter changes by
// itself: trust, the kernelspec and its language, execution times, numbers such as 2.0 that become
// 2, and empty attachments.
func content(data []byte) (plain any, err error) {
	n, err := Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"kernelspec", "language_info", "widgets"} {
		delete(n.Metadata, key)
	}
	for i := range n.Cells {
		c := &n.Cells[i]
		delete(c.Metadata, "execution")
		if c.ExecutionCount = 0; len(c.Attachments) == 0 {
			c.Attachments = nil
		}
		for j := range c.Outputs {
			c.Outputs[j].ExecutionCount = 0
		}
	}
	if data, err = n.Encode(); err == nil {
		err = json.Unmarshal(data, &plain)
	}
	return plain, err
}
