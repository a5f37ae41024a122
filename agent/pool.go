package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"dsstar/notebook"
)

// A scratch is a session that describes files, in a folder of its own. ran is
// the script that has run in it last: another one is run from nothing.
type scratch struct {
	Session
	dir string
	ran script
}

// A script describes the files of a family. Its first file tells it from an
// equal one of another family.
type script struct {
	code string
	lead string
}

// runScript runs a description script on each of the files, in a session of the
// pool, and tells each what came of it. What another script has left there must
// not show in a description, nor what this one has named for the file before: its
// names are cleared, and after a failure all else.
func (r *run) runScript(ctx context.Context, pool chan *scratch, which script, members []int, each func(int, notebook.Execution) error) error {
	var s *scratch
	select {
	case s = <-pool:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { pool <- s }()
	for _, i := range members {
		e, err := r.runOn(ctx, s, which, i)
		if err != nil {
			return err
		}
		if err := each(i, e); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) runOn(ctx context.Context, s *scratch, which script, i int) (notebook.Execution, error) {
	defer r.kernel.start()()
	cell := "path = " + r.dataPython(i) + "\n" + which.code
	switch s.ran {
	case which:
		cell = "import os\nos.chdir(" + pyString(filepath.Join(s.dir, "files")) + ")\n%reset_selective -f .\n" + cell
	case script{}:
	default:
		if err := s.enter(ctx, r.dataPath()); err != nil {
			return notebook.Execution{}, err
		}
	}
	s.ran = which
	e, err := s.Execute(ctx, cell)
	if e.Status != notebook.OK {
		s.ran = script{code: "failed"} // so that the next one starts from nothing
	}
	return e, err
}

// enter makes the session see the data folder as the run's own would, and
// nothing else: after a script from nothing.
func (s *scratch) enter(ctx context.Context, data string) error {
	cells := []string{"data_dir = " + pyString(data), setupCell, "%reset -f"}
	var executions []notebook.Execution
	var err error
	if s.ran != (script{}) {
		executions, err = s.Rollback(ctx, cells)
	} else {
		executions, err = executeAll(ctx, s, cells)
	}
	if err != nil {
		return err
	}
	s.ran = script{}
	return setUp(executions)
}

// setUp returns an error if a cell that sets a session up has failed.
func setUp(executions []notebook.Execution) error {
	for _, e := range executions {
		if e.Status != notebook.OK {
			return fmt.Errorf("set up the session: %s", oneLine(e))
		}
	}
	return nil
}

// executeAll runs cells until one fails, whose execution is the last returned.
func executeAll(ctx context.Context, s Session, cells []string) ([]notebook.Execution, error) {
	var all []notebook.Execution
	for _, code := range cells {
		e, err := s.Execute(ctx, code)
		if err != nil {
			return all, err
		}
		if all = append(all, e); e.Status != notebook.OK {
			break
		}
	}
	return all, nil
}

// openPool opens the sessions that describe files, each in a folder of its own:
// one at least, and no more than there are files to describe.
func (r *run) openPool(ctx context.Context, files int) (pool chan *scratch, closePool func(), err error) {
	size := max(1, min(r.cfg.Jobs, files))
	folder, err := os.MkdirTemp("", "dsstar-describe-")
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var opening []*later
	var entering sync.WaitGroup
	closePool = func() {
		cancel()
		entering.Wait()
		for _, l := range opening {
			l.close()
		}
		_ = os.RemoveAll(folder) // a temporary folder; the system clears what stays
	}
	pool = make(chan *scratch, size)
	failed := make(chan error, size)
	for i := range size {
		dir := filepath.Join(folder, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			closePool()
			return nil, nil, err
		}
		l := r.openLater(ctx, Describe, dir)
		opening = append(opening, l)
		entering.Go(func() {
			session, err := l.wait()
			s := &scratch{Session: session, dir: dir}
			if err == nil {
				err = s.enter(ctx, r.dataPath())
			}
			if err != nil {
				failed <- err
				return
			}
			pool <- s
		})
	}
	// The first session to be ready is enough to begin with; one that fails is
	// a reason to stop, as the others would fail in the same way.
	select {
	case s := <-pool:
		pool <- s
		return pool, closePool, nil
	case err := <-failed:
		closePool()
		return nil, nil, err
	}
}

// dataPath is the data folder, wherever one stands.
func (r *run) dataPath() string {
	if filepath.IsAbs(r.t.Task.Data) {
		return r.t.Task.Data
	}
	return filepath.Join(r.cfg.Dir, r.t.Task.Data)
}

// probe asks a session for what the notebook runs on.
func (r *run) probe(ctx context.Context, pool chan *scratch) error {
	s := <-pool
	defer func() { pool <- s }()
	e, err := s.Execute(ctx, probeCode)
	if err != nil {
		return err
	}
	if e.Status != notebook.OK {
		return fmt.Errorf("look at the Python environment: %s", oneLine(e))
	}
	r.t.Environment = strings.TrimSpace(e.Stdout())
	return r.observe(Event{Kind: Started, Text: r.t.Environment})
}

const probeCode = `import sys
from importlib import metadata

def _version(name):
    try:
        return name + " " + ".".join(metadata.version(name).split(".")[:2])
    except metadata.PackageNotFoundError:
        return ""

_names = """numpy pandas scipy scikit-learn statsmodels matplotlib seaborn openpyxl xlrd
pyarrow polars duckdb sqlalchemy lxml beautifulsoup4 pypdf pillow networkx""".split()
print("Python %d.%d.%d with" % sys.version_info[:3], ", ".join(filter(None, map(_version, _names))))
%reset -f`
