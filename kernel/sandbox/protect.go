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

// protects returns an error if cells could change data, a run folder or the temporary files of
// sessions, as these are in a folder where cells write. All but temporary are real paths. Data may be
// a folder of b.Write itself: that names them.
func (b Box) protects(write []string, temporary string, data, own []string) error {
	given, err := folders(b.Write)
	if err != nil {
		return err
	}
	if temporary, err = pin(temporary); err != nil {
		return err
	}
	open := slices.Clone(write)
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

// ErrUnsearched is wrapped by errors about folders that cannot be searched for sockets completely.
var ErrUnsearched = errors.New("the files cannot all be searched for sockets, on which other " +
	"programs may listen")

// Bounds of a search for sockets: files and folders, and time.
const (
	mostEntries = 2_000_000
	longestWalk = 20 * time.Second
)

// sockets returns the Unix sockets in the folders that cells read or write, except the session's
// own: a read-only mount does not prevent connecting to a service. needs is what the program reads.
func (b Box) sockets(needs []string) (found []string, err error) {
	inSystem := func(path string) bool { return inOne(path, programFolders) }
	folders := outermost(slices.Concat(slices.DeleteFunc(slices.Clone(needs), inSystem), b.Read, b.Write))
	until := time.Now().Add(longestWalk)
	for _, path := range folders {
		sockets, known := searched.Load(path)
		if !known {
			all, err := socketsBelow(path, until, mostEntries)
			if err != nil {
				return nil, fmt.Errorf("%w: in %s: %w; the sandbox builtin closes all sockets",
					ErrUnsearched, path, err)
			}
			sockets, _ = searched.LoadOrStore(path, all)
		}
		found = append(found, sockets.([]string)...)
	}
	outer := append(folders, programFolders...)
	for _, path := range socketPaths("/proc/net/unix") { // including those bound after the search
		if inOne(path, outer) {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// programFolders are the system's folders that cells read: static files of the distribution
// (Filesystem Hierarchy Standard 3.0, chapter 4) in which Linux lists what listens in this network
// namespace.
var programFolders = []string{"/usr", "/opt"}

// searched caches the sockets in folders, which can have many files. It is never refreshed, as this
// process is short-lived.
var searched sync.Map // a []string by path

// socketsBelow returns the sockets in a path, which may be one itself. The error says why it was
// not searched completely: at the end of a time or a number of entries, or if a folder cannot be
// read for another reason than the user's rights.
func socketsBelow(path string, until time.Time, entries int) (found []string, err error) {
	err = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		entries--
		switch {
		case errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist):
			// what this user cannot read, its cells cannot either
		case err != nil:
			return err
		case entries < 0 || time.Now().After(until):
			return errors.New("there are too many files")
		case d.Type()&fs.ModeSocket != 0:
			found = append(found, path)
		}
		return nil
	})
	return found, err
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
		all = append(all, "/"+fields[1])
	}
	return existing(all)
}

// existing returns the real paths of those that exist and are accessible.
func existing(paths []string) (all []string) {
	for _, path := range paths {
		if real, err := realPath(path); err == nil {
			all = append(all, real)
		}
	}
	return all
}

// outermost returns the real paths of the paths that exist and are not inside another.
func outermost(paths []string) (outer []string) {
	all := existing(paths)
	slices.SortFunc(all, func(a, b string) int { return len(a) - len(b) })
	for _, path := range all {
		if !inOne(path, outer) {
			outer = append(outer, path)
		}
	}
	return outer
}

// ErrReplaced is wrapped by errors about a folder or file that was replaced after its first use.
var ErrReplaced = errors.New("it has been replaced since the first session")

// pins maps absolute paths to their real paths at first use, before any cell could change them.
var pins sync.Map

// pin returns the real path of path. If that has changed since first use, it returns an error: a
// cell may have put a link there. For a path that does not exist yet, it returns where it would be.
func pin(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, _ := behind(abs)
	if first, _ := pins.LoadOrStore(abs, real); first != real {
		return "", fmt.Errorf("%s: %w: it leads to %s now", path, ErrReplaced, real)
	}
	return real, nil
}

// An inode identifies a file: its device and inode.
type inode [2]uint64
