package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrEdited is wrapped by the error of [Guarded.Write] if somebody else has changed the file.
var ErrEdited = errors.New("somebody else has changed it")

// A Guarded is a file that this program writes repeatedly while people and their editors may write
// to it too: it never overwrites their edits, unless one comes in the microseconds between the last
// look at the file and the rename. It is not safe for concurrent use.
type Guarded struct {
	first, path string
	folder      *os.Root // the file's folder, kept open because cells may replace its path
	folderErr   error    // why there is no folder
	same        func(a, b []byte) bool
	accepted    [][]byte // the last contents that are not edits, the newest last

	// For tests:
	patience  time.Duration // how long a file may be half written
	meanwhile func()        // called when what to write is on disk
}

// acceptedKept is the number of versions with which a rewritten file is compared: an editor may
// save an older version that it had loaded.
const acceptedKept = 4

// Guard guards the file at path. same says whether two contents are the same for a person, and of a
// content that is half written, that it is not even the same as itself; nil: equal bytes are.
func Guard(path string, same func(a, b []byte) bool) *Guarded {
	if same == nil {
		same = bytes.Equal
	}
	g := &Guarded{first: path, path: path, same: same, patience: 500 * time.Millisecond}
	g.folder, g.folderErr = os.OpenRoot(filepath.Dir(path))
	return g
}

func (g *Guarded) name() string { return filepath.Base(g.path) }

// Path returns the current path of the file.
func (g *Guarded) Path() string { return g.path }

// Accept declares that the caller has read data. A file with this content may be overwritten.
func (g *Guarded) Accept(data []byte) {
	if n := len(g.accepted); n == 0 || !bytes.Equal(g.accepted[n-1], data) {
		g.accepted = append(g.accepted[max(0, n+1-acceptedKept):], data)
	}
}

// SwitchTo continues with the file at path: the first one or a sibling. The file has the given
// content, which is accepted.
func (g *Guarded) SwitchTo(path string, content []byte) {
	g.path = path
	g.Accept(content)
}

// sibling returns the n-th path of a file and its siblings: notebook.ipynb, notebook-2.ipynb.
func sibling(first string, n int) string {
	if n == 1 {
		return first
	}
	ext := filepath.Ext(first)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(first, ext), n, ext)
}

// NextSibling continues with the first sibling that does not exist yet.
func (g *Guarded) NextSibling() {
	g.accepted = nil
	for n := 2; ; n++ {
		g.path = sibling(g.first, n)
		if _, err := g.folder.Lstat(g.name()); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// Newest returns the path of the last sibling that [Guarded.NextSibling] made for first, or first
// itself if there are no siblings, or "" if first does not exist.
func Newest(first string) (newest string) {
	for n := 1; ; n++ {
		path := sibling(first, n)
		if _, err := os.Stat(path); err != nil {
			return newest
		}
		newest = path
	}
}

// Write writes data, whole or not at all, if the file is missing or unedited. It does not touch a
// file that already has this content. If the file was edited, it stays as it is, and the error
// wraps [ErrEdited]. More than MaxDocument bytes are not written.
func (g *Guarded) Write(data []byte) error {
	if g.folderErr != nil {
		return g.folderErr
	}
	if len(data) > MaxDocument {
		return &fs.PathError{Op: "write", Path: g.path, Err: ErrTooLong}
	}
	old, err := g.look()
	if err == nil && !bytes.Equal(old, data) || errors.Is(err, fs.ErrNotExist) {
		err = g.put(data)
	}
	if err == nil {
		g.Accept(data)
	}
	return err
}

// put replaces the file with data, or creates it, unless it was edited by now.
func (g *Guarded) put(data []byte) error {
	temporary, err := writeBeside(g.folder, g.name(), data, 0o644)
	if err != nil {
		return err
	}
	if g.meanwhile != nil {
		g.meanwhile()
	}
	if _, err = g.look(); err == nil {
		err = g.folder.Rename(temporary, g.name())
	} else if errors.Is(err, fs.ErrNotExist) {
		err = place(g.folder, temporary, g.name())
	}
	if errors.Is(err, fs.ErrExist) { // somebody has just made it
		err = fmt.Errorf("%w: %w", err, ErrEdited)
	}
	_ = g.folder.Remove(temporary) // after a rename there is nothing to remove
	return err
}

// look returns the content of the file if it is unedited. Anything that is not a regular file counts
// as an edit.
func (g *Guarded) look() ([]byte, error) {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		data, err := ReadIn(g.folder, g.name(), MaxDocument)
		if errors.Is(err, ErrNotRegular) || errors.Is(err, ErrTooLong) {
			err = fmt.Errorf("%w: %w", err, ErrEdited)
		}
		if err != nil || g.expected(data) {
			return data, err
		}
		if g.same(data, data) || time.Since(begin) > g.patience {
			return nil, fmt.Errorf("%s: %w", g.path, ErrEdited)
		}
	}
}

// expected reports whether data is the same as an accepted content.
func (g *Guarded) expected(data []byte) bool {
	is := func(accepted []byte) bool { return bytes.Equal(accepted, data) }
	same := func(accepted []byte) bool { return g.same(accepted, data) }
	return slices.ContainsFunc(g.accepted, is) || slices.ContainsFunc(g.accepted, same)
}
