package rerun

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// An outFile is the destination of the executed notebook. It is saved in the background while cells
// run, so that a killed run leaves its outputs so far.
type outFile struct {
	nb    *notebook.Notebook
	shown string // as the user named it
	path  string // of the file, with links resolved; "" for standard output

	// the folder of path, held open because cells may replace it; nil for standard output
	folder *os.Root

	mu      sync.Mutex    // guards nb while it is saved
	changed chan struct{} // holds a token if there is something to save
	stop    chan struct{} // closed by finish
	ended   chan struct{} // closed when background saving has ended
	written bool          // at least once
}

// saveAgain is the minimum interval between saves in the background.
const saveAgain = 2 * time.Second

// noOutFile is an outFile that writes nothing.
func noOutFile(nb *notebook.Notebook) *outFile {
	return &outFile{nb: nb, changed: make(chan struct{}, 1), stop: make(chan struct{}),
		ended: make(chan struct{})}
}

// newOutFile checks that out is writable: "" stands for the notebook's path with another extension,
// "-" for standard output.
func newOutFile(path, out string, nb *notebook.Notebook) (*outFile, error) {
	o := noOutFile(nb)
	o.shown = out
	switch out {
	case "-":
		return o, nil
	case "":
		o.shown = OutPath(path)
	}
	bad := func(hint usage.Hint, format string, args ...any) (*outFile, error) {
		return nil, usage.New("--out: "+fmt.Sprintf(format, args...), hint)
	}
	o.path = o.shown
	// the user has not named the link, and somebody else may have made it
	if out == "" && IsLink(o.path) {
		return bad(usage.Shell("rm %s   # the link alone", o.path),
			"%s is a link, and nothing is written through it", term.Printable(o.shown))
	}
	if real, err := filepath.EvalSymlinks(o.path); err == nil {
		o.path = real // else the save would replace the link
	}
	dir := filepath.Dir(o.path)
	info, err := os.Stat(o.path)
	switch {
	case err == nil && info.IsDir():
		return bad(usage.Shell("dsstar rerun -o %s %s", filepath.Join(o.shown, filepath.Base(path)),
			path), "%s is a folder", term.Printable(o.shown))
	case err == nil && !info.Mode().IsRegular():
		return bad(usage.Shell("dsstar rerun -o - %s", path), "%s is not a file", term.Printable(o.shown))
	case err != nil && !os.IsNotExist(err):
		return bad(usage.Shell("ls -ld %s", dir), "%v", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return bad(usage.Shell("mkdir -p %s", dir), "there is no folder %s", term.Printable(dir))
	}
	if o.folder, err = os.OpenRoot(dir); err == nil {
		err = tryWriting(o.folder)
	}
	if err != nil {
		return bad(usage.Shell("ls -ld %s", dir), "cannot write to %s: %v", term.Printable(dir), err)
	}
	return o, nil
}

// OutPath is the default path of the executed notebook.
func OutPath(path string) string { return strings.TrimSuffix(path, ".ipynb") + ".rerun.ipynb" }

// IsLink reports whether path is a symbolic link.
func IsLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// tryWriting returns an error if no file can be created in the folder.
func tryWriting(folder *os.Root) error {
	name := ".dsstar-rerun-" + rand.Text()[:8]
	probe, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), folder.Remove(name))
}

// start begins to save in the background: once immediately, and then after changes.
func (o *outFile) start() {
	if o.path == "" {
		close(o.ended)
		return
	}
	o.changed <- struct{}{}
	go func() {
		defer close(o.ended)
		for {
			select {
			case <-o.stop:
				return
			case <-o.changed:
			}
			begin := time.Now()
			_ = o.save() // finish reports the error
			select {
			case <-o.stop:
				return
			case <-time.After(max(saveAgain, 10*time.Since(begin))): // save large notebooks less often
			}
		}
	}()
}

// change calls do, which may change the notebook, and requests a save.
func (o *outFile) change(do func()) {
	o.mu.Lock()
	do()
	o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// finish ends the saving in the background and saves the final notebook.
func (o *outFile) finish() error {
	close(o.stop)
	<-o.ended
	if o.path == "" {
		return nil
	}
	defer o.folder.Close()
	if err := o.save(); err != nil {
		return fmt.Errorf("write the executed notebook: %w", err)
	}
	return nil
}

func (o *outFile) save() error {
	o.mu.Lock()
	data, err := o.nb.Encode()
	o.mu.Unlock()
	if err != nil {
		return err
	}
	// Cells may write there: a link in its place is replaced, not followed.
	if err := disk.WriteFileIn(o.folder, filepath.Base(o.path), data); err != nil {
		return err
	}
	o.written = true
	return nil
}

// print writes the notebook to standard output.
func (o *outFile) print(stdout io.Writer) error {
	data, err := o.nb.Encode()
	if err != nil {
		return err
	}
	_, err = stdout.Write(data)
	return err
}
