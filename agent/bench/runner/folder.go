package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// An About describes a run: bench.json. Runs with the same Setup measure the same.
type About struct {
	Version int    `json:"version"`
	Bench   string `json:"bench"`
	Agent   string `json:"agent"`
	Model   string `json:"model"`
	Repeat  int    `json:"repeat"`
	// what else results depend on, by flag or setting
	Setup    map[string]string `json:"setup"`
	Replayed string            `json:"replayed,omitempty"` // the run whose replies replace the model's
	Args     []string          `json:"args"`               // flags of the command line, for resuming
	Items    []Item            `json:"tasks"`              // in the order in which they start

	Published map[string]string `json:"published,omitempty"` // the agent's published settings
}

const version = 1

// A Difference is a setting that differs between two runs.
type Difference struct{ Name, Was, Is string }

// Differs returns the differences from a to b, sorted by name.
func (a About) Differs(b About) (all []Difference) {
	was, is := a.flat(), b.flat()
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name] != is[name] {
			all = append(all, Difference{name, was[name], is[name]})
		}
	}
	return all
}

func (a About) flat() map[string]string {
	var ids []string
	for _, item := range a.Items {
		ids = append(ids, item.ID)
	}
	slices.Sort(ids)
	tasks := strings.Join(ids, ", ")
	if len(tasks) >= 200 {
		tasks = fmt.Sprintf("%d tasks (%s)", len(ids), record.Digest(tasks)[:8])
	}
	all := map[string]string{"bench": a.Bench, "agent": a.Agent, "model": a.Model,
		"repeat": fmt.Sprint(a.Repeat), "task_ids": tasks}
	maps.Copy(all, a.Setup)
	return all
}

// Errors that those of [Create] and [Open] wrap.
var (
	ErrExists  = errors.New("it has results already")
	ErrNone    = errors.New("there is no bench.json in it")
	ErrRunning = errors.New("another runner is at work on it")
)

// A Folder is the folder of a run, open for adding results. Methods may be called
// concurrently.
type Folder struct {
	About

	path string
	lock *flock.Flock
	mu   sync.Mutex
	file *os.File
	size int64    // of the complete lines
	was  []Record // all that were there when it was opened
	done map[Key]bool
}

// Create creates the folder of a run; it must be new or empty. The caller must Close it.
func Create(path string, about About) (*Folder, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("create the folder: %w", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("create the folder: %w", err)
	}
	if _, err := os.Stat(filepath.Join(path, aboutFile)); err == nil {
		return nil, fmt.Errorf("%s: %w", path, ErrExists)
	}
	for _, e := range entries { // a killed Create may have left temporary names of disk.WriteFile
		if e.Name() != resultsFile && !strings.HasPrefix(e.Name(), "."+aboutFile) {
			return nil, fmt.Errorf("%s: %w", path, record.ErrInUse)
		}
	}
	about.Version = version
	f, err := open(path, about)
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(f.About, "", "  ")
	if err == nil {
		err = disk.WriteFile(filepath.Join(path, aboutFile), append(data, '\n'))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", aboutFile, err), f.Close())
	}
	return f, nil
}

// Open reopens a folder. The caller must Close it.
func Open(path string) (*Folder, error) {
	about, err := readAbout(path)
	if err != nil {
		return nil, err
	}
	return open(path, about)
}

const (
	aboutFile   = "bench.json"
	resultsFile = "results.jsonl"
)

// open locks a folder and reads its results. An incomplete last line, left by a crash, is removed.
func open(folder string, about About) (*Folder, error) {
	path := filepath.Join(folder, resultsFile)
	if err := disk.CheckOwn(path); err != nil { // locking would follow a link, or wait for a pipe
		return nil, err
	}
	f := &Folder{About: about, path: folder, done: map[Key]bool{},
		lock: flock.New(path, flock.SetPermissions(0o644))} // the file is never replaced
	switch ok, err := f.lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", path, err)
	case !ok:
		return nil, fmt.Errorf("%s: %w", folder, ErrRunning)
	}
	var err error
	if f.file, err = disk.OpenOwn(path, os.O_RDWR|os.O_APPEND, 0o644); err == nil {
		f.was, f.size, err = readResults(folder)
	}
	if err == nil {
		err = f.file.Truncate(f.size)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for key := range latest(f.was) {
		f.done[key] = true
	}
	return f, nil
}

