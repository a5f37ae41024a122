// Package bench reads benchmarks as their users download them, and scores answers by their
// public rules: as the public code does, or with its faults corrected.
//
// Each benchmark is a row of the table in suite.go: where its tasks are, and what scores answers to
// them.
package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// A Suite is a copy of a benchmark on disk.
type Suite struct {
	Benchmark *Benchmark
	Tasks     []Task
	Missing   []string // what this copy lacks for scoring, besides what its tasks list
	Secret    []string // files with right answers, besides those in GoldDir: see Exposed
}

// A Task is one question of a benchmark, its data and its right answer.
type Task struct {
	ID         string
	Question   string
	Guidelines string   // form of the answer
	Data       string   // folder of the data; "": this copy has none
	Files      []string // names below Data that the task may use; nil: all
	Level      string   // easy, medium, hard
	Domain     string   // KramaBench's lake, DA-Code's kind of task
	Kind       string   // KramaBench's answer type, DA-Code's result type, DABench's concepts
	Rules      string   // name of the benchmark whose rules apply
	// right answer, in that benchmark's form; nil: not public
	Gold    json.RawMessage
	GoldDir string   // folder of right answers that are files
	NoData  []string // missing paths, without which the task cannot be run
	NoGold  []string // missing paths, without which it cannot be scored
}

// An Answer is an agent's answer to one task.
type Answer struct {
	ID         string          // of the task
	Value      json.RawMessage // any JSON value, mostly a string; nil: no answer, which is wrong
	Dir        string          // folder of the files that the agent left (DA-Code)
	Unfinished bool
}

// Text is the answer as text: a JSON string's content, any other value as JSON.
func (a Answer) Text() string { return textOf(a.Value) }

func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// Said makes the value of an Answer from text.
func Said(text string) json.RawMessage {
	value, _ := json.Marshal(text) // a string always has a JSON form
	return value
}

// nothing reports whether a JSON value says nothing.
func nothing(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// A Setting selects the tasks of a benchmark that are read, and their data.
type Setting struct {
	Split  string // DABStep: "all" (the default) or "dev"
	Oracle bool   // KramaBench: only the files that the answer needs, not the whole lake
	Data   string // folder of all tasks' data, as an absolute path; "": the copy's
}

// A Benchmark is one row of the table of benchmarks.
type Benchmark struct {
	Name   string
	Title  string
	Layout string // what Open expects at its path
	root   string // of a copy, below this path
	// paths in a copy: of its files of tasks, SPLIT being that of the setting; of right answers by
	// task, if tasks do not have their own; and of a task's data, with its ID or the NAME of its file
	tasks      []string
	gold, data string
	task       func(row taskRow, t *Task, root string) error // what else a row says

	scorer   script  // none: each task names other rules
	groups   []group // its totals
	onlyFull bool    // scores count
}

// Benchmarks returns the table of benchmarks. A new benchmark is a row.
func Benchmarks() []*Benchmark {
	text := []string{"text_score"}
	return []*Benchmark{{
		Name: "dabstep", Title: "DABStep", // huggingface.co/datasets/adyen/DABstep
		Layout: "the data set's folder (data/tasks, data/context), or a tasks .jsonl",
		root:   "data", tasks: []string{"tasks/SPLIT.jsonl"}, data: "context",
		scorer: script{"dabstep", text}, groups: []group{whole("accuracy"), byLevel},
	}, {
		Name: "kramabench", Title: "KramaBench",
		Layout: "a checkout of mitdbg/KramaBench (workload, data), or one workload .json",
		// other workloads of a checkout (legal-tiny, quick-start-questions) are not in the benchmark
		tasks: []string{"workload/archeology.json", "workload/astronomy.json", "workload/biomedical.json",
			"workload/environment.json", "workload/legal.json", "workload/wildfire.json"},
		data: "data/NAME/input", task: kramaTask, scorer: script{"kramabench", text},
		groups: []group{whole("total"), byDomain, byLevel, byMetric},
	}, {
		Name: "dacode", Title: "DA-Code",
		Layout: "a checkout of yiyihum/da-code with da_code/source and da_code/gold filled",
		root:   "da_code", tasks: []string{"configs/task/all.jsonl"},
		gold: "configs/eval/eval_all.jsonl", data: "source/ID", task: daCodeTask,
		scorer: script{"dacode", []string{"dacode_score", "dacode_tables", "dacode_text", "dacode_images",
			"dacode_ml"}},
		groups: []group{whole("score"), byDomain, byLevel},
	}, {
		Name: "dabench", Title: "InfiAgent-DABench",
		Layout: "the folder with da-dev-questions.jsonl, da-dev-labels.jsonl and da-dev-tables",
		tasks:  []string{"da-dev-questions.jsonl"}, gold: "da-dev-labels.jsonl", data: "da-dev-tables",
		task:   daBenchTask,
		scorer: script{"dabench", text}, onlyFull: true,
		groups: []group{whole("ABQ"), byLevel, byConcept},
	}, {
		Name: "dir", Title: "tasks of your own", Layout: "a folder with an index.json, or that file",
		tasks: []string{"index.json"}, task: ownTask,
		groups: []group{whole("score"), byLevel, byBenchmark},
	}}
}

// Find returns the benchmark with that name.
func Find(name string) (*Benchmark, error) {
	var known []string
	for _, b := range Benchmarks() {
		if b.Name == name {
			return b, nil
		}
		known = append(known, b.Name)
	}
	return nil, fmt.Errorf("there is no benchmark %q; there are %s", name, strings.Join(known, ", "))
}

// ByID returns the tasks by their ids.
func (s *Suite) ByID() map[string]Task {
	tasks := make(map[string]Task, len(s.Tasks))
	for _, t := range s.Tasks {
		tasks[t.ID] = t
	}
	return tasks
}

// ErrNoTasks reports that no task is chosen.
var ErrNoTasks = errors.New("no task is left")

// Choose returns the tasks of a level (easy, medium or hard; "": of all) with some ids (nil: all), in
// the order in which they run: a seed shuffles them, before the limit; 0: the suite's order, and no
// limit. The error says which id is unknown, or is ErrNoTasks.
func (s *Suite) Choose(level string, ids []string, seed uint64, limit int) (tasks []Task, _ error) {
	known := s.ByID()
	for _, id := range ids {
		if _, is := known[id]; !is {
			return nil, fmt.Errorf("there is no task %q", id)
		}
	}
	tasks = lists.Where(s.Tasks, func(t Task) bool {
		ofLevel := level == "" || strings.EqualFold(t.Level, level)
		return ofLevel && (ids == nil || slices.Contains(ids, t.ID))
	})
	if seed != 0 {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(tasks), func(i, j int) {
			tasks[i], tasks[j] = tasks[j], tasks[i]
		})
	}
	if limit > 0 {
		tasks = tasks[:min(limit, len(tasks))]
	}
	if len(tasks) == 0 {
		return nil, ErrNoTasks
	}
	return tasks, nil
}

