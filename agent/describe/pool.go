package describe

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// A scratch is a session that describes files, in a folder of its own. ran is
// the script that has run in it and may have left something there: another one
// is run from scratch.
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
	most int // characters of what it prints about a file; 0: those of a description
}

// A pool holds the sessions that describe files. Each use of one has it alone.
type pool struct {
	size   int
	data   string             // the data folder
	name   func(i int) string // of file i, as a Python string literal
	chars  int                // of a description at most
	kernel *ask.Stopwatch

	free chan struct{} // one for each session that nobody uses
	mu   sync.Mutex
	idle []*scratch // as many as free has, or a moment later one less
}

func (p *pool) put(s *scratch) {
	p.mu.Lock()
	p.idle = append(p.idle, s)
	p.mu.Unlock()
	p.free <- struct{}{}
}

// take runs do with a session, if there is a choice with one in which the script
// has run last, or else nothing.
func (p *pool) take(ctx context.Context, which script, do func(*scratch) error) error {
	select {
	case <-p.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	best := 0
	for i, s := range p.idle {
		if s.ran == which || s.ran == (script{}) && p.idle[best].ran != which {
			best = i
		}
	}
	s := p.idle[best]
	p.idle = slices.Delete(p.idle, best, best+1)
	p.mu.Unlock()
	defer p.put(s)
	return do(s)
}

// runFirst runs a description script on the first of its files, in a session of
// the pool. One that fails as a part of a batch runs again as a cell of its own,
// which tells what is wrong with it; of one that took too long or killed the
// kernel that is known.
func (p *pool) runFirst(ctx context.Context, which script,
	i int) (e notebook.Execution, err error) {
	err = p.take(ctx, which, func(s *scratch) error {
		b, err := p.runBatch(ctx, s, which, []int{i})
		if err != nil {
			return err
		}
		switch {
		case b.texts[0] != "":
			e = notebook.Execution{Status: notebook.OK,
				Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: b.texts[0]}}}
		case b.broken():
			e = b.execution
		default:
			e, err = p.runOn(ctx, s, which, i)
		}
		return err
	})
	return e, err
}

// runOn runs a script as a cell of its own, from scratch: what another one has
// left in the session must not show.
func (p *pool) runOn(ctx context.Context, s *scratch, which script,
	i int) (notebook.Execution, error) {
	defer p.kernel.Start()()
	if s.ran != (script{}) {
		if err := s.enter(ctx, p.data); err != nil {
			return notebook.Execution{}, err
		}
	}
	e, err := s.Execute(ctx, "path = "+p.name(i)+"\n"+which.code)
	if s.ran = which; e.Status != notebook.OK {
		s.ran = failed
	}
	return e, err
}

// failed stands for a script of which nobody knows what it has left.
var failed = script{code: "failed"}

