package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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
	size int64 // of the complete lines
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
	for _, e := range entries {
		if e.Name() == aboutFile {
			return nil, fmt.Errorf("%s: %w", path, ErrExists)
		}
	}
	for _, e := range entries { // a killed Create may have left temporary names of disk.WriteFile
		if e.Name() != resultsFile && !strings.HasPrefix(e.Name(), "."+aboutFile) {
			return nil, fmt.Errorf("%s: %w", path, record.ErrInUse)
		}
	}
	f := &Folder{About: about, path: path, done: map[Key]bool{}}
	if err := f.open(); err != nil {
		return nil, err
	}
	f.Version = version
	data, err := json.MarshalIndent(f.About, "", "  ")
	if err == nil {
		err = disk.WriteFile(filepath.Join(path, aboutFile), append(data, '\n'))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", aboutFile, err), f.Close())
	}
	return f, nil
}

// Open reopens a folder. An incomplete last line, left by a crash, is removed. The caller
// must Close it.
func Open(path string) (*Folder, error) {
	about, err := readAbout(path)
	if err != nil {
		return nil, err
	}
	f := &Folder{About: about, path: path, done: map[Key]bool{}}
	if err := f.open(); err != nil {
		return nil, err
	}
	var records []Record
	if records, f.size, err = readResults(f.file); err == nil {
		err = f.file.Truncate(f.size)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for _, r := range latest(records) {
		f.done[r.Key()] = true
	}
	return f, nil
}

const (
	aboutFile   = "bench.json"
	resultsFile = "results.jsonl"
)

func (f *Folder) open() error {
	path := filepath.Join(f.path, resultsFile)
	if err := disk.CheckOwn(path); err != nil { // locking would follow a link, or wait for a pipe
		return err
	}
	f.lock = flock.New(path, flock.SetPermissions(0o644)) // it is never replaced
	switch ok, err := f.lock.TryLock(); {
	case err != nil:
		return fmt.Errorf("lock %s: %w", path, err)
	case !ok:
		return fmt.Errorf("%s: %w", f.path, ErrRunning)
	}
	var err error
	if f.file, err = disk.OpenOwn(path, os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return errors.Join(err, f.lock.Close())
	}
	return nil
}

// readResults reads the complete lines of the results, and counts their bytes. An incomplete last
// line, left by a crash, is skipped; any other must name a task.
func readResults(file io.Reader) (all []Record, size int64, err error) {
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", resultsFile, err)
	}
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil || r.Task == "" {
			return nil, size, fmt.Errorf("%s: line %d says nothing about a task", resultsFile, len(all)+1)
		}
		all, size = append(all, r), size+int64(len(line))
	}
	return all, size, nil
}

// Path returns the folder's path.
func (f *Folder) Path() string { return f.path }

// Task returns the run folder of a task, whether or not it exists.
func (f *Folder) Task(k Key) string { return TaskFolder(f.path, k) }

// TaskFolder returns the run folder of a task of the run at path.
func TaskFolder(path string, k Key) string { return filepath.Join(path, "tasks", safe(k.String())) }

// safe returns a name that is one path element on every system.
func safe(name string) string {
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, name)
	if clean == name && clean != "." && clean != ".." && clean != "" && len(clean) < 200 {
		return name
	}
	return clean[:min(len(clean), 100)] + "-" + record.Digest(name)[:8]
}

// Done reports whether the task has a result.
func (f *Folder) Done(k Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done[k]
}

// Forget makes the chosen tasks run again. Their records stay, but a later record of the same
// task replaces them.
func (f *Folder) Forget(chosen func(Record) bool) error {
	records, err := readRecords(f.path)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range latest(records) {
		if chosen(r) {
			delete(f.done, r.Key())
		}
	}
	return nil
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
	return f.ended(r.Key())
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

// Missing returns the tasks without a record, in order.
func (r Result) Missing() []Key {
	have := map[Key]bool{}
	for _, record := range r.Records {
		have[record.Key()] = true
	}
	var missing []Key
	for repeat := 1; repeat <= max(1, r.Repeat); repeat++ {
		for _, item := range r.Items {
			if k := (Key{item.ID, repeat}); !have[k] {
				missing = append(missing, k)
			}
		}
	}
	return missing
}

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
	records, err := readRecords(path)
	if err != nil {
		return Result{}, err
	}
	place := map[string]int{}
	for i, item := range about.Items {
		place[item.ID] = i
	}
	records = latest(records)
	slices.SortStableFunc(records, func(a, b Record) int {
		if a.Task != b.Task {
			return place[a.Task] - place[b.Task]
		}
		return a.Repeat - b.Repeat
	})
	return Result{about, path, records}, nil
}

// latest returns the last result of each key.
func latest(records []Record) []Record {
	at := map[Key]int{}
	var all []Record
	for _, r := range records {
		if r.Stopped {
			continue
		}
		if i, seen := at[r.Key()]; seen {
			all[i] = r
			continue
		}
		at[r.Key()] = len(all)
		all = append(all, r)
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

func readRecords(path string) ([]Record, error) {
	file, err := disk.Open(filepath.Join(path, resultsFile), disk.MaxDocument)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, _, err := readResults(file)
	return records, err
}
