package notebook

import (
	"bytes"

	"dsstar/notebook/disk"
)

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

// Guard guards the notebook at path. Rewriting it with the same content in other bytes does
// not count as an edit: see [Same].
func Guard(path string) *disk.Guarded {
	return disk.Guard(path, func(a, b []byte) bool {
		x, errX := Read(bytes.NewReader(a))
		y, errY := Read(bytes.NewReader(b))
		return errX == nil && errY == nil && Same(x, y)
	})
}
