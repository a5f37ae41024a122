package files

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/notebook/disk"
)

// A format is one whose files are read together with others that lie beside them.
type format struct {
	endings []string // of a file, in lower case; none: any
	added   []string // to the file's name, in the names of the others
	instead []string // of its ending, in their names
}

var formats = []format{
	{added: []string{"-wal", index, "-journal"}},                  // of SQLite
	{added: []string{".wal", ".wal.checkpoint", ".wal.recovery"}}, // of DuckDB
	{endings: []string{".shp"}, added: []string{".xml"},
		instead: []string{".shx", ".dbf", ".prj", ".cpg", ".qpj", ".qix", ".sbn", ".sbx"}},
	{endings: []string{".dbf"}, instead: []string{".cpg"}},
	{endings: []string{".tif", ".tiff"},
		added: []string{".aux.xml", ".ovr"}, instead: []string{".tfw"}},
	{endings: []string{".bil", ".bip", ".bsq", ".flt", ".img", ".dat", ".raw"},
		added: []string{".hdr"}, instead: []string{".hdr"}}, // a text that says how numbers are written
}

const index = "-shm" // of the log of an SQLite database: it has no data that the log lacks

// A Companion is a file that belongs to another one, such as the log of a database.
type Companion struct {
	Name string `json:"name"` // in the data folder
	Size int64  `json:"size"` // bytes
	Path string `json:"-"`
}

// Holds reports whether the companion has data that the file itself lacks.
func (c Companion) Holds() bool { return c.Size > 0 && !strings.HasSuffix(c.Name, index) }

// Companions returns the companions that the file at a path has. name is that of the file in the
// data folder.
func Companions(at, name string) (all []Companion) {
	if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
		at = disk.RealPath(at) // beside which programs look for them
	}
	for _, c := range possible(at, name) {
		if info, err := os.Lstat(c.Path); err == nil {
			c.Size = info.Size()
			all = append(all, c)
		}
	}
	return all
}

// possible returns the companions that a file may have by its name.
func possible(at, name string) (all []Companion) {
	ending := path.Ext(at)
	for _, f := range formats {
		if len(f.endings) > 0 && !slices.Contains(f.endings, strings.ToLower(ending)) {
			continue
		}
		for _, more := range f.added {
			all = append(all, Companion{Name: name + more, Path: at + more})
		}
		for _, other := range f.instead {
			if ending == strings.ToUpper(ending) {
				other = strings.ToUpper(other)
			}
			all = append(all, Companion{Name: strings.TrimSuffix(name, path.Ext(name)) + other,
				Path: strings.TrimSuffix(at, ending) + other})
		}
	}
	return all
}

// parts returns the companions that are part of a data file, rather than nothing.
func parts(all []Companion) []Companion {
	return slices.DeleteFunc(slices.Clone(all), func(c Companion) bool { return !c.Holds() })
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
func linkCompanions(root *os.Root, data string, sources, linked []Source) ([]Source, error) {
	named := func(all []Source, name string) int {
		return slices.IndexFunc(all, func(s Source) bool { return s.Name == name })
	}
	for _, s := range linked {
		for _, c := range possible(s.Path, s.Name) {
			at := filepath.Join(data, c.Name)
			info, err := root.Lstat(at)
			if err == nil && info.Mode()&fs.ModeSymlink != 0 && named(linked, c.Name) < 0 {
				if err := root.Remove(at); err != nil {
					return nil, err
				}
			}
		}
	}
	all, err := Together(linked)
	for _, c := range all {
		if c.Of == "" {
			continue
		}
		if !filepath.IsAbs(sources[named(sources, c.Of)].Path) { // it may be moved with the run folder
			c.Path, _ = filepath.Rel(root.Name(), c.Path) // both are absolute
		}
		if _, err := link(root, data, c, nil); err != nil {
			return nil, err
		}
	}
	return all, err
}
