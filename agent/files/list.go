package files

import (
	"cmp"
	"context"
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
	w := walk{root: root, source: s.Name, listing: l}
	for _, name := range include {
		w.include = append(w.include, path.Clean(name))
	}
	before := len(l.Files)
	// Not fs.WalkDir, which refuses names that are not UTF-8.
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		return cmp.Or(ctx.Err(), w.visit(path, d, err))
	})
	taken := map[string]bool{}
	for i, f := range l.Files[before:] {
		companions := Companions(filepath.Join(root, strings.TrimPrefix(f.Name, s.Name+"/")), f.Name)
		l.Files[before+i].With = parts(companions)
		for _, c := range companions {
			taken[c.Name] = taken[c.Name] || !c.own()
		}
	}
	kept := slices.DeleteFunc(l.Files[before:], func(f File) bool { return taken[f.Name] })
	l.Files = l.Files[:before+len(kept)]
	return err
}

// A walk goes through the folder of a source.
type walk struct {
	root    string
	source  string // its name
	include []string
	listing *Listing
	narrow  string // a skipped folder, entered for included names below it
}

func (w *walk) visit(at string, d fs.DirEntry, err error) error {
	name := strings.TrimPrefix(at[len(w.root):], "/")
	if err != nil {
		if at == w.root || !errors.Is(err, fs.ErrPermission) {
			return err
		}
		w.listing.Unread = append(w.listing.Unread, path.Join(w.source, name))
		return nil
	}
	if at != w.root && (hidden(d.Name()) || d.IsDir() && isRun(at)) {
		return passBy(d)
	}
	switch narrow := w.narrow != "" && below(name, w.narrow); {
	case at == w.root || w.included(name) || narrow && w.leads(name):
	case narrow:
		return passBy(d)
	default:
		w.narrow = ""
		if why := skipped(at, d); why != "" && !w.leads(name) {
			w.listing.Skipped = append(w.listing.Skipped, Skipped{path.Join(w.source, name) + "/", why})
			return filepath.SkipDir
		} else if why != "" {
			w.narrow = name
		}
	}
	if size, ok := regular(at, d); ok {
		f := File{Name: path.Join(w.source, name), Size: size}
		w.listing.Files = append(w.listing.Files, f)
	}
	return nil
}

func passBy(d fs.DirEntry) error {
	if d.IsDir() {
		return filepath.SkipDir
	}
	return nil
}

// below reports whether a name is in a folder; "" contains all.
func below(name, folder string) bool {
	return folder == "" || strings.HasPrefix(name, folder) && len(name) > len(folder) &&
		name[len(folder)] == '/'
}

// included reports whether the user has named this name or a folder that contains it.
func (w *walk) included(name string) bool {
	return slices.ContainsFunc(w.include, func(i string) bool {
		return i == "." || i == name || below(name, i)
	})
}

// leads reports whether the user has named something below the folder.
func (w *walk) leads(name string) bool {
	return slices.ContainsFunc(w.include, func(i string) bool { return below(i, name) })
}

// skipped returns why a folder is not data, or "" if it may be data. It only relies on names and
// marker files that no data folder has.
func skipped(path string, d fs.DirEntry) string {
	if !d.IsDir() {
		return ""
	}
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
	case d.Name() == "CVS" && has("Entries"):
		return "version control"
	case strings.HasPrefix(string(readSome(filepath.Join(path, "CACHEDIR.TAG"), 64)),
		"Signature: 8a477f597d28d172789f06886806bc55"):
		return "a cache" // https://bford.info/cachedir/: of Cargo, and many more
	}
	return ""
}

// readSome reads at most that many bytes from the beginning of a regular file. It returns nil for
// links, pipes and others.
func readSome(path string, most int64) []byte {
	f, err := disk.OpenPlain(path, 1<<62)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, most)) // a partial read is used
	return b
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || name == "__pycache__" }

// regular returns the size of a regular file, or of the regular file that a link leads to. ok
// is false for anything else, such as a folder, a broken link or a pipe.
func regular(path string, d fs.DirEntry) (size int64, ok bool) {
	var info fs.FileInfo
	var err error
	switch {
	case d.Type().IsRegular():
		info, err = d.Info()
	case d.Type()&fs.ModeSymlink != 0:
		info, err = os.Stat(path)
	default:
		return 0, false
	}
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

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