// readResults reads the complete lines of the results, and counts their bytes. Each must name a task.
func readResults(folder string) (all []Record, size int64, err error) {
	data, err := disk.ReadFile(filepath.Join(folder, resultsFile), disk.MaxDocument)
	if err != nil {
		return nil, 0, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	for line := range bytes.Lines(data) {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil || r.Task == "" {
			return nil, 0, fmt.Errorf("%s: line %d says nothing about a task", resultsFile, len(all)+1)
		}
		all = append(all, r)
	}
	return all, int64(len(data)), nil
}

// Path returns the folder's path.
func (f *Folder) Path() string { return f.path }

// Task returns the run folder of a task, whether or not it exists.
func (f *Folder) Task(k Key) string { return TaskFolder(f.path, k) }

// TaskFolder returns the run folder of a task of the run at path.
func TaskFolder(path string, k Key) string { return filepath.Join(path, "tasks", safe(k.String())) }

var nameOfFolder = regexp.MustCompile(`^[^/\\:*?"<>|\x00-\x1f]{1,199}$`)

// safe returns a name that is one path element on every system.
func safe(name string) string {
	if nameOfFolder.MatchString(name) && strings.Trim(name, ".") != "" {
		return name
	}
	return "task-" + record.Digest(name)
}

// Done reports whether the task has a result.
func (f *Folder) Done(k Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done[k]
}

// Forget makes the chosen tasks run again. Their records stay, but a later record of the same
// task replaces them.
func (f *Folder) Forget(chosen func(Record) bool) {
	for key, r := range latest(f.was) {
		if chosen(r) {
			delete(f.done, key)
		}
	}
}

// Append records an attempt. When it returns, the line is on disk. A partial write is undone.
func (f *Folder) Append(r Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("record %s: %w", r.Key(), err)
	}
	_, err := f.file.Write(line.Bytes())
	if err == nil {
		err = f.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("record %s: %w", r.Key(), errors.Join(err, f.file.Truncate(f.size)))
	}
	f.size += int64(line.Len())
	f.done[r.Key()] = f.done[r.Key()] || !r.Stopped
	return nil
}

// Close closes the folder. It is idempotent.
func (f *Folder) Close() error {
	var err error
	if f.file != nil {
		err = f.file.Close()
		f.file = nil
	}
	return errors.Join(err, f.lock.Close())
}

// A Result is a run as read from its folder.
type Result struct {
	About
	Path    string
	Records []Record // one for each task and repeat that has one, in the order of the tasks
}

// Missing returns how many results are missing.
func (r Result) Missing() int { return len(r.Items)*max(1, r.Repeat) - len(r.Records) }

// Totals counts the records, and adds up what they cost.
func (r Result) Totals() (t Totals, used record.Usage, cost *float64) {
	cost = new(float64)
	for _, record := range r.Records {
		t.count(record)
		used.Calls += record.Usage.Calls
		used.Add(record.Usage.Usage)
		switch {
		case cost == nil:
		case record.Cost == nil:
			cost = nil // without one price, the sum is unknown
		default:
			*cost += *record.Cost
		}
	}
	return t, used, cost
}

// Read reads the folder of a run, which may be in progress.
func Read(path string) (Result, error) {
	about, err := readAbout(path)
	if err != nil {
		return Result{}, err
	}
	records, _, err := readResults(path)
	if err != nil {
		return Result{}, err
	}
	r, done := Result{About: about, Path: path}, latest(records)
	for _, item := range about.Items {
		for repeat := 1; repeat <= max(1, about.Repeat); repeat++ {
			if record, ok := done[Key{item.ID, repeat}]; ok {
				r.Records = append(r.Records, record)
			}
		}
	}
	return r, nil
}

// latest returns the last result of each key.
func latest(records []Record) map[Key]Record {
	all := map[Key]Record{}
	for _, r := range records {
		if !r.Stopped {
			all[r.Key()] = r
		}
	}
	return all
}

func readAbout(path string) (About, error) {
	var about About
	data, err := disk.ReadFile(filepath.Join(path, aboutFile), disk.MaxDocument)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return about, fmt.Errorf("%s: %w", path, ErrNone)
	case err != nil:
		return about, err
	}
	if err := json.Unmarshal(data, &about); err != nil {
		return about, fmt.Errorf("%s: %w", filepath.Join(path, aboutFile), err)
	}
	if about.Version != version {
		return about, fmt.Errorf("%s is of version %d, and this program reads %d",
			filepath.Join(path, aboutFile), about.Version, version)
	}
	return about, nil
}
