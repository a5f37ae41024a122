package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/gofrs/flock"

	"dsstar/agent/files"
	"dsstar/notebook/disk"
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

// CreateFolder creates the run folder at path, which may exist if it is empty. Its path is the resolved
// one, which cells see.
func CreateFolder(path string) (f Folder, err error) {
	if path, err = filepath.Abs(path); err == nil {
		err = os.MkdirAll(path, 0o755)
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	var entries []os.DirEntry
	if err == nil {
		entries, err = os.ReadDir(path)
	}
	if len(entries) > 0 {
		err = fmt.Errorf("%s: %w", path, ErrInUse)
	}
	if err != nil {
		return "", fmt.Errorf("create the run folder: %w", err)
	}
	return Folder(path), os.Mkdir(Folder(path).Files(), 0o755)
}

// NewFolder creates a run folder under base, named after the date and the question. It appends a
// number to a name that is taken.
func NewFolder(base, question string, now time.Time) (Folder, error) {
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
		if err := os.Mkdir(path, 0o755); !errors.Is(err, fs.ErrExist) {
			return CreateFolder(path)
		}
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

// slug returns a folder name made from the first words of a question.
func slug(question string) string {
	var s []rune
	for word := range strings.FieldsFuncSeq(strings.ToLower(question), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c)
	}) {
		if more := []rune("-" + word); len(s) == 0 || len(s)+len(more) <= 41 {
			s = append(s, more...)
		} else {
			break
		}
	}
	if len(s) == 0 {
		return "question"
	}
	return string(s[1:min(len(s), 41)])
}
