package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/lazy"
)

// A Folder is the path of a run folder, which holds what a run leaves.
type Folder string

// The files of a run folder.
func (f Folder) Notebook() string { return filepath.Join(string(f), "notebook.ipynb") }
func (f Folder) Script() string   { return filepath.Join(string(f), "solution.py") }
func (f Folder) Trace() string    { return filepath.Join(string(f), "trace.jsonl") }
func (f Folder) Files() string    { return filepath.Join(string(f), FilesFolder) }

const FilesFolder = "files"

// ErrInUse is wrapped by the error of [CreateFolder] for a folder that is not empty. A run never
// overwrites anything.
var ErrInUse = errors.New("the folder is not empty")

// DataFolder is the name of the folder with the links to the data, if these have several sources.
const DataFolder = "data"

// LinkData makes the data folder of a task with several sources, and returns these by where their
// names lead: see [files.Link].
func (f Folder) LinkData(t Task, may func(real string) error) ([]files.Source, error) {
	return files.Link(string(f), DataFolder, t.Sources, may)
}

// CreateFolder creates the run folder at path, which may exist if it is empty.
func CreateFolder(path string) (Folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", fmt.Errorf("create the run folder: %w", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return "", fmt.Errorf("create the run folder: %w", err)
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("create the run folder %s: %w", path, ErrInUse)
	}
	// Cells see the resolved path, so relative paths must start from it too.
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", fmt.Errorf("create the run folder: %w", err)
	}
	f := Folder(path)
	return f, os.Mkdir(f.Files(), 0o755)
}

// NewFolder creates a run folder under base, named after the date and the question. It appends a
// number to a name that is taken.
func NewFolder(base, question string, now time.Time) (Folder, error) {
	base, err := filepath.Abs(base)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", fmt.Errorf("create the run folder: %w", err)
	}
	name := now.Format("2006-01-02") + "-" + slug(question)
	for n := 1; ; n++ {
		path := filepath.Join(base, name)
		if n > 1 {
			path += fmt.Sprintf("-%d", n)
		}
		// Mkdir, not MkdirAll: only one of two concurrent runs gets the name.
		if err := os.Mkdir(path, 0o755); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return "", fmt.Errorf("create the run folder: %w", err)
		}
		return CreateFolder(path)
	}
}

// ErrRunning is wrapped by the error of [Folder.Lock].
var ErrRunning = errors.New("another dsstar is at work in the run folder")

// Lock prevents other processes from continuing the run until release is called or the program
// ends.
func (f Folder) Lock() (release func(), err error) {
	if err := disk.CheckOwn(f.Trace()); err != nil { // which locking would follow, or wait for
		return nil, fmt.Errorf("lock the run folder: %w", err)
	}
	// The trace is locked because the notebook is replaced at every save.
	lock := flock.New(f.Trace(), flock.SetPermissions(0o644))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the run folder: %w", err)
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w", f, ErrRunning)
	}
	return func() { _ = lock.Unlock() }, nil
}

// Discard removes the folder of a run that no model has ever replied to, and reports whether it has.
// The folder stays if it holds anything that such a run does not write, or that somebody has edited.
func (f Folder) Discard() bool {
	return f.vain() && disk.RemoveFolder(string(f)) == nil
}

func (f Folder) vain() bool {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		switch path := filepath.Join(string(f), entry.Name()); path {
		case f.Trace():
			return f.unanswered() != nil
		case f.Notebook():
			return f.unedited() != nil
		case f.Files():
			wrote, err := os.ReadDir(path)
			return err != nil || slices.ContainsFunc(wrote, func(entry fs.DirEntry) bool {
				return entry.Name() != DataFolder || entry.Type() != fs.ModeSymlink // the set-up cell's
			})
		case f.Script(), filepath.Join(string(f), DataFolder):
			return false
		}
		return true
	})
}

var errInUse = errors.New("the run has come to something")

// unanswered returns an error if the trace has a reply.
func (f Folder) unanswered() error {
	file, err := disk.OpenPlain(f.Trace(), disk.MaxDocument)
	if err != nil {
		return err
	}
	defer file.Close()
	exchanges, err := llm.ReadTrace(file)
	if err == nil && slices.ContainsFunc(exchanges, func(e llm.Exchange) bool { return e.Error == "" }) {
		err = errInUse
	}
	return err
}

// unedited returns an error if somebody has edited the notebook of a run without rounds, or the script.
func (f Folder) unedited() error {
	nb, err := notebook.Open(f.Notebook())
	if err != nil {
		return err
	}
	t, err := Read(nb)
	if err != nil {
		return err
	}
	script, err := disk.ReadPlain(f.Script(), disk.MaxDocument)
	if err == nil && !slices.Contains(t.Scripts, Digest(string(script))) || len(t.Rounds)+len(t.Remarks) > 0 {
		return errInUse
	}
	return nil
}

var notSlug = lazy.Regexp(`[^\p{L}\p{N}]+`)

// slug returns a folder name made from the first words of a question.
func slug(question string) string {
	s := strings.Trim(notSlug().ReplaceAllString(strings.ToLower(question), "-"), "-")
	if runes := []rune(s); len(runes) > 40 {
		s = string(runes[:40])
		if cut := strings.LastIndexByte(s, '-'); cut > 20 {
			s = s[:cut]
		}
	}
	if s == "" {
		return "question"
	}
	return s
}

// Script returns the code of the notebook's cells in order as one Python script. Editors see the
// cells by the comments between them.
func (t *Trajectory) Script() string { return script(append(t.EarlierCells(), t.own()...)) }

// OpeningScript returns the script of the cells before the first step.
func (t *Trajectory) OpeningScript() string { return script(t.Opening()) }

func script(cells []titled) string {
	var b strings.Builder
	for _, line := range safety {
		b.WriteString("# " + line + "\n")
	}
	for _, c := range cells {
		fmt.Fprintf(&b, "\n\n# %%%% %s\n%s\n", brief.OneLine(c.title), c.code)
	}
	return b.String()
}
