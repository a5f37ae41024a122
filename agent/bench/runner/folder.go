// Package runner takes the tasks of a benchmark from their data to their scores, concurrently: it
// prepares the data, has an agent solve the task in a run folder, finds the cause of a failure,
// scores the answer and records it. Answers that are on disk already can be scored again.
//
// A run is one [Folder], from which it can always be resumed: its description (bench.json), a
// line for each attempt at a task (results.jsonl), and the run folders of the tasks (tasks/).
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
	"dsstar/notebook/lists"
)

// An About describes a run: bench.json. Runs with the same Setup measure the same.
type About struct {
	Bench string `json:"bench"`
	Agent string `json:"agent"`
	Model string `json:"model"`
	// what else results depend on, by flag or setting
	Setup map[string]string `json:"setup"`
	Items []Item            `json:"tasks"` // in the order in which they start
}

// Differs says in what b first differs from a; "": they measure the same.
func (a About) Differs(b About) string {
	all := map[string][2]string{"bench": {a.Bench, b.Bench}, "agent": {a.Agent, b.Agent},
		"model": {a.Model, b.Model}}
	for _, setup := range []map[string]string{a.Setup, b.Setup} {
		for name := range setup {
			all[name] = [2]string{a.Setup[name], b.Setup[name]}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if v := all[name]; v[0] != v[1] {
			return fmt.Sprintf("%s %s, not %s", name, cmp.Or(v[0], "as usual"), cmp.Or(v[1], "as usual"))
		}
	}
	if !slices.Equal(a.Items, b.Items) {
		return "other tasks"
	}
	return ""
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
	Records []Record // the last one of each task that has one, in the tasks' order
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
	last := map[string]Record{}
	for _, record := range all {
		last[record.Task] = record
	}
	for _, item := range r.Items {
		if record, ok := last[item.ID]; ok {
			r.Records = append(r.Records, record)
		}
	}
	return r, nil
}

func (r Result) left() []Item {
	return lists.Where(r.Items, func(i Item) bool {
		return !slices.ContainsFunc(r.Records, func(r Record) bool { return r.Task == i.ID })
	})
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
func TaskFolder(path, name string) string {
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
		return fmt.Errorf("record %s: %w", r.Task, err)
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

// An Item is what the runner knows of a suite's task.
type Item struct {
	ID     string `json:"id"`
	Level  string `json:"level,omitempty"`  // easy, hard …, as the suite has it
	Domain string `json:"domain,omitempty"` // or type of task
}

// The causes for which a task is not solved.
const (
	Wrong       = "wrong-answer"
	NoAnswer    = "no-answer"
	NotFinished = "not-finished" // rounds, steps or the context were used up
	OverBudget  = "budget"       // of the task
	Broken      = "error"        // of model or kernel, which is not the agent's fault
)

// Causes are all causes.
var Causes = []string{Wrong, NoAnswer, NotFinished, OverBudget, Broken}

// A Record is the result of one task: a line of results.jsonl.
type Record struct {
	Task   string `json:"task_id"`
	Level  string `json:"level,omitempty"`
	Domain string `json:"domain,omitempty"`

	Answer string `json:"answer"`
	// 0 to 1; null: the right answer is not public
	Score *float64 `json:"score"`
	// of the score, if the benchmark has several
	Metric   string             `json:"metric,omitempty"`
	Scores   map[string]float64 `json:"scores,omitempty"` // other scores of the benchmark
	Detail   string             `json:"detail,omitempty"` // the scorer's reason, in one line
	Finished bool               `json:"finished"`         // the agent finished by its own rule
	Verified bool               `json:"verified"`         // the agent proved the answer
	// why the task is not solved; "": it is solved, or the reason is unknown
	Cause string `json:"cause,omitempty"`
	// what stopped the agent, in one line; "": nothing
	Error    string `json:"error,omitempty"`
	Unscored string `json:"unscored,omitempty"` // why scoring failed

	Uncounted bool `json:"uncounted,omitempty"` // the benchmark leaves the score out of its total

	Rounds     int `json:"rounds"` // or steps, for agents without rounds
	DebugTries int `json:"debug_tries"`

	Usage  record.Usage            `json:"usage"`
	ByRole map[string]record.Usage `json:"by_role,omitempty"`
	// null: the agent derives nothing beside its answer
	Derivations record.Counts  `json:"derivations,omitempty"`
	Cost        *float64       `json:"cost_usd"` // null: a price is not known
	Seconds     record.Seconds `json:"seconds"`

	Sandbox string `json:"sandbox,omitempty"` // what confined its cells
}

// Right reports whether the task is solved, that is, has the full score.
func (r Record) Right() bool { return r.Score != nil && *r.Score >= 1-1e-9 }
