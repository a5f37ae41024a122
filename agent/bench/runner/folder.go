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
	"slices"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// An About describes a run: bench.json. Runs with the same Setup measure the same.
type About struct {
	Bench  string `json:"bench"`
	Agent  string `json:"agent"`
	Model  string `json:"model"`
	Repeat int    `json:"repeat"`
	// what else results depend on, by flag or setting
	Setup    map[string]string `json:"setup"`
	Replayed string            `json:"replayed,omitempty"` // the run whose replies replace the model's
	Args     []string          `json:"args"`               // flags of the command line, for resuming
	Items    []Item            `json:"tasks"`              // in the order in which they start

	Published map[string]string `json:"published,omitempty"` // the agent's published settings
}

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

// Errors that those of [Create] and [Open] wrap, beside [disk.ErrLocked].
var (
	ErrExists = errors.New("it has results already")
	ErrNone   = errors.New("there is no bench.json in it")
)

// A Result is a run as read from its folder.
type Result struct {
	About
	Path    string
	Records []Record // the last one of each task and repeat that has one: see jobs
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
		last[record.Key()] = record
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

	lines   *disk.Lines
	release func()
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
	return open(path, &about)
}

// Open reopens a folder. The caller must Close it.
func Open(path string) (*Folder, error) { return open(path, nil) }

// open locks a folder, describes it if it is new, and reads it. An incomplete last line, left by a
// crash, is removed.
func open(path string, about *About) (*Folder, error) {
	results := filepath.Join(path, resultsFile) // is never replaced
	release, err := disk.Lock(results)
	if err != nil {
		return nil, err
	}
	f := &Folder{release: release}
	if about != nil {
		data, _ := json.MarshalIndent(about, "", "  ") // texts and numbers
		err = disk.WriteFile(filepath.Join(path, aboutFile), append(data, '\n'))
	}
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

// TaskFolder returns the run folder of a task of the run at path.
func TaskFolder(path string, k Key) string {
	name := k.String()
	if filepath.Base(name) != name || strings.Trim(name, ".") == "" || len(name) > 199 {
		name = "task-" + record.Digest(name)
	}
	return filepath.Join(path, "tasks", name)
}

// Forget makes the chosen tasks run again. Their lines stay, but a later record of the same task
// replaces them.
func (f *Folder) Forget(chosen func(Record) bool) {
	f.Records = slices.DeleteFunc(f.Records, chosen)
}

// Append adds a record. When it returns, the line is on disk. A partial write is undone.
func (f *Folder) Append(r Record) error {
	if err := f.lines.Append(r); err != nil {
		return fmt.Errorf("record %s: %w", r.Key(), err)
	}
	return nil
}

// Close closes the folder. It is idempotent.
func (f *Folder) Close() (err error) {
	if f.lines != nil {
		err = f.lines.Close()
	}
	f.release()
	return err
}
