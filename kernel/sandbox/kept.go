package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrWritable is wrapped by errors about files that cells could change but must not.
var ErrWritable = errors.New("cells could change it")

// keeps returns an error if cells could change data, a run folder or the temporary files of sessions,
// as these are in a folder where cells write. data and own are real paths. Data may be a folder of
// b.Write itself: that names them.
func (b Box) keeps(s Session, data, own []string) error {
	given, err := folders(b.Write)
	if err != nil {
		return err
	}
	written, err := folders(s.Write)
	if err != nil {
		return err
	}
	temporary, err := pin(filepath.Dir(s.Private))
	if err != nil {
		return err
	}
	open := append(given, written...)
	if b.Tier == Builtin && b.Multiprocessing {
		open = append(open, "/dev/shm")
	}
	for i, paths := range [][]string{data, own, {temporary}} {
		for _, path := range paths {
			at := slices.IndexFunc(open, func(folder string) bool { return in(path, folder) })
			if at >= 0 && (i > 0 || !slices.Contains(given, path)) {
				what := []string{"data", "the run folder", "the folder for temporary files"}[i]
				return fmt.Errorf("%w: %s: %s is in %s, all of which they may write", ErrWritable, what,
					path, open[at])
			}
		}
	}
	return nil
}

// ErrTooMany is wrapped by errors about folders with too many files to search for sockets.
var ErrTooMany = errors.New("there are too many files to look for sockets, on which other " +
	"programs may listen")

// Bounds of a search for sockets.
const (
	mostEntries = 2_000_000
	longestWalk = 20 * time.Second
)

// sockets returns the Unix sockets in the folders that cells read or write, except the session's
// own: a read-only mount does not prevent connecting to a service. needs is what the program reads.
func (b Box) sockets(needs []string) ([]string, error) {
	inSystem := func(path string) bool {
		return slices.ContainsFunc(programFolders, func(folder string) bool { return in(path, folder) })
	}
	folders := slices.Concat(slices.DeleteFunc(slices.Clone(needs), inSystem), b.Read, b.Write)
	w := walk{left: mostEntries, until: time.Now().Add(longestWalk)}
	found, err := w.all(folders)
	if err != nil {
		return nil, err
	}
	found = append(found, systemSockets()...)
	outer := append(outermost(folders), programFolders...)
	for _, path := range socketPaths("/proc/net/unix") { // including those bound after the search
		if slices.ContainsFunc(outer, func(folder string) bool { return in(path, folder) }) {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// programFolders are the system's folders that cells read.
var programFolders = []string{"/usr", "/opt"}

// installed are the folders in programFolders that are searched for sockets. The rest of /usr are
// static files of the distribution (Filesystem Hierarchy Standard 3.0, chapter 4), and Linux lists
// what listens there in this network namespace.
var installed = []string{"/usr/local", "/opt"}

// longestSystemWalk bounds the search in installed, which delays the first start. Sockets that it
// misses are still found if Linux lists them.
const longestSystemWalk = 2 * time.Second

// systemSockets returns the sockets in installed, searched once.
var systemSockets = sync.OnceValue(func() []string {
	return socketsBelow(installed, time.Now().Add(longestSystemWalk))
})

// socketsBelow returns the sockets in folders that it finds by until. It reads many folders
// concurrently.
func socketsBelow(folders []string, until time.Time) (found []string) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var look func(folder string, apart int)
	look = func(folder string, apart int) {
		f, err := os.Open(folder)
		if err != nil {
			return // what this user cannot read, its cells cannot either
		}
		entries, _ := f.ReadDir(-1) // unsorted, and as much as can be read
		_ = f.Close()               // nothing was written
		late := time.Now().After(until)
		for _, e := range entries {
			switch {
			case e.Type()&fs.ModeSocket != 0:
				mu.Lock()
				found = append(found, folder+"/"+e.Name())
				mu.Unlock()
			case !e.IsDir() || late:
			case apart > 0:
				all.Go(func() { look(folder+"/"+e.Name(), apart-1) })
			default:
				look(folder+"/"+e.Name(), 0)
			}
		}
	}
	for _, folder := range folders {
		look(folder, 2)
	}
	all.Wait()
	return found
}

// socketPaths returns the real paths of the sockets in Linux's table (unix(7)).
func socketPaths(table string) (all []string) {
	content, _ := os.ReadFile(table) // only Linux has it
	for line := range strings.Lines(string(content)) {
		// Num RefCount Protocol Flags Type St Inode Path
		fields := strings.SplitAfterN(strings.TrimSuffix(line, "\n"), " /", 2)
		if len(fields) < 2 || len(strings.Fields(fields[0])) != 8 {
			continue // unnamed, or abstract
		}
		if path, err := realPath("/" + fields[1]); err == nil {
			all = append(all, path)
		}
	}
	return all
}

// outermost returns the real paths of the paths that exist and are not inside another.
func outermost(paths []string) (all []string) {
	for _, path := range paths {
		if real, err := realPath(path); err == nil {
			all = append(all, real)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(a) - len(b) })
	var outer []string
	for _, path := range all {
		if !slices.ContainsFunc(outer, func(folder string) bool { return in(path, folder) }) {
			outer = append(outer, path)
		}
	}
	return outer
}

// walked caches the sockets of folders, which can have many files. It is never refreshed, as this
// process is short-lived.
var walked = struct {
	sync.Mutex
	sockets map[string][]string
}{sockets: map[string][]string{}}

// A walk is a bounded search of folders for sockets.
type walk struct {
	left  int
	until time.Time
}

// all returns the sockets in folders; a path may be a socket itself.
func (w *walk) all(paths []string) (found []string, err error) {
	walked.Lock()
	defer walked.Unlock()
	for _, path := range outermost(paths) {
		sockets, known := walked.sockets[path]
		if !known {
			if sockets, err = w.folder(path); err != nil {
				return nil, err
			}
			walked.sockets[path] = sockets
		}
		found = append(found, sockets...)
	}
	return found, nil
}

func (w *walk) folder(path string) (found []string, err error) {
	err = filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error {
		if w.left--; w.left < 0 || w.left%1024 == 0 && time.Now().After(w.until) {
			return fmt.Errorf("%w: in %s; the sandbox builtin closes all sockets", ErrTooMany, path)
		}
		// on an error the file is gone, or this user cannot read it
		if err == nil && e.Type()&fs.ModeSocket != 0 {
			found = append(found, file)
		}
		return nil
	})
	return found, err
}
