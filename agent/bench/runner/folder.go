package runner

import (
	"cmp"
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

// A Result is a run as read from its folder.
type Result struct {
	About
	Path    string
	Records []Record // the last one of each task and repeat that has one: see jobs
	Spent   Spent    // by all attempts
}

const (
	aboutFile   = "bench.json"
	resultsFile = "results.jsonl"
)

// Read reads the folder of a run, which may be in progress.
func Read(path string) (Result, error) {
	r := Result{Path: path}
	data, err := disk.ReadFile(filepath.Join(path, aboutFile), disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%s: %w", path, ErrNone)
	}
	if err == nil {
		err = json.Unmarshal(data, &r.About)
	}
	if err == nil && r.Version != version {
		err = fmt.Errorf("it is of version %d, and this program reads %d", r.Version, version)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", filepath.Join(path, aboutFile), err)
	}
	if data, err = disk.ReadFile(filepath.Join(path, resultsFile), disk.MaxDocument); err != nil {
		return r, err
	}
	all, err := disk.ReadLines[Record](data)
	if err != nil {
		return r, fmt.Errorf("%s: %w", resultsFile, err)
	}
	last := map[Key]Record{}
	for n, record := range all {
		if record.Task == "" {
			return r, fmt.Errorf("%s: result %d is of no task", resultsFile, n+1)
		}
		if !record.Stopped {
			last[record.Key()] = record
		}
		if spent := record.Spent; spent != nil {
			r.Spent.Calls, r.Spent.Cost = r.Spent.Calls+spent.Calls, r.Spent.Cost+spent.Cost
		}
	}
	for _, job := range r.jobs() {
		if record, ok := last[job.Key()]; ok {
			r.Records = append(r.Records, record)
		}
	}
	return r, nil
}

// jobs returns the records to be made, without their results: all tasks once before any is repeated.
func (a About) jobs() (all []Record) {
	for repeat := 1; repeat <= max(1, a.Repeat); repeat++ {
		for _, item := range a.Items {
			all = append(all, Record{Task: item.ID, Repeat: repeat, Level: item.Level, Domain: item.Domain})
		}
	}
	return all
}

// left returns the jobs that have no result.
func (r Result) left() []Record {
	done := map[Key]bool{}
	for _, record := range r.Records {
		done[record.Key()] = true
	}
	return slices.DeleteFunc(r.jobs(), func(job Record) bool { return done[job.Key()] })
}

// Missing returns how many results are missing.
func (r Result) Missing() int { return len(r.left()) }

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

// A Folder is the folder of a run, open for adding results. Methods may be called
// concurrently.
type Folder struct {
	Result // when it was opened

	lock  *flock.Flock
	lines *disk.Lines
}

// Create creates the folder of a run; it must be new or empty. The caller must Close it.
func Create(path string, about About) (*Folder, error) {
	err := os.MkdirAll(path, 0o755)
	entries, unread := os.ReadDir(path)
	if err = cmp.Or(err, unread); err != nil {
		return nil, fmt.Errorf("create the folder: %w", err)
	}
	if _, err := os.Stat(filepath.Join(path, aboutFile)); err == nil {
		return nil, fmt.Errorf("%s: %w", path, ErrExists)
	} else if len(entries) > 0 {
		return nil, fmt.Errorf("%s: %w", path, record.ErrInUse)
	}
	about.Version = version
	return open(path, func() error {
		data, err := json.MarshalIndent(about, "", "  ")
		if err != nil {
			return err
		}
		return disk.WriteFile(filepath.Join(path, aboutFile), append(data, '\n'))
	})
}

// Open reopens a folder. The caller must Close it.
func Open(path string) (*Folder, error) { return open(path, func() error { return nil }) }

// open locks a folder, calls begin, and reads it. An incomplete last line, left by a crash, is
// removed.
func open(path string, begin func() error) (*Folder, error) {
	results := filepath.Join(path, resultsFile)
	if err := disk.CheckOwn(results); err != nil { // locking would follow a link, or wait for a pipe
		return nil, err
	}
	f := &Folder{lock: flock.New(results, flock.SetPermissions(0o644))} // the file is never replaced
	switch ok, err := f.lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", results, err)
	case !ok:
		return nil, fmt.Errorf("%s: %w", path, ErrRunning)
	}
	err := begin()
	if err == nil {
		f.lines, err = disk.OpenLines(results)
	}
	if err == nil {
		f.Result, err = Read(path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Task returns the run folder of a task, whether or not it exists.
func (r Result) Task(k Key) string { return TaskFolder(r.Path, k) }

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

// Forget makes the chosen tasks run again. Their lines stay, but a later record of the same task
// replaces them.
func (f *Folder) Forget(chosen func(Record) bool) {
	f.Records = slices.DeleteFunc(f.Records, chosen)
}

// Append records an attempt. When it returns, the line is on disk. A partial write is undone.
func (f *Folder) Append(r Record) error {
	if err := f.lines.Append(r); err != nil {
		return fmt.Errorf("record %s: %w", r.Key(), err)
	}
	return nil
}

// Close closes the folder. It is idempotent.
func (f *Folder) Close() error {
	var err error
	if f.lines != nil {
		err = f.lines.Close()
	}
	return errors.Join(err, f.lock.Close())
}
