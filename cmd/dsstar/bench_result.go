package main

import (
	"fmt"
	"strings"

	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/tables"
	"dsstar/notebook/human"
)

// A benchResult is the object that bench run prints with --json. Its fields are a
// contract: see docs/benchmarks.md.
type benchResult struct {
	Out      string        `json:"out"`
	Bench    string        `json:"bench"`
	Agent    string        `json:"agent"`
	Model    string        `json:"model"`
	Tasks    int           `json:"tasks"`
	Repeat   int           `json:"repeat"`
	Right    int           `json:"right"`
	Wrong    int           `json:"wrong"`
	Unscored int           `json:"unscored"`
	Missing  int           `json:"missing"` // without a result: the run was stopped, or data are missing
	Score    *tables.Value `json:"score"`   // per cent; null: nothing can be scored
	CostUSD  *float64      `json:"cost_usd"`
	Usage    tokenUsage    `json:"usage"`

	failed int // of the unscored: the scorer failed, and may succeed later
}

func newBenchResult(r runner.Result) benchResult {
	totals, used, cost := r.Totals()
	b := benchResult{
		Out: r.Path, Bench: r.Bench, Agent: r.Agent, Model: r.Model, Tasks: len(r.Items), Repeat: max(1, r.Repeat),
		Right: totals.Right, Wrong: totals.Wrong, Unscored: totals.Unscored, Missing: len(r.Missing()),
		Score: tables.Score(r), CostUSD: cost, Usage: tokensOf(used),
	}
	for _, record := range r.Records {
		if record.Score == nil && record.Unscored != "" {
			b.failed++
		}
	}
	return b
}

// line returns the result as a sentence.
func (b benchResult) line() string {
	var without []string
	if hidden := b.Unscored - b.failed; hidden > 0 && b.Score == nil {
		without = append(without, fmt.Sprintf("the right answers to %d tasks are not public: dsstar bench submit writes the submission", hidden))
	} else if hidden > 0 {
		without = append(without, fmt.Sprintf("and %d not scored", hidden))
	}
	if b.failed > 0 {
		without = append(without, fmt.Sprintf("%d could not be scored: dsstar bench score --save %s tries again", b.failed, human.Shell(b.Out)))
	}
	if b.Score == nil {
		if b.Missing > 0 {
			without = append(without, fmt.Sprintf("%d have no result", b.Missing))
		}
		return "no score: " + strings.Join(without, "; ")
	}
	text := fmt.Sprintf("score %.2f %% (%d of %d right, 95 %% interval %.1f to %.1f)", b.Score.Value, b.Right, b.Right+b.Wrong+b.Missing, *b.Score.Low, *b.Score.High)
	return strings.Join(append([]string{text}, without...), ", ")
}
