// Package bench reads benchmarks as their users download them and scores answers
// to them by their public rules, as these are or with their faults put right.
//
// Every benchmark is one row of the table in suite.go and a file of its own: how
// its tasks and answers are read, scored, summed up and handed in.
package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// A Suite is a benchmark as it lies on disk.
type Suite struct {
	Benchmark *Benchmark
	Tasks     []Task
	Missing   []string // what the benchmark's layout has and this copy has not, one line each; tasks say what they lack themselves
	Secret    []string // files with right answers, beside those in tasks' GoldDir: see Exposed
}

// A Task is one question of a benchmark, its data and its right answer.
type Task struct {
	ID         string          `json:"task_id"`
	Question   string          `json:"question"`
	Guidelines string          `json:"guidelines,omitempty"` // the form that the answer must have
	Data       string          `json:"data,omitempty"`       // the folder with the data; "" if this copy has none
	Files      []string        `json:"files,omitempty"`      // names below Data that the task may use; nil: all of them
	Level      string          `json:"level,omitempty"`      // easy, medium, hard
	Domain     string          `json:"domain,omitempty"`     // KramaBench's lake, DA-Code's kind of task
	Kind       string          `json:"kind,omitempty"`       // what the answer is: KramaBench's answer type, DA-Code's result type, DABench's concepts
	Rules      string          `json:"rules"`                // the benchmark by whose rules it is scored
	Gold       json.RawMessage `json:"gold,omitempty"`       // the right answer, as that benchmark writes it; nil: not published
	GoldDir    string          `json:"gold_dir,omitempty"`   // the folder with right answers that are files
	Missing    []string        `json:"missing,omitempty"`    // paths that the task names and that are not there: it cannot be run (data) or scored (gold)
}

