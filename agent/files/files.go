// Package files inspects a data folder without running code: which files there are, and how each
// begins. What a file holds is not its business: a program in a session says that.
//
// Files are not trusted. Every read is bounded, and only errors of the file system are errors.
//
// Files are opened in a [Folder]. A link to a file is followed within the folder, and out of it
// only to what the user has named, because a stranger's data may link to the user's keys. A
// link to a folder is never followed out of the data folder.
package files

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

// A File is a data file. Its name is its path below the data folder, with slashes.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"`          // bytes, with those of its companions
	Sum  string `json:"sum,omitempty"` // see [Folder.Sum]; "": not known, or not read whole
}

// Same reports whether two files have the same size, and the same sum if both are known.
func (f File) Same(other File) bool {
	return f.Size == other.Size && (f.Sum == other.Sum || f.Sum == "" || other.Sum == "")
}

// A Listing is the result of [List].
type Listing struct {
	Files   []File
	Skipped []Skipped // folders that are not data, or not readable, except hidden ones and runs
}

// A Skipped is a skipped folder.
type Skipped struct {
	Name string `json:"name"` // with a slash at its end
	Why  string `json:"why"`  // for people: "a Python environment"
}

// InWords describes in one line what is skipped and why; "" if nothing is.
func InWords(skipped []Skipped) string {
	why := func(s Skipped) string { return fmt.Sprintf("%s (%s)", s.Name, s.Why) }
	return human.Some(lists.Map(skipped, why), 6)
}

// List lists the data files of all sources by their names in the data folder; of a folder, sorted
// by folder and name, regular files at any depth, and links to regular files, without companions.
// It skips hidden files, run folders of dsstar and installed packages, but never what is a source
// itself. It returns ctx's error once ctx is done.
func List(ctx context.Context, sources []Source) (l Listing, _ error) {
	taken := map[string]bool{} // names of companions
	for _, s := range sources {
		if s.Database != "" {
			l.Files = append(l.Files, File{Name: s.Name, Size: int64(len(s.Content()))})
		} else if s.Of == "" {
			if err := l.walk(ctx, s, taken); err != nil {
				return Listing{}, fmt.Errorf("list the data: %w", err)
			}
		}
	}
	l.Files = slices.DeleteFunc(l.Files, func(f File) bool { return taken[f.Name] })
	return l, nil
}

// walk lists a source.
func (l *Listing) walk(ctx context.Context, s Source, taken map[string]bool) error {
	root, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return err
	}
	visit := func(at string, d fs.DirEntry, err error) error {
		in, why := strings.TrimPrefix(strings.TrimPrefix(at, root), "/"), ""
		name := path.Join(s.Name, in)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && in == "":
			return err
		case err != nil:
			why = "it cannot be read"
		case in != "":
			why = skipped(at, d)
		}
		if why != "" && d.IsDir() {
			if why != unseen {
				l.Skipped = append(l.Skipped, Skipped{name + "/", why})
			}
			return filepath.SkipDir
		}
		if info, err := os.Stat(at); why == "" && err == nil && info.Mode().IsRegular() {
			f := File{Name: name, Size: info.Size()}
			for _, c := range Companions(at, name) {
				taken[c.Name] = true
				f.Size += c.Size
			}
			l.Files = append(l.Files, f)
		}
		return nil
	}
	return filepath.WalkDir(root, visit) // not fs.WalkDir, which refuses names that are not UTF-8
}

// unseen is why nobody is told that a file or folder is skipped: it is hidden, or a run.
const unseen = "unseen"

// skipped returns why a file or folder is not data, or "" if it may be data. It only relies on
// names and marker files that no data folder has.
func skipped(at string, d fs.DirEntry) string {
	has := func(names ...string) bool {
		missing := func(name string) bool {
			_, err := os.Lstat(filepath.Join(at, name))
			return err != nil
		}
		return d.IsDir() && !slices.ContainsFunc(names, missing)
	}
	if strings.HasPrefix(d.Name(), ".") || d.Name() == "__pycache__" ||
		has("notebook.ipynb", "trace.jsonl", "files") {
		return unseen
	} else if !d.IsDir() {
		return ""
	}
	switch {
	case d.Name() == "node_modules", d.Name() == "site-packages", d.Name() == "dist-packages":
		return "installed packages"
	case has("pyvenv.cfg"), has("conda-meta"):
		return "a Python environment"
	case has("mounts", "self", "uptime"), has("block", "bus", "class", "devices", "firmware"): // proc and sys
		return "of the system"
	}
	return ""
}
