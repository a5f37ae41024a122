// Package bench reads benchmarks as their users download them, and scores answers by their
// public rules: as the public code does, or with its faults corrected.
//
// Each benchmark is a row of the table in suite.go, and a file that reads its tasks and
// answers, scores them, sums the scores up and writes submissions.
package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// A Suite is a copy of a benchmark on disk.
type Suite struct {
	Benchmark *Benchmark
	Tasks     []Task
	Missing   []string // what this copy lacks, besides what its tasks list
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
	GoldDir string // folder of right answers that are files
	// missing paths, without which the task cannot be run (data) or scored (gold)
	Missing []string
}

// An Answer is an agent's answer to one task.
type Answer struct {
	ID         string          // "": the file has none
	Value      json.RawMessage // any JSON value, mostly a string; nil: no answer, which is wrong
	Dir        string          // folder of the files that the agent left (DA-Code)
	Unfinished bool
	Steps      int // actions taken, if known
	Actions    int // those of Steps that ran code with a known outcome (DA-Code)
	Failed     int // those of Actions that ended in an error
}

// Text is the answer as text: a JSON string's content, any other value as JSON.
func (a *Answer) Text() string {
	var text string
	if json.Unmarshal(a.Value, &text) == nil {
		return text
	}
	return string(a.Value)
}

// Said makes the value of an Answer from text.
func Said(text string) json.RawMessage {
	value, _ := json.Marshal(text) // a string always has a JSON form
	return value
}

// A Score rates one answer.
type Score struct {
	ID      string
	Value   float64 // 0 to 1
	Metric  string
	Parts   map[string]float64 // other metrics, or fields; 0 to 1, except error measures
	Detail  string             // why, in one line
	Missing bool               // there is no answer, or it is not finished
	// why there is no score, such as a failed judge; Value is then meaningless
	Unscored  string
	Uncounted bool // the benchmark leaves it out of totals and means
}

// A Total is one number of a benchmark's result.
type Total struct {
	Group string  `json:"group"` // "" for the benchmark as a whole
	Name  string  `json:"name"`
	Value float64 `json:"value"` // per cent, except "steps", which is a mean number
	N     int     `json:"n"`     // number of tasks; for UASQ, of fields
}

// A Setting selects the tasks of a benchmark that are read, and their data.
type Setting struct {
	Split  string // DABStep: "all" (the default) or "dev"
	Oracle bool   // KramaBench: only the files that the answer needs, not the whole lake
}

// Compat selects how answers are scored: like the public code, with its faults, so that
// results are comparable with published figures; or with the faults corrected. Each
// benchmark's scorer documents the corrections.
type Compat string

// The ways to score.
const (
	Upstream Compat = "upstream"
	Fixed    Compat = "fixed"
)

// Python runs code in a Python session and returns what it printed. The error is a
// [*CodeError] if the code failed, ran out of time or memory, or ended the session. Any other
// error is not the code's fault.
type Python func(ctx context.Context, code string) (stdout string, err error)

// A CodeError reports that a scorer's code did not finish because of what an agent left.
type CodeError struct{ Text string }

func (e *CodeError) Error() string { return "the scorer's code failed: " + e.Text }

// A Judge reports whether two texts mean the same (KramaBench, string_approximate).
type Judge func(ctx context.Context, answer, gold string) (bool, error)

// A Scorer scores answers. Fields that no task needs may be nil.
type Scorer struct {
	Compat Compat // "": Fixed
	Judge  Judge
	Plain  Python // runs the scorers of texts; it needs no packages
	Python Python // has the packages of the managed environment (DA-Code)
}

// A NeedError reports that a task cannot be scored without something that the Scorer lacks.
type NeedError struct {
	Task, Need string
}

func (e *NeedError) Error() string {
	return fmt.Sprintf("task %s cannot be scored without %s", e.Task, e.Need)
}

// A StopError reports a failure that every task would meet, such as a refused key or no Python.
type StopError struct{ Err error }

func (e *StopError) Error() string { return e.Err.Error() }
func (e *StopError) Unwrap() error { return e.Err }

// Stops reports whether an error ends the scoring of all tasks, not of one.
func Stops(ctx context.Context, err error) bool {
	_, needs := errors.AsType[*NeedError](err)
	_, stops := errors.AsType[*StopError](err)
	return needs || stops || err != nil && ctx.Err() != nil
}

// A Benchmark is one row of the table of benchmarks.
type Benchmark struct {
	Name   string
	Title  string
	Layout string // what Open expects at its path
	open   func(path string, s Setting) (*Suite, error)
	read   func(path string) ([]Answer, error)
	score  func(ctx context.Context, s Scorer, t Task, a *Answer) (Score, error)
	totals func(tasks []Task, scores []Score, answers map[string]*Answer) []Total
	submit func(w io.Writer, answers []Answer) error
	// number of tasks that a submission must contain; 0: all tasks of the copy
	size int
}

