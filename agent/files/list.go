package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/notebook/disk"
)

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
	const most = 6
	var words []string
	for _, s := range skipped[:min(most, len(skipped))] {
		words = append(words, fmt.Sprintf("%s (%s)", s.Name, s.Why))
	}
	if n := len(skipped) - most; n > 0 {
		words = append(words, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(words, ", ")
}

// List lists the data files of all sources by their names in the data folder; of a folder, sorted
// by folder and name, regular files at any depth, and links to regular files, each with its
// companions. It skips hidden files, run folders of dsstar, installed packages and caches. It never
// skips what is a source itself, nor the files and folders below it that include names ("." names
// all). It returns ctx's error once ctx is done.
func List(ctx context.Context, sources []Source, include []string) (Listing, error) {
	var l Listing
	taken := map[string]bool{} // names of companions
	for _, s := range sources {
		if s.Database != "" {
			l.Files = append(l.Files, File{Name: s.Name, Size: int64(len(s.Content()))})
		}
		if s.Database != "" || s.Of != "" {
			continue
		}
		root, err := filepath.EvalSymlinks(s.Path)
		w := walk{root: root, source: s.Name, include: within(s.Name, include), listing: &l, taken: taken}
		if err == nil { // not fs.WalkDir, which refuses names that are not UTF-8
			err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
				return cmp.Or(ctx.Err(), w.visit(at, d, err))
			})
		}
		if err != nil {
			return Listing{}, fmt.Errorf("list the data: %w", err)
		}
	}
	l.Files = slices.DeleteFunc(l.Files, func(f File) bool { return taken[f.Name] })
	return l, nil
}

// A walk goes through a source.
type walk struct {
	root    string
	source  string // its name
	include []string
	passing string // a folder that is no data but for what include names in it
	listing *Listing
	taken   map[string]bool
}

// visit lists a file, or says whether the walk goes into a folder.
func (w *walk) visit(at string, d fs.DirEntry, err error) error {
	name := strings.TrimPrefix(strings.TrimPrefix(at, w.root), "/")
	known := path.Join(w.source, name)
	if err != nil && name != "" && errors.Is(err, fs.ErrPermission) {
		w.skip(known, "it cannot be read")
		return nil
	} else if err != nil {
		return err
	}
	includes := func(is func(string) bool) bool { return slices.ContainsFunc(w.include, is) }
	why, passed := skipped(at, d), below(name, w.passing)
	switch {
	case name == "", slices.Contains(w.include, name), why == "" && !passed,
		why != unseen && includes(func(i string) bool { return i == "." || below(name, i) }):
		w.list(at, known)
	case includes(func(i string) bool { return below(i, name) }):
		if !passed {
			w.passing = name
		}
	case d.IsDir():
		if why != unseen && !passed {
			w.skip(known, why)
		}
		return filepath.SkipDir
	}
	return nil
}

func (w *walk) skip(name, why string) {
	w.listing.Skipped = append(w.listing.Skipped, Skipped{name + "/", why})
}

func (w *walk) list(at, name string) {
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	all := Companions(at, name)
	for _, c := range all {
		w.taken[c.Name] = true
	}
	w.listing.Files = append(w.listing.Files, File{Name: name, Size: info.Size(), With: parts(all)})
}

// below reports whether a name is in a folder.
func below(name, folder string) bool { return strings.HasPrefix(name, folder+"/") }

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
	if strings.HasPrefix(d.Name(), ".") || has("notebook.ipynb", "trace.jsonl", "files") {
		return unseen
	} else if !d.IsDir() {
		return ""
	}
	tag, _ := disk.ReadPlain(filepath.Join(at, "CACHEDIR.TAG"), 4096) // https://bford.info/cachedir/
	switch {
	case d.Name() == "__pycache__":
		return unseen
	case d.Name() == "node_modules", d.Name() == "site-packages", d.Name() == "dist-packages":
		return "installed packages"
	case has("pyvenv.cfg"):
		return "a Python environment"
	case has("conda-meta"):
		return "a conda environment"
	case strings.HasPrefix(string(tag), "Signature: 8a477f597d28d172789f06886806bc55"):
		return "a cache" // of Cargo, and many more
	}
	return ""
}