// An Answer is what an agent said to one task.
type Answer struct {
	ID         string          `json:"task_id"`          // "": the file tells none
	Value      json.RawMessage `json:"answer,omitempty"` // any JSON value, mostly a string; nil: none was given, which is wrong
	Dir        string          `json:"dir,omitempty"`    // the folder with the files that the agent left (DA-Code)
	Unfinished bool            `json:"unfinished,omitempty"`
	Steps      int             `json:"steps,omitempty"`   // actions taken, where the file tells
	Actions    int             `json:"actions,omitempty"` // of these, code that ran and whose outcome is known (DA-Code)
	Failed     int             `json:"failed,omitempty"`  // of these, how many ended in an error
	Trace      string          `json:"trace,omitempty"`   // how the agent came to it; DABStep takes it with a submission
	Code       string          `json:"code,omitempty"`    // the program that gives the answer; KramaBench takes it
	Tokens     [2]int          `json:"tokens,omitzero"`   // input and output; KramaBench takes them
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

// A Score is how right one answer is.
type Score struct {
	ID      string             `json:"task_id"`
	Value   float64            `json:"score"` // 0 to 1
	Metric  string             `json:"metric"`
	Parts   map[string]float64 `json:"parts,omitempty"`  // further metrics, or the fields of the answer, 0 to 1 unless named an error
	Detail  string             `json:"detail,omitempty"` // why, in one line
	Missing bool               `json:"missing,omitempty"`

	Unscored string `json:"unscored,omitempty"` // why there is no score, such as a judge that failed: Value says nothing

	Uncounted bool `json:"uncounted,omitempty"` // the benchmark leaves it out of its total and of every mean
}

// A Total is one number of a benchmark's result, in per cent.
type Total struct {
	Group string  `json:"group"` // "" for the benchmark as a whole
	Name  string  `json:"name"`
	Value float64 `json:"value"` // per cent; Steps counts
	N     int     `json:"n"`     // tasks it is over; for UASQ, fields
}

// Setting is which tasks of a benchmark are read, and which data they are given.
type Setting struct {
	Split  string // DABStep: "all" (the default) or "dev"
	Oracle bool   // KramaBench: only the files that the answer needs, not the whole lake
}

// Compat is which of two ways answers are scored: as the public code does, with
// its faults, so that published numbers can be compared; or with them put right.
// What that changes is told at each benchmark's scorer.
type Compat string

// The ways to score.
const (
	Upstream Compat = "upstream"
	Fixed    Compat = "fixed"
)

// Python runs code in a Python session that has the packages of the managed
// environment and returns what it printed. Code that failed, ran out of time or
// memory, or ended its session is a [*CodeError]; any other error is no fault of
// the code's.
type Python func(ctx context.Context, code string) (stdout string, err error)

// A CodeError says that code which a scorer ran did not come to its end: what an
// agent left is the cause.
type CodeError struct{ Text string }

func (e *CodeError) Error() string { return "the scorer's code failed: " + e.Text }

// Judge says whether two texts mean the same (KramaBench, string_approximate).
type Judge func(ctx context.Context, answer, gold string) (bool, error)

// A Scorer scores answers. What no task needs may be nil.
type Scorer struct {
	Compat Compat // "": Fixed
	Judge  Judge
	Plain  Python // runs the scorers of texts; it needs no packages
	Python Python // has the packages of the managed environment (DA-Code)
}

// NeedError says that a task cannot be scored without something that the Scorer
// was not given.
type NeedError struct {
	Task, Need string
}

func (e *NeedError) Error() string {
	return fmt.Sprintf("task %s cannot be scored without %s", e.Task, e.Need)
}

// A Benchmark is one row of the table of benchmarks: how it is read, how its
// answers are scored, summed up and handed in.
type Benchmark struct {
	Name   string
	Title  string
	Layout string // what to point Open at
	open   func(path string, s Setting) (*Suite, error)
	read   func(path string) ([]Answer, error)
	score  func(ctx context.Context, s Scorer, t Task, a *Answer) (Score, error)
	totals func(tasks []Task, scores []Score, answers map[string]*Answer) []Total
	submit func(w io.Writer, tasks []Task, answers []Answer) error
	size   int // tasks of the whole benchmark, all of which are submitted together; 0: those of the copy
}

// Benchmarks is the table of benchmarks. To add one: a file and a row.
func Benchmarks() []*Benchmark {
	return []*Benchmark{
		{"dabstep", "DABStep", "the data set's folder (data/tasks, data/context), or a tasks .jsonl",
			openDABStep, readDABStepAnswers, scoreDABStep, totalDABStep, submitDABStep, 450},
		{"kramabench", "KramaBench", "a checkout of mitdbg/KramaBench (workload, data), or one workload .json",
			openKramaBench, readKramaBenchAnswers, scoreKramaBench, totalKramaBench, submitKramaBench, 0},
		{"dacode", "DA-Code", "a checkout of yiyihum/da-code with da_code/source and da_code/gold filled",
			openDACode, readDACodeAnswers, scoreDACode, totalDACode, nil, 0},
		{"dabench", "InfiAgent-DABench", "the folder with da-dev-questions.jsonl, da-dev-labels.jsonl and da-dev-tables",
			openDABench, readDABenchAnswers, scoreDABench, totalDABench, submitDABench, 0},
		{"dir", "tasks of your own", "a folder with an index.json, or that file",
			openDir, readDABStepAnswers, nil, totalDir, submitDABStep, 0},
	}
}

// UnknownError says that there is no benchmark of that name.
type UnknownError struct {
	Name  string
	Known []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no benchmark %q; there are %s", e.Name, strings.Join(e.Known, ", "))
}

// Find returns the benchmark of that name, or an *UnknownError.
func Find(name string) (*Benchmark, error) {
	all := Benchmarks()
	i := slices.IndexFunc(all, func(b *Benchmark) bool { return b.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	unknown := &UnknownError{Name: name}
	for _, b := range all {
		unknown.Known = append(unknown.Known, b.Name)
	}
	return nil, unknown
}

// Open reads the benchmark's tasks. What its layout cannot do without and path
// has not is a *MissingError; whatever else is not there is named in the suite
// and in its tasks, all of which are returned. The paths in them are absolute.
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
			return nil, fmt.Errorf("read %s: task %d has id %q, which is empty or taken", b.Title, i+1, task.ID)
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

// Submit writes the answers in the form in which the benchmark takes them. It
// is an *AnswersError if its rules are broken, and nothing is written then.
func (s *Suite) Submit(w io.Writer, answers []Answer) error {
	if s.Benchmark.submit == nil {
		return fmt.Errorf("%s takes folders of result.json files: DA-Code's output folder itself is what is handed in", s.Benchmark.Title)
	}
	if _, err := s.match(answers, true); err != nil {
		return err
	}
	return s.Benchmark.submit(w, s.Tasks, answers)
}

// Score scores the answers, in the order of the tasks. An answer that is not
// there, not finished or not given is wrong and counts. Answers to tasks that
// the suite has not, or two to one task, are an *AnswersError. What a task needs and
// the scorer was not given is a *NeedError; any other failure, but the end of ctx, is
// one task's, which is Unscored.
func (s *Suite) Score(ctx context.Context, scorer Scorer, answers []Answer) ([]Score, error) {
	byID, err := s.match(answers, false)
	if err != nil {
		return nil, err
	}
	scores := make([]Score, len(s.Tasks))
	for i, task := range s.Tasks {
		scores[i], err = scorer.Score(ctx, task, byID[task.ID])
		if _, ok := errors.AsType[*NeedError](err); ok || err != nil && ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			scores[i] = Score{ID: task.ID, Unscored: err.Error()}
		}
	}
	return scores, nil
}

// Totals sums up scores (which are those of the suite's tasks, in their order)
// as the benchmark does, without what is Unscored. answers may be nil; they tell steps
// and completion.
func (s *Suite) Totals(scores []Score, answers []Answer) []Total {
	byID, _ := s.match(answers, false) // what does not match has been told by Score
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

// Score scores one answer; nil is no answer. It is a *NeedError if the Scorer
// lacks what the task needs, and an error if the task has no right answer to
// compare with.
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
		return Score{}, &MissingError{What: []string{"the right answer of task " + t.ID + " (it is not published, or not in this copy)"}}
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