// Exposed returns an error if any task's data contains a file with right answers to any task,
// where an agent could find them. It follows links.
func (s *Suite) Exposed() error {
	secret := slices.Clone(s.Secret)
	for _, t := range s.Tasks {
		secret = append(secret, t.goldFiles()...)
	}
	secret = lists.Map(lists.Where(secret, disk.Exists), disk.RealPath)
	for _, t := range s.Tasks {
		folder := disk.RealPath(t.Data)
		for _, path := range secret {
			name, err := filepath.Rel(folder, path)
			if t.Data != "" && err == nil && filepath.IsLocal(name) &&
				(t.Files == nil || slices.Contains(t.Files, name)) {
				return fmt.Errorf("task %s: its data folder %s holds right answers: %s", t.ID, t.Data, name)
			}
		}
	}
	return nil
}

// A Total is one number of a benchmark's result.
type Total struct {
	Group string  `json:"group"` // "" for the benchmark as a whole
	Name  string  `json:"name"`
	Value float64 `json:"value"` // per cent
	N     int     `json:"n"`     // number of tasks
}

// A group sums up scores by a property; several of one score are separated by commas.
type group struct {
	name string
	of   func(Score) string
}

var (
	byLevel     = group{"level", func(s Score) string { return s.Level }}
	byDomain    = group{"domain", func(s Score) string { return s.Domain }}
	byBenchmark = group{"benchmark", byDomain.of}
	byMetric    = group{"metric", func(s Score) string { return s.Metric }}
	byConcept   = group{"concept", func(s Score) string { return s.task.Kind }}
)

// whole returns the group of all scores; name is that of their mean.
func whole(name string) group { return group{"", func(Score) string { return name }} }

// totals sums up scores as the benchmark does, but for unanswered questions: they count. Scores without
// a value are left out; uncounted ones are counted by their metric alone.
func (b *Benchmark) totals(scores []Score) []Total {
	all := []Total{}
	for _, g := range b.groups {
		of := map[string][]float64{}
		for _, score := range scores {
			if score.Value == nil || score.Uncounted && g.name != byMetric.name {
				continue
			}
			value := *score.Value
			if b.onlyFull {
				value = math.Floor(value)
			}
			for _, name := range strings.Split(g.of(score), ", ") {
				of[name] = append(of[name], value)
			}
		}
		delete(of, "")
		for _, name := range slices.Sorted(maps.Keys(of)) {
			mean := Mean(of[name])
			all = append(all, Total{g.name, name, 100 * mean.Value, mean.N})
		}
	}
	return all
}

// A Value is one figure of a run.
type Value struct {
	Value float64  `json:"value"`
	N     int      `json:"n"`              // number of tasks behind it
	Low   *float64 `json:"low,omitempty"`  // of the 95 % interval, for shares and scores
	High  *float64 `json:"high,omitempty"` //
}

// Mean returns the mean of values, or nil. It adds in their order, so that the result is
// reproducible bit for bit.
func Mean(values []float64) *Value {
	total := 0.0
	for _, v := range values {
		total += v
	}
	if len(values) == 0 {
		return nil
	}
	return &Value{Value: total / float64(len(values)), N: len(values)}
}

// Share returns the mean of values from 0 to 1 in per cent, with its interval, or nil.
func Share(values []float64) *Value {
	v := Mean(values)
	if v == nil {
		return nil
	}
	low, high := wilson(v.Value, v.N)
	return &Value{100 * v.Value, v.N, new(100 * low), new(100 * high)}
}

// wilson returns the 95 % interval of a share p of n tries (E. B. Wilson 1927). It also
// covers means of scores from 0 to 1, which vary less than shares.
func wilson(p float64, n int) (low, high float64) {
	const z = 1.959963984540054 // the normal quantile
	m := float64(n)
	middle := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (middle-half)/(1+z*z/m)), min(1, (middle+half)/(1+z*z/m))
}
