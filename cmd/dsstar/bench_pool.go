package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"dsstar/notebook/disk"
)

// What a run folder has of an experience pool. Runs add to their pool, and a replay
// must neither see what was added since nor add it once more: it works on a copy.
const (
	poolBefore = "pool-before.json" // as it was when the run began
	poolCopy   = "pool.json"        // that a replay works on
)

// pool is the file that the agent's experiences are in.
func (b *benchFlags) pool() string {
	if b.interpreter.Pool == "" || b.replayed == "" {
		return b.interpreter.Pool
	}
	return filepath.Join(b.out, poolCopy)
}

// poolNow reads what a new run begins with; nil: it has no pool.
func (b *benchFlags) poolNow() ([]byte, error) {
	if b.interpreter.Pool == "" {
		return nil, nil
	}
	from := b.interpreter.Pool
	if b.replayed != "" {
		from = filepath.Join(b.replayed, poolBefore)
	}
	data, err := disk.ReadFile(from, disk.MaxDocument)
	switch {
	case err == nil:
		return data, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the experience pool: %w", err)
	case b.replayed == "":
		return []byte("{}\n"), nil // it is begun by this run
	}
	return nil, &usageError{fmt.Sprintf("%s does not have the experience pool that it began with, without which it cannot be replayed", b.replayed),
		[]string{"dsstar bench run … --model MODEL --out OUT   # a new run"}}
}

// keepPool puts what poolNow has read into the folder of the run.
func (b *benchFlags) keepPool(data []byte) error {
	if data == nil {
		return nil
	}
	err := disk.WriteFile(filepath.Join(b.out, poolBefore), data)
	if err == nil && b.replayed != "" {
		err = disk.WriteFile(b.pool(), data)
	}
	if err != nil {
		return fmt.Errorf("keep the experience pool: %w", err)
	}
	return nil
}
