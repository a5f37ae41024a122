package rerun

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// An outFile is the destination of the executed notebook. It is saved after cells, so that a killed
// run leaves its outputs so far.
type outFile struct {
	shown  string   // as the user named it; "": there is none
	name   string   // in the folder; "": nothing is saved
	folder *os.Root // held open, because cells may replace it
	begun  time.Time
	spent  time.Duration // on saving
}

// newOutFile checks that out is writable: "" stands for the notebook's path with another extension,
// "-" for standard output.
func newOutFile(path, out string) (*outFile, error) {
	o := &outFile{shown: out, begun: time.Now()}
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
	if err = disk.CheckWritable(dir); err == nil {
		o.folder, err = os.OpenRoot(dir)
	}
	if err != nil {
		return nil, usage.New(ui.Printable(err.Error()), usage.Again("--out", "~/"+filepath.Base(target)))
	}
	o.name = filepath.Base(target)
	return o, nil
}

// outPath is the default path of the executed notebook.
func outPath(path string) string { return strings.TrimSuffix(path, ".ipynb") + ".rerun.ipynb" }

// keep saves the notebook, unless that would take more than a tenth of the time: of a large one not
// after each cell. The last save reports what is wrong.
func (o *outFile) keep(nb *notebook.Notebook) {
	if begin := time.Now(); 10*o.spent <= begin.Sub(o.begun) {
		_ = o.save(nb)
		o.spent += time.Since(begin)
	}
}

// save saves the notebook. Cells may write there: a link in its place is replaced, not followed.
func (o *outFile) save(nb *notebook.Notebook) error {
	if o.name == "" {
		return nil
	}
	data, err := nb.Encode()
	if err == nil {
		err = disk.WriteFileIn(o.folder, o.name, data)
	}
	if err != nil {
		return fmt.Errorf("write the executed notebook: %w", err)
	}
	return nil
}
