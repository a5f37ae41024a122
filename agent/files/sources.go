package files

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// A Source is a file or folder of data by the name that it has in the data folder, with slashes.
// The name of a folder that is the data folder itself is "".
type Source struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Database, if set, is the address of a database, bucket or cluster, without its password. Then
	// the file has [Source.Content], which tells the profiler where the address is.
	Database string `json:"database,omitempty"`
	// From, if set, is the web address of a file of which the data folder has its own copy.
	From string `json:"from,omitempty"`
	// Of, if set, is the name of the source whose companion this is. No record has companions: they
	// are found anew.
	Of string `json:"-"`
	// Download is the file to copy. Only the process that has downloaded it sets Download: a record
	// may come from a stranger, and could name any file.
	Download string `json:"-"`
}

// Endings of the names of the files that stand for what has an address.
const (
	DatabaseEnding = ".database.json"
	BucketEnding   = ".bucket.json"
	ClusterEnding  = ".cluster.json"
)

// EndingOf returns the ending of a name if its file stands for data that change without it, or "".
func EndingOf(name string) string {
	return lists.First([]string{DatabaseEnding, BucketEnding, ClusterEnding},
		func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// String is for people.
func (s Source) String() string {
	switch {
	case s.Name == "":
		return s.Path
	case s.Database != "":
		return s.Engine() + " is " + s.Database
	}
	return "data/" + s.Name + " is " + cmp.Or(s.From, s.Path)
}

// Is reports whether the source has an address and is of the kind whose files have the ending.
func (s Source) Is(ending string) bool { return s.Database != "" && EndingOf(s.Name) == ending }

// Engine is the name by which cells know a database or bucket, or the product of a cluster.
func (s Source) Engine() string { return strings.TrimSuffix(s.Name, EndingOf(s.Name)) }

// Variable is the environment variable with the whole address.
func (s Source) Variable() string {
	return "DSSTAR_DB_" + strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(s.Engine()))
}

// Content is what the file of a database holds.
func (s Source) Content() []byte {
	text, _ := json.Marshal(map[string]string{"database": s.Database, "variable": s.Variable()})
	return append(text, '\n')
}

// Databases returns the sources that are databases, buckets or clusters.
func Databases(all []Source) []Source {
	return slices.DeleteFunc(slices.Clone(all), func(s Source) bool { return s.Database == "" })
}

// Link makes the folder data below dir a data folder whose names lead to the sources. Relative
// paths of sources start at dir, and their links are relative, so that all can be moved together.
// Names that are there already are left alone: a person may have made one lead to where the data
// are now. It returns the sources and their companions, which are linked as they are now, by where
// their names lead, without links. A source is linked only if may, unless nil, returns no error for
// the file or folder that its name will lead to.
func Link(dir, data string, sources []Source, may func(real string) error) ([]Source, error) {
	root, err := os.OpenRoot(dir) // nothing is made outside of it, wherever links in it lead
	if err != nil {
		return nil, fmt.Errorf("link the data: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(data, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("link the data: %w", err)
	}
	if info, err := root.Lstat(data); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("link the data: %s is not a folder, as a run leaves it",
			filepath.Join(dir, data))
	}
	linked := make([]Source, len(sources))
	for i, s := range sources {
		if !filepath.IsLocal(s.Name) || path.Clean(s.Name) != s.Name {
			return nil, fmt.Errorf("link the data: %q is no name for data", s.Name)
		}
		if linked[i], err = link(root, data, s, may); err != nil {
			return nil, fmt.Errorf("link the data %s: %w", s.Name, err)
		}
	}
	return linkCompanions(root, data, linked)
}

// keep gives the data folder its own copy of a downloaded file, unless it has one.
func (s Source) keep(root *os.Root, at string) (Source, error) {
	kept := Source{Name: s.Name, Path: filepath.Join(root.Name(), at), From: s.From}
	if info, err := root.Lstat(at); err == nil && info.Mode().IsRegular() {
		return kept, nil
	}
	if s.Download == "" {
		return s, fmt.Errorf("the copy of %s is not there any more", s.From)
	}
	if err := root.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return s, err
	}
	if os.Link(s.Download, kept.Path) == nil { // not on another disk
		return kept, nil
	}
	in, err := os.Open(s.Download)
	if err != nil {
		return s, err
	}
	defer in.Close()
	out, err := root.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return s, err
	}
	if _, err = io.Copy(out, in); errors.Join(err, out.Close()) != nil {
		_ = root.Remove(at) // whole or not at all
		return s, errors.Join(err, fmt.Errorf("copy %s", s.Download))
	}
	return kept, nil
}

// LeadsTo returns the path to which the name of a source leads, or will lead, in the folder data
// below dir: see [Link].
func LeadsTo(dir, data string, s Source) string {
	at := filepath.Join(dir, data, s.Name)
	switch _, err := os.Lstat(at); {
	case err == nil:
		return at
	case filepath.IsAbs(s.Path):
		return s.Path
	}
	return filepath.Join(dir, s.Path)
}

func link(root *os.Root, data string, s Source, may func(real string) error) (Source, error) {
	at := filepath.Join(data, s.Name)
	if s.Database != "" {
		err := root.WriteFile(at, s.Content(), 0o644)
		return Source{Name: s.Name, Path: filepath.Join(root.Name(), at), Database: s.Database}, err
	}
	if s.From != "" {
		return s.keep(root, at)
	}
	real, err := filepath.EvalSymlinks(LeadsTo(root.Name(), data, s))
	if err == nil && may != nil {
		err = may(real)
	}
	linked, to := Source{Name: s.Name, Path: real}, s.Path
	if _, missing := root.Lstat(at); err != nil || missing == nil {
		return linked, err
	}
	if err := root.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return s, err
	}
	if !filepath.IsAbs(to) {
		if to, err = filepath.Rel(filepath.Dir(at), to); err != nil {
			return s, err
		}
	}
	return linked, root.Symlink(to, at)
}

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
