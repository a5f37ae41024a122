package files

import (
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
	Unread  []string  // folders that cannot be read
	Skipped []Skipped // folders that are not data, except hidden ones and runs of dsstar
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

// List lists the data files of a folder: see [ListAll].
func List(ctx context.Context, root string, include []string) (Listing, error) {
	return ListAll(ctx, []Source{{Path: root}}, include)
}

// ListAll lists the data files of all sources by their names in the data folder; of a folder,
// sorted by folder and name, regular files at any depth, and links to regular files. It skips
// hidden files, run folders of dsstar, installed packages and caches: see [skipped]. It never skips
// what is a source itself, nor the files and folders below it that include names ("." names all).
// It returns ctx's error once ctx is done.
func ListAll(ctx context.Context, sources []Source, include []string) (Listing, error) {
	var all Listing
	for _, s := range sources {
		info, err := os.Stat(s.Path)
		switch {
		case s.Of != "":
			continue
		case s.Database != "":
			all.Files = append(all.Files, File{Name: s.Name, Size: int64(len(s.Content()))})
			continue
		case err == nil && info.Mode().IsRegular():
			all.Files = append(all.Files,
				File{Name: s.Name, Size: info.Size(), With: parts(Companions(s.Path, s.Name))})
			continue
		case err == nil:
			err = all.add(ctx, s, within(s.Name, include))
		}
		if err != nil {
			return Listing{}, fmt.Errorf("list the data: %w", err)
		}
	}
	return all, nil
}

// add adds the files of a folder, each with its companions.
func (l *Listing) add(ctx context.Context, s Source, include []string) error {
	root, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return err
	}
	w := walk{root: root, source: s.Name, listing: l, seen: map[string]bool{}}
	for _, name := range include {
		w.include = append(w.include, path.Clean(name))
	}
	before := len(l.Files)
	if err := w.from(ctx, ".", slices.Contains(w.include, ".")); err != nil {
		return err
	}
	for _, name := range w.include {
		in := filepath.Dir(filepath.Join(root, name))
		if !filepath.IsLocal(name) || disk.RealPath(in) != in { // it leads out of the folder, or may
			continue
		}
		if err := w.from(ctx, name, true); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	all, taken := l.Files[before:], map[string]bool{}
	slices.SortFunc(all, func(a, b File) int { return slices.Compare(parted(a), parted(b)) })
	for i, f := range all {
		companions := Companions(filepath.Join(root, strings.TrimPrefix(f.Name, s.Name+"/")), f.Name)
		all[i].With = parts(companions)
		for _, c := range companions {
			taken[c.Name] = true
		}
	}
	kept := slices.DeleteFunc(all, func(f File) bool { return taken[f.Name] })
	l.Files = l.Files[:before+len(kept)]
	return nil
}

func parted(f File) []string { return strings.Split(f.Name, "/") }

// A walk goes through the folder of a source.
type walk struct {
	root    string
	source  string // its name
	include []string
	listing *Listing
	seen    map[string]bool
}

// from lists what is below a name, which may be skipped itself; all: and what is skipped otherwise.
// It is not fs.WalkDir, which refuses names that are not UTF-8.
func (w *walk) from(ctx context.Context, name string, all bool) error {
	top := filepath.Join(w.root, name)
	return filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(at[len(w.root):], "/")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && at != top && errors.Is(err, fs.ErrPermission):
			w.listing.Unread = append(w.listing.Unread, path.Join(w.source, name))
			return nil
		case err != nil:
			return err
		case at != top && d.IsDir() && (hidden(d.Name()) || isRun(at)):
			return filepath.SkipDir
		case at != top && hidden(d.Name()):
			return nil
		}
		if why := skipped(at, d); at != top && !all && why != "" {
			w.skip(name, why)
			return filepath.SkipDir
		}
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && !w.seen[name] {
			w.seen[name] = true
			f := File{Name: path.Join(w.source, name), Size: info.Size()}
			w.listing.Files = append(w.listing.Files, f)
		}
		return nil
	})
}

// skip tells of a skipped folder, unless the user has named it or something in it.
func (w *walk) skip(name, why string) {
	if !slices.ContainsFunc(w.include, func(i string) bool { return i == name || below(i, name) }) {
		w.listing.Skipped = append(w.listing.Skipped, Skipped{path.Join(w.source, name) + "/", why})
	}
}

// below reports whether a name is in a folder; "" contains all.
func below(name, folder string) bool {
	return folder == "" || strings.HasPrefix(name, folder+"/")
}

// skipped returns why a folder is not data, or "" if it may be data. It only relies on names and
// marker files that no data folder has.
func skipped(path string, d fs.DirEntry) string {
	if !d.IsDir() {
		return ""
	}
	tag, _ := disk.ReadPlain(filepath.Join(path, "CACHEDIR.TAG"), 4096) // https://bford.info/cachedir/
	has := func(file string) bool {
		_, err := os.Lstat(filepath.Join(path, file))
		return err == nil
	}
	switch {
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

func hidden(name string) bool { return strings.HasPrefix(name, ".") || name == "__pycache__" }

// isRun reports whether a folder is a run folder of dsstar: it has the three names that every
// run folder has from the start.
func isRun(path string) bool {
	for _, name := range []string{"notebook.ipynb", "trace.jsonl", "files"} {
		if _, err := os.Lstat(filepath.Join(path, name)); err != nil {
			return false
		}
	}
	return true
}
