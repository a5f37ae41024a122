package bench

import (
	"fmt"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/tables"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook/human"
)

// event shows an event of the run on stderr. Calls must not overlap.
func (r *run) event(e runner.Event) {
	if e.Record != nil {
		r.ended(e)
	} else if e.Err != nil {
		r.progress.Say("lacking  %s: %v", e.Task, e.Err)
	}
	r.progress.Wait(r.state(e.Totals))
}

func (b *run) ended(e runner.Event) {
	r, word, why := e.Record, "right", ""
	switch {
	case r.Score == nil:
		if word = "answer"; r.Unscored != "" {
			why = ", not scored: " + r.Unscored
		}
	case !r.Right():
		word, why = "wrong", strings.TrimSuffix(", "+r.Cause, ", ")
		if *r.Score > 0 {
			word, why = "partly", fmt.Sprintf(", score %.2f", *r.Score)
		}
		if detail := r.Error + r.Detail; detail != "" {
			why += ": " + ui.Fit(detail, 100)
		}
	}
	b.progress.Say("%-8s %s%s in %.0f s; %s", word, e.Task, why, r.Seconds.Total, b.state(e.Totals))
}

// state returns the state of the run in one line.
func (r *run) state(t runner.Totals) string {
	done, all := t.Right+t.Wrong+t.Unscored, len(r.config.Folder.Items)
	text := fmt.Sprintf("%d of %d done: %d right, %d wrong", done, all, t.Right, t.Wrong)
	if t.Unscored > 0 {
		text += fmt.Sprintf(", %d not scored", t.Unscored)
	}
	text += fmt.Sprintf(", %d running", t.Running)
	if t.Cost > 0 {
		text += ", about " + human.Dollars(t.Cost)
	}
	return text
}

// A result is the object that bench run prints with --json. Its fields are a
// contract: see docs/benchmarks.md.
type result struct {
	Out      string `json:"out"`
	Bench    string `json:"bench"`
	Agent    string `json:"agent"`
	Model    string `json:"model"`
	Tasks    int    `json:"tasks"`
	Right    int    `json:"right"`
	Wrong    int    `json:"wrong"`
	Unscored int    `json:"unscored"`
	// without a result: the run was stopped, or data are missing
	Missing int          `json:"missing"`
	Score   *bench.Value `json:"score"` // per cent; null: nothing can be scored
	CostUSD *float64     `json:"cost_usd"`
	Usage   any          `json:"usage"`
}

func newResult(r runner.Result) result {
	totals, used, cost := r.Totals()
	return result{
		Out: r.Path, Bench: r.Bench, Agent: r.Agent, Model: r.Model, Tasks: len(r.Items),
		Right: totals.Right, Wrong: totals.Wrong, Unscored: totals.Unscored, Missing: r.Missing(),
		Score: tables.Score(r), CostUSD: cost, Usage: used,
	}
}

// line returns the result as a sentence.
func (b result) line() string {
	text := "no score"
	if b.Score != nil {
		text = fmt.Sprintf("score %.2f %% (%d of %d right, 95 %% interval %.1f to %.1f)", b.Score.Value,
			b.Right, b.Right+b.Wrong+b.Missing, *b.Score.Low, *b.Score.High)
	} else if b.Missing > 0 {
		text += fmt.Sprintf(", %d have no result", b.Missing)
	}
	if b.Unscored > 0 {
		text += fmt.Sprintf(", and %d not scored: their right answers are not public, or the scorer "+
			"failed (dsstar bench score %s tries again)", b.Unscored, human.Shell(b.Out))
	}
	return text
}
