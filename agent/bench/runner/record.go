// Package runner takes the tasks of a benchmark from their data to their scores, concurrently: it
// prepares the data, has an agent solve the task in a run folder, finds the cause of a failure,
// scores the answer and records it. Answers that are on disk already can be scored again.
//
// A run is one [Folder], from which it can always be resumed: its description (bench.json), a
// line for each attempt at a task (results.jsonl), and the run folders of the tasks (tasks/).
package runner

import "dsstar/agent/record"

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
