// Package runner carries a benchmark out: it runs an agent over the tasks of a
// suite, many at once and in several places, and keeps a record of each.
//
// All that a run leaves is in one [Folder], from which it can be resumed after
// anything: what it is (bench.json), a line for every finished task
// (results.jsonl), and the run folder of each (tasks/). [Run] is the work;
// what a task is and how it is solved and scored, its caller knows.
package runner

import (
	"fmt"
	"strings"

	"dsstar/agent/record"
)

// An Item is one task of a suite, as far as the runner needs to know it.
type Item struct {
	ID     string `json:"id"`
	Level  string `json:"level,omitempty"`  // easy, hard …, as the suite has it
	Domain string `json:"domain,omitempty"` // or type of task
	Hidden bool   `json:"hidden,omitempty"` // the right answer is not public: it has no score
}

// A Key tells the results of a run apart.
type Key struct {
	ID     string
	Repeat int // from 1
}

// String is the name of the result's folder in tasks/.
func (k Key) String() string {
	if k.Repeat > 1 {
		return fmt.Sprintf("%s-r%d", k.ID, k.Repeat)
	}
	return k.ID
}

// A Cause is why a task was not solved.
type Cause string

// The causes, the last of which are no fault of the answer's.
const (
	Wrong       Cause = "wrong answer"
	NoAnswer    Cause = "no answer"
	NotFinished Cause = "not finished" // rounds or steps were used up
	OverBudget  Cause = "budget"       // of the task
	OverTime    Cause = "time-out"     // of the task
	ModelError  Cause = "model error"
	KernelError Cause = "kernel error"
)

// Causes are all of them, in the order in which they are told.
func Causes() []Cause {
	return []Cause{Wrong, NoAnswer, NotFinished, OverBudget, OverTime, ModelError, KernelError}
}

// Flag returns the cause as flags write it, with hyphens.
func (c Cause) Flag() string { return strings.ReplaceAll(string(c), " ", "-") }

// A Record is what came of one task: a line of results.jsonl.
type Record struct {
	Task   string `json:"task_id"`
	Repeat int    `json:"repeat"` // from 1
	Level  string `json:"level,omitempty"`
	Domain string `json:"domain,omitempty"`

	Answer   string             `json:"answer"`
	Score    *float64           `json:"score"`              // 0 to 1; null: the right answer is not public
	Metric   string             `json:"metric,omitempty"`   // what the score is, where the benchmark has several
	Scores   map[string]float64 `json:"scores,omitempty"`   // the others that the benchmark gives
	Detail   string             `json:"detail,omitempty"`   // of the scorer: why, in one line
	Finished bool               `json:"finished"`           // the agent came to its end
	Verified bool               `json:"verified"`           // and proved the answer
	Cause    Cause              `json:"cause,omitempty"`    // why it is not solved; "": it is, or nobody knows
	Error    string             `json:"error,omitempty"`    // what ended the agent, in one line; "": it ended by itself
	Unscored string             `json:"unscored,omitempty"` // why the scorer has no score

	Uncounted bool `json:"uncounted,omitempty"` // the benchmark leaves the score out of its total

	Rounds     int      `json:"rounds"` // or steps, of agents that have no rounds
	Verdicts   []string `json:"verdicts,omitempty"`
	Routes     []string `json:"routes,omitempty"`
	DebugTries int      `json:"debug_tries"`
	Executions int      `json:"executions"`
	Failed     int      `json:"failed_executions"`

	Usage   record.Usage            `json:"usage"`
	ByRole  map[string]record.Usage `json:"by_role,omitempty"`
	Cost    *float64                `json:"cost_usd"` // null: a price is not known
	Seconds record.Seconds          `json:"seconds"`

	Sandbox  string `json:"sandbox,omitempty"`  // of its cells, in words
	Notebook string `json:"notebook,omitempty"` // below the run's folder, with slashes
}

// Key is the record's key.
func (r Record) Key() Key { return Key{r.Task, max(1, r.Repeat)} }

// Value is the score; what has none, as it cannot be scored, is false.
func (r Record) Value() (float64, bool) {
	if r.Score == nil {
		return 0, false
	}
	return *r.Score, true
}

// Right reports whether the task is solved: with the full score.
func (r Record) Right() bool { return r.Score != nil && *r.Score >= 1-1e-9 }
