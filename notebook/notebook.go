package notebook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
			sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", i, try, c.Source))
			c.ID = hex.EncodeToString(sum[:4])
		}
		seen[c.ID] = true
	}
}