// runScript runs a script on some files, all in one cell: a cell for each would
// take ten times as long. It tells each what the script printed, "" if it failed.
func (p *pool) runScript(ctx context.Context, which script, members []int,
	each func(i int, text string) error) error {
	return p.take(ctx, which, func(s *scratch) error {
		b, err := p.runBatch(ctx, s, which, members)
		if err != nil {
			return err
		}
		for n, i := range members {
			text := b.texts[n]
			// Where the batch broke off, one file is the reason and the others were
			// not reached.
			if !b.told[n] && !(b.broken() && n == b.reached()) {
				if text, err = p.afterAll(ctx, s, which, i); err != nil {
					return err
				}
			}
			if err := each(i, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// A batch is what came of a script on some files.
type batch struct {
	execution notebook.Execution // of its cell
	texts     []string           // what the script printed for each file; "" if it failed
	told      []bool             // whether that is known
}

// broken reports whether the cell took too long, or killed the kernel.
func (b batch) broken() bool {
	return b.execution.Status == notebook.TimedOut || b.execution.Status == notebook.Died
}

// reached is the first file of which nothing is known.
func (b batch) reached() int { return slices.Index(b.told, false) }

// batchSize is how many files are described by one cell: no more than the
// outputs of a cell have room for.
func (p *pool) batchSize() int {
	const files, room = 25, 600_000
	return max(1, min(files, room/p.chars))
}

// runBatch runs the script on the files in one cell. Its lines bear a mark, as
// what a script starts may write to the same place.
func (p *pool) runBatch(ctx context.Context, s *scratch, which script,
	members []int) (batch, error) {
	defer p.kernel.Start()()
	if s.ran != which && s.ran != (script{}) {
		if err := s.enter(ctx, p.data); err != nil {
			return batch{}, err
		}
	}
	var paths []string
	for _, i := range members {
		paths = append(paths, p.name(i))
	}
	mark := rand.Text()
	e, err := s.Execute(ctx, fmt.Sprintf(batchCell, strings.Join(paths, ", "),
		brief.Python(which.code), brief.Python(filepath.Join(s.dir, "files")),
		cmp.Or(which.most, p.chars), mark))
	if err != nil {
		return batch{}, err
	}
	b := batch{e, make([]string, len(members)), make([]bool, len(members))}
	clean := b.read(mark)
	switch {
	case e.Status != notebook.OK:
		s.ran = failed
	case !clean:
		s.ran = which
	}
	return b, nil
}

// read takes the lines of the mark: what came of a file, by its number, and at
// the end whether nothing is left of the script.
func (b batch) read(mark string) (clean bool) {
	for line := range strings.Lines(b.execution.Stdout()) {
		_, line, ok := strings.Cut(line, mark+" ") // after what a process wrote without an end of line
		var said struct {
			File  *int
			Text  string
			Clean bool
		}
		if !ok || json.Unmarshal([]byte(line), &said) != nil {
			continue
		}
		if n := said.File; n != nil && *n >= 0 && *n < len(b.told) {
			b.told[*n] = true
			if strings.TrimSpace(said.Text) != "" {
				b.texts[*n] = strings.TrimRight(said.Text, "\n")
			}
		}
		clean = clean || said.Clean
	}
	return clean
}

// afterAll runs the script on a file that its batch did not reach.
func (p *pool) afterAll(ctx context.Context, s *scratch, which script, i int) (string, error) {
	e, err := p.runOn(ctx, s, which, i)
	if err != nil {
		return "", err
	}
	text, _, _ := description(e, p.chars)
	return text, nil
}

// batchCell prints a line for each file, with what the script printed, or null if
// it failed. Each file finds none of the names of the one before. On Linux it is a
// child of the kernel that runs the script, with a process group of its own, so
// that nothing of it is left but the files that it should not have written;
// elsewhere children of a process with threads are less safe.
const batchCell = `import contextlib, io, json, os, select, signal, sys, warnings

def _describe(paths, code, folder, most, mark, out):
    program = compile(code, "<script>", "exec")
    for number, path in enumerate(paths):
        os.chdir(folder)
        text = io.StringIO()
        try:
            with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()):
                exec(program, {"__name__": "__main__", "path": path})
            text = text.getvalue()
        except (Exception, SystemExit):
            text = None
        if text is not None and len(text) > most:
            head, tail = most * 9 // 10, most // 10
            text = f"{text[:head]}\n[… {len(text) - head - tail} characters cut here …]\n{text[len(text) - tail:]}"
        print(mark, json.dumps({"file": number, "text": text}), file=out, flush=True)

def _in_child(*args):
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            sys.stdin = open(os.devnull)
            with open(write, "w", encoding="utf-8") as out:
                _describe(*args, out)
        finally:
            os._exit(0)
    os.close(write)
    lines, ended = b"", False
    try:
        # Not up to the end of the pipe, which a process that the script has left
        # may hold open.
        while lines.count(b"\n") < len(args[0]):
            if select.select([read], [], [], 0.2)[0]:
                data = os.read(read, 1 << 16)
                lines += data
                if not data:
                    break
            elif ended:
                break
            elif os.waitpid(child, os.WNOHANG)[0]:
                ended = True
    finally:
        sys.stdout.write(lines.decode("utf-8", "replace"))
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        if not ended:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        os.close(read)

_args = [%s], %s, %s, %d, "%s"
if sys.platform == "linux":
    _in_child(*_args)
else:
    _describe(*_args, sys.stdout)
print(_args[4], json.dumps({"clean": sys.platform == "linux" and os.listdir(_args[2]) == ["data"]}))`

// enter makes the session see the data folder as the run's own would, and
// nothing else: after a script from scratch. Pandas is loaded, which most scripts
// want: a session that goes back to a frozen copy of itself has it at once.
func (s *scratch) enter(ctx context.Context, data string) error {
	cells := []string{"data_dir = " + brief.Python(data), record.SetUpCell(record.Task{Data: data}),
		"import pandas\n" + emptyNames}
	var executions []notebook.Execution
	if s.ran != (script{}) {
		back, err := s.Rollback(ctx, cells)
		if err != nil {
			return err
		}
		executions = back.Executions
	} else {
		for _, code := range cells {
			e, err := s.Execute(ctx, code)
			if err != nil {
				return err
			}
			if executions = append(executions, e); e.Status != notebook.OK {
				break
			}
		}
	}
	for _, e := range executions {
		if e.Status != notebook.OK {
			return fmt.Errorf("set up the session: %s", brief.Problem(e))
		}
	}
	s.ran = script{}
	return nil
}

// openPool opens the sessions that describe files, each in a folder of its own:
// one at least, and no more than there are files to describe.
func (r *Describer) openPool(ctx context.Context,
	files int) (sessions *pool, closePool func(), err error) {
	size := max(1, min(r.Jobs, files))
	folder, err := disk.TempFolder("", "dsstar-describe-")
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	opened := make([]Session, size)
	var opening sync.WaitGroup
	closePool = func() {
		cancel()
		opening.Wait()
		for _, s := range opened {
			if s != nil {
				_ = s.Close() // nothing of the run depends on it any more
			}
		}
		_ = disk.RemoveTemp(folder) // a temporary folder; the system clears what stays
	}
	sessions = &pool{
		size: size, data: r.data, name: r.dataPython, chars: r.DescriptionChars, kernel: r.kernel,
		free: make(chan struct{}, size),
	}
	ready := make(chan struct{}, size)
	failed := make(chan error, size)
	for i := range size {
		dir := filepath.Join(folder, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			closePool()
			return nil, nil, err
		}
		stop := r.kernel.Start()
		opening.Go(func() {
			var err error
			opened[i], err = r.open(ctx, dir)
			stop()
			s := &scratch{Session: opened[i], dir: dir}
			if err == nil {
				err = s.enter(ctx, r.data)
			}
			if err != nil {
				failed <- err
				return
			}
			sessions.put(s)
			ready <- struct{}{}
		})
	}
	// The first session to be ready is enough to begin with; one that fails is
	// a reason to stop, as the others would fail in the same way.
	select {
	case <-ready:
		return sessions, closePool, nil
	case err := <-failed:
		closePool()
		return nil, nil, err
	}
}

// probe asks a session for what the notebook runs on.
func (r *Describer) probe(ctx context.Context, pool *pool) error {
	var e notebook.Execution
	err := pool.take(ctx, script{}, func(s *scratch) (err error) {
		e, err = s.Execute(ctx, probeCode)
		return err
	})
	if err != nil {
		return err
	}
	if e.Status != notebook.OK {
		return fmt.Errorf("look at the Python environment: %s", brief.Problem(e))
	}
	return r.journal.Started(strings.TrimSpace(e.Stdout()))
}

const probeCode = `import sys
from importlib import metadata

def _version(name):
    try:
        return name + " " + ".".join(metadata.version(name).split(".")[:2])
    except metadata.PackageNotFoundError:
        return ""

_names = """numpy pandas scipy scikit-learn statsmodels matplotlib seaborn openpyxl xlrd
pyarrow polars duckdb sqlalchemy lxml beautifulsoup4 pypdf pillow networkx pyspark dask ray""".split()
print("Python %d.%d.%d with" % sys.version_info[:3], ", ".join(filter(None, map(_version, _names))))
` + emptyNames

// emptyNames takes all names out of the session, and gives it back one that every module has: PySpark
// reads it.
const emptyNames = "%reset -f\n__spec__ = None"
