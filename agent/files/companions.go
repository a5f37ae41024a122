package files

import (
	"bytes"
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
	{endings: []string{".tif", ".tiff"}, added: []string{".aux.xml", ".ovr"}, instead: []string{".tfw"}},
	{endings: []string{".bil", ".bip", ".bsq", ".flt", ".img", ".dat", ".raw"},
		added: []string{header}, instead: []string{header}},
}

const (
	index  = "-shm" // of the log of an SQLite database: it has no data that the log lacks
	header = ".hdr" // a text that says how a file of numbers is written
)

// A Companion is a file that belongs to another one, such as the log of a database.
type Companion struct {
	Name string `json:"name"` // in the data folder
	Size int64  `json:"size"` // bytes
	Path string `json:"-"`
}

// Holds reports whether the companion has data that the file itself lacks.
func (c Companion) Holds() bool { return c.Size > 0 && !strings.HasSuffix(c.Name, index) }

// own reports whether the companion is listed and described like any data file.
func (c Companion) own() bool { return strings.EqualFold(path.Ext(c.Name), header) }

// Companions returns the companions that the file at a path has. name is that of the file in the
// data folder.
func Companions(at, name string) (all []Companion) {
	if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			at = real // beside which programs look for them
		}
	}
	for _, f := range formats {
		var found []Companion
		for _, c := range f.companions(at, name) {
			if info, err := os.Lstat(c.Path); err == nil {
				c.Size = info.Size()
				found = append(found, c)
			}
		}
		if len(found) > 0 && f.of(at) {
			all = append(all, found...)
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
	head := readSome(path, f.at+int64(len(f.magic)))
	return head != nil && bytes.HasSuffix(head, []byte(f.magic)) && len(head) == int(f.at)+len(f.magic)
}

// parts returns the companions that are part of a data file, rather than nothing or one themselves.
func parts(all []Companion) []Companion {
	others := func(c Companion) bool { return !c.Holds() || c.own() }
	return slices.DeleteFunc(slices.Clone(all), others)
}

// A CompanionError reports a file that cannot be read together with its companion.
type CompanionError struct{ File, Companion string } // paths

func (e *CompanionError) Error() string {
	return fmt.Sprintf("%s belongs to %s and cannot be read", e.Companion, e.File)
}

// Together returns the sources with their companions, each as a source of its own, whose
// [Source.Of] is set unless it is described like any data file. The error is a [*CompanionError]
// if one is not a regular file that this user may read.
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
			if c.own() {
				companion.Of = ""
			}
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
				if info, err := root.Lstat(at); err != nil || info.Mode()&fs.ModeSymlink == 0 ||
					slices.ContainsFunc(linked, func(s Source) bool { return s.Name == c.Name }) {
					continue
				}
				if err := root.Remove(at); err != nil {
					return nil, err
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
