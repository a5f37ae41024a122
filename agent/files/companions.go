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

// formats are those whose files are read together with others that lie beside them: endings of a
// file in lower case, none for any, and how the others are called. What begins with a + is added to
// the file's name, the rest stands in place of its ending.
var formats = []struct{ endings, others string }{
	{"", "+-wal +" + index + " +-journal"},        // of SQLite
	{"", "+.wal +.wal.checkpoint +.wal.recovery"}, // of DuckDB
	{".shp", "+.xml .shx .dbf .prj .cpg .qpj .qix .sbn .sbx"},
	{".dbf", ".cpg"},
	{".tif .tiff", "+.aux.xml +.ovr .tfw"},
	{".bil .bip .bsq .flt .img .dat .raw", "+.hdr .hdr"}, // a text that says how numbers are written
}

const index = "-shm" // of the log of an SQLite database: it has no data that the log lacks

// A Companion is a file that belongs to another one, such as the log of a database.
type Companion struct {
	Name string `json:"name"` // in the data folder
	Size int64  `json:"size"` // bytes
	Path string `json:"-"`
}

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
		if f.endings != "" && !slices.Contains(strings.Fields(f.endings), strings.ToLower(ending)) {
			continue
		}
		for _, other := range strings.Fields(f.others) {
			if more, added := strings.CutPrefix(other, "+"); added {
				all = append(all, Companion{Name: name + more, Path: at + more})
				continue
			}
			if ending == strings.ToUpper(ending) {
				other = strings.ToUpper(other)
			}
			all = append(all, Companion{Name: strings.TrimSuffix(name, path.Ext(name)) + other,
				Path: strings.TrimSuffix(at, ending) + other})
		}
	}
	return all
}

// parts returns the companions that have data which the file itself lacks.
func parts(all []Companion) []Companion {
	return slices.DeleteFunc(slices.Clone(all), func(c Companion) bool {
		return c.Size == 0 || strings.HasSuffix(c.Name, index)
	})
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
	named, relative := map[string]bool{}, map[string]bool{}
	for _, s := range sources {
		named[s.Name], relative[s.Name] = true, !filepath.IsAbs(s.Path)
	}
	for _, s := range linked {
		for _, c := range possible(s.Path, s.Name) {
			at := filepath.Join(data, c.Name)
			info, err := root.Lstat(at)
			if err != nil || info.Mode()&fs.ModeSymlink == 0 || named[c.Name] {
				continue
			}
			if err := root.Remove(at); err != nil {
				return nil, err
			}
		}
	}
	all, err := Together(linked)
	for _, c := range all {
		if relative[c.Of] { // it may be moved with the run folder
			c.Path, _ = filepath.Rel(root.Name(), c.Path) // both are absolute
		}
		if c.Of == "" {
			continue
		}
		if _, err := link(root, data, c, nil); err != nil {
			return nil, err
		}
	}
	return all, err
}
