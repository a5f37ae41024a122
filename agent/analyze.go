package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"dsstar/notebook"
	"dsstar/prompts"
)

// describe gives every file its description (Algorithm 1, lines 2 to 6). Model
// calls and kernels run side by side; no two scripts share a kernel at once.
func (r *run) describe(ctx context.Context) error {
	pool, closePool, err := r.openPool(ctx)
	if err != nil {
		return err
	}
	defer closePool()
	if err := r.probe(ctx, pool); err != nil {
		return err
	}
	r.t.Descriptions = make([]Description, len(r.t.Task.Files))
	for i, f := range r.t.Task.Files {
		r.t.Descriptions[i].File = f.Name
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(modelCalls)
	for i, f := range r.t.Task.Files {
		g.Go(func() error {
			d, err := r.describeFile(ctx, pool, f)
			if err != nil {
				return err
			}
			r.mu.Lock()
			r.t.Descriptions[i] = d
			r.mu.Unlock()
			return r.observe(Event{Kind: Described, Text: f.Name, Try: d.Tries})
		})
	}
	return g.Wait()
}

// modelCalls is how many files are with the model at once: calls wait for the
// network, kernels for a core, so that there can be more of the first.
const modelCalls = 8

// describeFile asks for a script, runs it and has it repaired while it fails.
// That no script works is no error: the description then says so.
func (r *run) describeFile(ctx context.Context, pool chan *scratch, f File) (Description, error) {
	d := Description{File: f.Name}
	if f.Size == 0 {
		d.Text = "The file is empty: it has 0 bytes."
		return d, nil
	}
	if !utf8.ValidString(f.Name) {
		d.Error = "its name is not valid UTF-8, so that no cell can name it"
		return d, nil
	}
	path, size := pyString("data/"+f.Name), fileSize(f.Size)
	inputs := map[string]string{"file": f.Name}
	q := question{"analyzer", f.Name, []prompts.Part{prompts.Analyzer{Path: path, Size: size, Chars: r.descriptionChars()}}, inputs}
	for {
		code, err := ask(ctx, r, q, readCode)
		if unread := (*ReplyError)(nil); errors.As(err, &unread) {
			d.Error = unread.Error()
			return d, nil
		} else if err != nil {
			return d, err
		}
		d.Code, d.Tries = code, d.Tries+1
		e, err := r.runScript(ctx, pool, code)
		if err != nil {
			return d, err
		}
		text, report, problem := description(e, r.cfg.ResultChars)
		if d.Text = text; problem == "" {
			return d, nil
		}
		d.Failed = append(d.Failed, Attempt{Code: code, Execution: e})
		if d.Tries > r.cfg.DebugTries {
			d.Error = problem
			return d, nil
		}
		subject := fmt.Sprintf("%s, try %d", f.Name, d.Tries+1)
		if report, err = r.summarize(ctx, subject, report, "the script"); err != nil {
			return d, err
		}
		q = question{"debugger", subject, []prompts.Part{
			prompts.DebuggerScript{Path: path, Size: size, Code: code, Error: report},
		}, map[string]string{"file": f.Name, "code": code, "error": report}}
	}
}

// descriptionChars is how much of one description can be shown when all files
// have as much to say.
func (r *run) descriptionChars() int {
	shown := max(1, min(len(r.t.Task.Files), r.cfg.TopK))
	return max(1000, min(r.cfg.DescriptionChars, r.cfg.ContextChars/shown)/100*100)
}

// description returns what a script printed as the description, or, if there
// is none, a report for the debugger and the problem in one line. Warnings on
// stderr are not about the file.
func description(e notebook.Execution, budget int) (text, report, problem string) {
	if e.Status != notebook.OK {
		return "", errorReport(e, budget), oneLine(e)
	}
	var b strings.Builder
	for _, o := range e.Outputs {
		if o.Name != "stderr" {
			b.WriteString(o.PlainText())
		}
	}
	if text = strings.TrimRight(b.String(), "\n"); strings.TrimSpace(text) == "" {
		return "", "The script ran but printed nothing.", "its script printed nothing"
	}
	return text, "", ""
}

// runScript runs a description script in a session of the pool, from nothing:
// what another script has left in it must not show in this one's description.
func (r *run) runScript(ctx context.Context, pool chan *scratch, code string) (notebook.Execution, error) {
	var s *scratch
	select {
	case s = <-pool:
	case <-ctx.Done():
		return notebook.Execution{}, ctx.Err()
	}
	defer func() { pool <- s }()
	defer r.kernel.start()()
	if s.used {
		if err := s.enter(ctx, r.dataPath()); err != nil {
			return notebook.Execution{}, err
		}
	}
	s.used = true
	return s.Execute(ctx, code)
}

// A scratch is a session that describes files; used says that a script has run
// in it.
type scratch struct {
	Session
	used bool
}

// enter makes the session see the data folder as the run's own would, and
// nothing else: after a script from nothing.
func (s *scratch) enter(ctx context.Context, data string) error {
	cells := []string{"data_dir = " + pyString(data), setupCell, "%reset -f"}
	var executions []notebook.Execution
	var err error
	if s.used {
		executions, err = s.Rollback(ctx, cells)
	} else {
		executions, err = executeAll(ctx, s, cells)
	}
	if err != nil {
		return err
	}
	s.used = false
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

// openPool opens the sessions that describe files, each in a folder of its own.
func (r *run) openPool(ctx context.Context) (pool chan *scratch, closePool func(), err error) {
	size := max(1, min(r.cfg.Jobs, len(r.t.Task.Files)))
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
			s := &scratch{Session: session}
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
