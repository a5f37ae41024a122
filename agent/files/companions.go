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
	magic   string   // what a file has at the byte at; "": anything
	at      int64    // byte
	endings []string // of a file, in lower case; none: any
	added   []string // to the file's name, in the names of the others
	instead []string // of its ending, in their names
}

var formats = []format{
	{magic: "SQLite format 3\x00", added: []string{"-wal", index, "-journal"}},
	{magic: "DUCK", at: 8, added: []string{".wal", ".wal.checkpoint", ".wal.recovery"}},
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
	for _, f := range formats {
		for _, c := range f.companions(at, name) {
			if info, err := os.Lstat(c.Path); err == nil && f.of(at) {
				c.Size = info.Size()
				all = append(all, c)
			}
		}
	}
	return all
}

// Companions returns the companions that a file has.
func (d *Folder) Companions(f File) []Companion {
	return Companions(filepath.Join(d.real, f.Name), f.Name)
}

// companions returns the companions that a file of the format may have.
func (f format) companions(at, name string) (all []Companion) {
	ending := path.Ext(at)
	if len(f.endings) > 0 && !slices.Contains(f.endings, strings.ToLower(ending)) {
		return nil
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
	return all
}

// of reports whether the file at a path, which is no link, is a regular one of the format.
func (f format) of(path string) bool {
	file, err := disk.OpenPlain(path, 1<<62)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, len(f.magic))
	_, err = file.ReadAt(head, f.at)
	return err == nil && string(head) == f.magic
}

// parts returns the companions that are part of a data file, rather than nothing.
func parts(all []Companion) []Companion {
	return slices.DeleteFunc(slices.Clone(all), func(c Companion) bool { return !c.Holds() })
}

// A CompanionError reports a file that cannot be read together with its companion.
type CompanionError struct{ File, Companion string } // paths

func (e *CompanionError) Error() string {
	return fmt.Sprintf("%s belongs to %s and cannot be read", e.Companion, e.File)
}

// Together returns the sources with their companions, each as a source of its own, whose
// [Source.Of] is set. The error is a [*CompanionError] if one is not a regular file that this user
// may read.
func Together(sources []Source) ([]Source, error) {
	all := slices.Clone(sources)
	for _, s := range sources {
		if s.Database != "" || s.From != "" {
			continue
		}
		for _, c := range Companions(s.Path, s.Name) {
			f, err := disk.OpenPlain(c.Path, 1<<62)
			if err != nil || f.Close() != nil {
				return nil, &CompanionError{s.Path, c.Path}
			}
			companion := Source{Name: c.Name, Path: c.Path, Of: s.Name}
			same := func(s Source) bool { return s.Name == c.Name && s.Path == c.Path }
			if named := slices.IndexFunc(all, same); named >= 0 {
				all[named] = companion
			} else {
				all = append(all, companion)
			}
		}
	}
	return all, nil
}

// linkCompanions makes the names of the companions that linked sources have now lead to them, and
// those that they do not have lead nowhere. It returns the sources with their companions.
func linkCompanions(root *os.Root, data string, sources, linked []Source) ([]Source, error) {
	all, err := Together(linked)
	if err != nil {
		return nil, err
	}
	for _, s := range linked {
		for _, f := range formats {
			for _, c := range f.companions(s.Path, s.Name) {
				at := filepath.Join(data, c.Name)
				info, err := root.Lstat(at)
				named := slices.ContainsFunc(linked, func(s Source) bool { return s.Name == c.Name })
				if err == nil && info.Mode()&fs.ModeSymlink != 0 && !named {
					if err := root.Remove(at); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	for _, c := range all[len(linked):] {
		ofOurs := func(s Source) bool { return s.Name == c.Of && !filepath.IsAbs(s.Path) }
		if slices.ContainsFunc(sources, ofOurs) { // it may be moved with the run folder
			if c.Path, err = filepath.Rel(root.Name(), c.Path); err != nil {
				return nil, err
			}
		}
		if _, err := link(root, data, c, nil); err != nil {
			return nil, err
		}
	}
	return all, nil
}