// Benchmarks returns the table of benchmarks. A new benchmark is a file and a row.
func Benchmarks() []*Benchmark {
	return []*Benchmark{
		{"dabstep", "DABStep", "the data set's folder (data/tasks, data/context), or a tasks .jsonl",
			openDABStep, readDABStepAnswers, scoreDABStep, totalDABStep, submitDABStep, 450},
		{"kramabench", "KramaBench",
			"a checkout of mitdbg/KramaBench (workload, data), or one workload .json",
			openKramaBench, readKramaBenchAnswers, scoreKramaBench, totalKramaBench, nil, 0},
		{"dacode", "DA-Code", "a checkout of yiyihum/da-code with da_code/source and da_code/gold filled",
			openDACode, readDACodeAnswers, scoreDACode, totalDACode, nil, 0},
		{"dabench", "InfiAgent-DABench",
			"the folder with da-dev-questions.jsonl, da-dev-labels.jsonl and da-dev-tables",
			openDABench, readDABenchAnswers, scoreDABench, totalDABench, nil, 0},
		{"dir", "tasks of your own", "a folder with an index.json, or that file",
			openDir, readDABStepAnswers, nil, totalDir, submitDABStep, 0},
	}
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

// Open reads all tasks of the benchmark. The error is a *MissingError if path lacks what the
// layout requires; the suite and its tasks name whatever else is missing. Their paths are
// absolute.
func (b *Benchmark) Open(path string, s Setting) (*Suite, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	suite, err := b.open(path, s)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", b.Title, err)
	}
	suite.Benchmark = b
	seen := map[string]bool{}
	for i := range suite.Tasks {
		task := &suite.Tasks[i]
		if task.ID == "" || seen[task.ID] {
			return nil, fmt.Errorf("read %s: task %d has id %q, which is empty or taken", b.Title,
				i+1, task.ID)
		}
		seen[task.ID] = true
		if task.Rules == "" {
			task.Rules = b.Name
		}
	}
	return suite, nil
}

// Answers reads a file of answers (DA-Code: a folder) in the benchmark's form. The
// paths in them are absolute.
func (b *Benchmark) Answers(path string) ([]Answer, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	answers, err := b.read(path)
	if err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	return answers, nil
}

// Submit writes the answers in the form that the benchmark accepts. If they break its rules,
// the error is an *AnswersError, and nothing is written.
func (s *Suite) Submit(w io.Writer, answers []Answer) error {
	if s.Benchmark.submit == nil {
		return fmt.Errorf("%s has no leaderboard that takes a file: dsstar bench score scores the run",
			s.Benchmark.Title)
	}
	if _, err := s.match(answers, true); err != nil {
		return err
	}
	return s.Benchmark.submit(w, answers)
}

// Score scores the answers, in the order of the tasks. Missing, unfinished and empty answers
// count as wrong. The error is an *AnswersError if answers belong to unknown tasks or two
// answers to one task, a *NeedError if the scorer lacks something, a *StopError, or ctx's error.
// Any other failure leaves only its task Unscored.
func (s *Suite) Score(ctx context.Context, scorer Scorer, answers []Answer) ([]Score, error) {
	byID, err := s.match(answers, false)
	if err != nil {
		return nil, err
	}
	scores := make([]Score, len(s.Tasks))
	for i, task := range s.Tasks {
		scores[i], err = scorer.Score(ctx, task, byID[task.ID])
		if Stops(ctx, err) {
			return nil, err
		}
		if err != nil {
			scores[i] = Score{ID: task.ID, Unscored: err.Error()}
		}
	}
	return scores, nil
}

// Totals sums up the scores of the suite's tasks, in their order, as the benchmark does.
// Unscored tasks are left out. answers, for steps and completion, may be nil.
func (s *Suite) Totals(scores []Score, answers []Answer) []Total {
	byID, _ := s.match(answers, false) // Score has reported what does not match
	var tasks []Task
	var scored []Score
	for i, score := range scores {
		if score.Unscored == "" {
			tasks, scored = append(tasks, s.Tasks[i]), append(scored, score)
		} else {
			delete(byID, score.ID)
		}
	}
	return s.Benchmark.totals(tasks, scored, byID)
}

// Score scores one answer; nil is no answer. The error is a *NeedError if the Scorer lacks
// what the task needs, or a *MissingError if there is no right answer to compare with.
func (s Scorer) Score(ctx context.Context, t Task, a *Answer) (Score, error) {
	if s.Compat == "" {
		s.Compat = Fixed
	}
	if s.Compat != Fixed && s.Compat != Upstream {
		return Score{}, fmt.Errorf("compat is %q or %q, not %q", Upstream, Fixed, s.Compat)
	}
	b, err := Find(t.Rules)
	if err != nil {
		return Score{}, fmt.Errorf("task %s: %w", t.ID, err)
	}
	if b.score == nil {
		return Score{}, fmt.Errorf("task %s: %s has no rules of its own", t.ID, b.Title)
	}
	if t.Gold == nil {
		return Score{}, &MissingError{What: []string{"the right answer of task " + t.ID +
			" (it is not published, or not in this copy)"}}
	}
	if a == nil || a.Unfinished || a.Value == nil || string(a.Value) == "null" {
		score, err := b.score(ctx, s, t, nil)
		score.ID, score.Value, score.Missing = t.ID, 0, true
		score.Detail = "no answer"
		if a != nil && a.Unfinished {
			score.Detail = "not finished"
		}
		return score, err
	}
	score, err := b.score(ctx, s, t, a)
	score.ID = t.ID
	if err != nil {
		return Score{}, fmt.Errorf("score %s: %w", t.ID, err)
	}
	return score, nil
}
