package solver

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"dsstar/notebook/disk"
)

// A Pool is the experience pool of a run: a file to which data-interpreter's runs add. A replay
// works on a copy, because it must neither see later additions nor repeat the run's own.
type Pool struct {
	File     string // "": none
	Replayed string // folder of the replayed run; "": not a replay
}

// The files of a run folder.
const (
	poolBefore = "pool-before.json" // the pool when the run began
	poolCopy   = "pool.json"        // the copy that a replay works on
)

// ErrNoPool reports that a run cannot be replayed because its initial pool is unknown.
var ErrNoPool = errors.New("the run's initial experience pool is not in its folder")

// In returns the pool file that a run in the folder out uses.
func (p Pool) In(out string) string {
	if p.File == "" || p.Replayed == "" {
		return p.File
	}
	return filepath.Join(out, poolCopy)
}

// Read returns the initial pool of a new run; nil: it has no pool.
func (p Pool) Read() ([]byte, error) {
	if p.File == "" {
		return nil, nil
	}
	from := p.File
	if p.Replayed != "" {
		from = filepath.Join(p.Replayed, poolBefore)
	}
	data, err := disk.ReadFile(from, disk.MaxDocument)
	switch {
	case err == nil:
		return data, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the experience pool: %w", err)
	case p.Replayed == "":
		return []byte("{}\n"), nil // this run creates it
	}
	return nil, fmt.Errorf("%s: %w", p.Replayed, ErrNoPool)
}

// Keep saves what Read returned in the run's folder.
func (p Pool) Keep(out string, data []byte) error {
	if data == nil {
		return nil
	}
	err := disk.WriteFile(filepath.Join(out, poolBefore), data)
	if err == nil && p.Replayed != "" {
		err = disk.WriteFile(p.In(out), data)
	}
	if err != nil {
		return fmt.Errorf("keep the experience pool: %w", err)
	}
	return nil
}
