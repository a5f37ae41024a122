package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"dsstar/notebook/disk"
)

// logs are the endings that databases add to the name of a file, for what it does not hold yet: three
// of SQLite, one of DuckDB.
var logs = []string{"-wal", "-shm", "-journal", ".wal"}

// A Companion is a log that belongs to the file of a database.
type Companion struct {
	Name string // in the data folder
	Path string
	Size int64 // bytes that the file itself lacks
}

// Companions returns the companions that the file at a path has. name is that of the file in the
// data folder.
func Companions(at, name string) (all []Companion) {
	if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
		at = disk.RealPath(at) // beside which programs look for them
	}
	for _, ending := range logs {
		c := Companion{Name: name + ending, Path: at + ending}
		if info, err := os.Lstat(c.Path); err == nil {
			if ending != "-shm" { // the index of a log has no data
				c.Size = info.Size()
			}
			all = append(all, c)
		}
	}
	return all
}

// Together returns the sources with their companions, each as a source of its own, whose
// [Source.Of] is set. It is an error if one is not a regular file that this user may read.
func Together(sources []Source) ([]Source, error) {
	all := slices.Clone(sources)
	for _, s := range sources {
		if s.Database != "" || s.From != "" {
			continue
		}
		for _, c := range Companions(s.Path, s.Name) {
			f, err := disk.OpenPlain(c.Path, 1<<62)
			if err != nil || f.Close() != nil {
				return nil, fmt.Errorf("%s belongs to %s and cannot be read", c.Path, s.Path)
			}
			same := func(s Source) bool { return s.Name == c.Name && s.Path == c.Path }
			all = append(slices.DeleteFunc(all, same), Source{Name: c.Name, Path: c.Path, Of: s.Name})
		}
	}
	return all, nil
}

// linkCompanions makes the names of the companions that linked sources may have lead to those that
// are there now. It returns the sources with their companions.
func linkCompanions(root *os.Root, data string, linked []Source) ([]Source, error) {
	for _, s := range linked {
		for _, ending := range logs {
			at := filepath.Join(data, s.Name+ending)
			named := func(other Source) bool { return other.Name == s.Name+ending }
			info, err := root.Lstat(at)
			if err != nil || info.Mode()&fs.ModeSymlink == 0 || slices.ContainsFunc(linked, named) {
				continue
			}
			if err := root.Remove(at); err != nil {
				return nil, err
			}
		}
	}
	all, err := Together(linked)
	for _, c := range all {
		if c.Of != "" && err == nil {
			_, err = link(root, data, c, nil)
		}
	}
	return all, err
}
