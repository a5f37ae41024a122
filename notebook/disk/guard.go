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
// to it too: it never overwrites their edits. It is not safe for concurrent use.
//
// If the file system can exchange two names (Linux's renameat2, on all common file systems), no
// saved edit is lost: the replaced file is checked again, and put back if it is not as expected.
// Otherwise an edit is lost if it comes in the microseconds between the last check and the rename.
type Guarded struct {
	first, path string
	folder      *os.Root // the file's folder, kept open because cells may replace its path
	folderErr   error    // why there is no folder
	same        func(a, b []byte) bool
	accepted    [][]byte // the last contents that are not edits, the newest last

	// For tests:
	patience time.Duration // how long a file may be half written
	// called between looking at the file and replacing it
	meanwhile func()
	exchange  func(folder *os.Root, a, b string) error // exchange
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
	g := &Guarded{first: path, path: path, same: same, patience: 500 * time.Millisecond,
		exchange: exchange}
	g.folder, g.folderErr = os.OpenRoot(filepath.Dir(path))
	return g
}

// name returns the name of the file in its folder.
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
		if g.folder == nil {
			return
		}
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

// errMeanwhile means that the file has changed since it was checked.
var errMeanwhile = errors.New("it has just changed")

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
	for range 10 { // retry if somebody else wrote during the exchange
		old, err := g.look()
		missing := errors.Is(err, fs.ErrNotExist)
		switch {
		case err == nil && bytes.Equal(old, data):
		case err == nil || missing:
			err = g.put(data, old, missing)
		}
		if err == nil {
			g.Accept(data)
		}
		if !errors.Is(err, errMeanwhile) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", g.path, ErrEdited)
}

// put replaces old with data, or creates the file.
func (g *Guarded) put(data, old []byte, missing bool) error {
	temporary, err := writeBeside(g.folder, g.name(), data, 0o644)
	if err != nil {
		return err
	}
	if g.meanwhile != nil {
		g.meanwhile()
	}
	if missing {
		if err = place(g.folder, temporary, g.name()); errors.Is(err, fs.ErrExist) {
			err = errMeanwhile
		}
	} else {
		err = g.replace(temporary, data, old)
	}
	if !errors.Is(err, errStranded) {
		_ = g.folder.Remove(temporary) // after a rename there is nothing to remove
	}
	return err
}

// look returns the content of the file if it is unedited.
func (g *Guarded) look() ([]byte, error) {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		data, err := g.read(g.name())
		if err != nil || g.expected(data) {
			return data, err
		}
		if g.same(data, data) || time.Since(begin) > g.patience {
			return nil, fmt.Errorf("%s: %w", g.path, ErrEdited)
		}
	}
}

// read reads the file, or another one in its folder. Anything that is not a regular file counts as
// an edit.
func (g *Guarded) read(name string) ([]byte, error) {
	data, err := ReadIn(g.folder, name, MaxDocument)
	if errors.Is(err, ErrNotRegular) || errors.Is(err, ErrTooLong) {
		err = fmt.Errorf("%w: %w", err, ErrEdited)
	}
	return data, err
}

// expected reports whether data is the same as an accepted content.
func (g *Guarded) expected(data []byte) bool {
	is := func(accepted []byte) bool { return bytes.Equal(accepted, data) }
	same := func(accepted []byte) bool { return g.same(accepted, data) }
	return slices.ContainsFunc(g.accepted, is) || slices.ContainsFunc(g.accepted, same)
}

// replace replaces the guarded file, which contained old, with the temporary one, which contains
// data.
func (g *Guarded) replace(temporary string, data, old []byte) error {
	err := g.exchange(g.folder, temporary, g.name())
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		if now, err := g.read(g.name()); err != nil || !bytes.Equal(now, old) {
			return errMeanwhile
		}
		return g.folder.Rename(temporary, g.name())
	case errors.Is(err, fs.ErrNotExist): // somebody has just deleted the file
		return errMeanwhile
	case err != nil:
		return err
	}
	edit, err := g.read(temporary)
	if err == nil && bytes.Equal(edit, old) {
		return nil
	}
	return errors.Join(err, g.putBack(temporary, edit, data))
}

// errStranded means that an edit could not be put back.
var errStranded = errors.New("what somebody else has just saved")

// putBack undoes an exchange that left an edit in temporary and data in the guarded file. If the
// editor writes again in the meantime, its last version stays.
func (g *Guarded) putBack(temporary string, edit, data []byte) error {
	for {
		var got []byte
		err := g.exchange(g.folder, temporary, g.name())
		if err == nil {
			got, err = g.read(temporary)
		}
		if err != nil {
			return fmt.Errorf("%w is in %s: %w", errStranded,
				filepath.Join(g.folder.Name(), temporary), err)
		}
		if bytes.Equal(got, data) {
			return errMeanwhile
		}
		edit, data = got, edit // newer than the edit that was just put back
	}
}
