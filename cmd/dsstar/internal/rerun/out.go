package rerun

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// An outFile is the destination of the executed notebook. It is saved while cells run, so that a
// killed run leaves its outputs so far.
type outFile struct {
	shown  string   // as the user named it; "": there is none
	name   string   // in the folder; "": nothing is saved
	folder *os.Root // held open, because cells may replace it

	mu      sync.Mutex // guards what follows, and the notebook while it is saved
	nb      *notebook.Notebook
	next    *time.Timer   // saves again; nil: nothing has changed since
	pause   time.Duration // before that
	written bool          // at least once
	ended   bool
}

// saveAgain is the minimum interval between saves while cells run.
const saveAgain = 2 * time.Second

// newOutFile checks that out is writable: "" stands for the notebook's path with another extension,
// "-" for standard output.
func newOutFile(path, out string, nb *notebook.Notebook) (*outFile, error) {
	o := &outFile{nb: nb, shown: out}
	if out == "-" {
		return o, nil
	}
	if out == "" {
		o.shown = outPath(path)
	}
	target, _, err := usage.Target(out, o.shown, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(target)
	if o.folder, err = os.OpenRoot(dir); err == nil {
		err = tryWriting(o.folder)
	}
	if err != nil {
		return nil, usage.New(fmt.Sprintf("--out: cannot write to %s: %v", ui.Printable(dir), err),
			usage.Shell("ls -ld %s", dir))
	}
	o.name = filepath.Base(target)
	return o, nil
}

// outPath is the default path of the executed notebook.
func outPath(path string) string { return strings.TrimSuffix(path, ".ipynb") + ".rerun.ipynb" }

// tryWriting returns an error if no file can be created in the folder.
func tryWriting(folder *os.Root) error {
	name := ".dsstar-rerun-" + rand.Text()[:8]
	probe, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), folder.Remove(name))
}

// change calls do, which may change the notebook, and has it saved soon: the first time at once.
func (o *outFile) change(do func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	do()
	if o.name == "" || o.next != nil {
		return
	}
	o.next = time.AfterFunc(o.pause, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if !o.ended {
			begin := time.Now()
			_ = o.save()                                                // finish reports the error
			o.next, o.pause = nil, max(saveAgain, 10*time.Since(begin)) // large notebooks less often
		}
	})
}

// finish saves the final notebook.
func (o *outFile) finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended = true; o.name == "" {
		return nil
	}
	defer o.folder.Close()
	if err := o.save(); err != nil {
		return fmt.Errorf("write the executed notebook: %w", err)
	}
	return nil
}

func (o *outFile) save() error {
	data, err := o.nb.Encode()
	if err == nil {
		// Cells may write there: a link in its place is replaced, not followed.
		err = disk.WriteFileIn(o.folder, o.name, data)
	}
	o.written = o.written || err == nil
	return err
}
