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

// A view shows the progress of a run on stderr.
type view struct {
	progress *ui.Progress
	total    int
}

// event shows an event. Calls must not overlap.
func (v *view) event(e runner.Event) {
	switch {
	case e.Record != nil:
		v.ended(e)
	case e.Err != nil:
		v.progress.Say("lacking  %s: %v", e.Task, e.Err)
	}
	v.progress.Await(v.state(e.Totals))
}

func (v *view) ended(e runner.Event) {
	word, why := "right", ""
	switch {
	case e.Record.Score == nil:
		if word = "answer"; e.Record.Unscored != "" {
			why = ", not scored: " + e.Record.Unscored
		}
	case !e.Record.Right():
		word = "wrong"
		if score := *e.Record.Score; score > 0 {
			word, why = "partly", fmt.Sprintf(", score %.2f", score)
		} else if e.Record.Cause != "" {
			why = ", " + e.Record.Cause
		}
		if detail := e.Record.Error + e.Record.Detail; detail != "" {
			why += ": " + ui.Fit(detail, 100)
		}
	}
	v.progress.Say("%-8s %s%s in %.0f s; %s", word, e.Task, why, e.Record.Seconds.Total,
		v.state(e.Totals))
}

// state returns the state of the run in one line.
func (v *view) state(t runner.Totals) string {
	done := t.Right + t.Wrong + t.Unscored
	text := fmt.Sprintf("%d of %d done: %d right, %d wrong", done, v.total, t.Right, t.Wrong)
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

	failed int // unscored because the scorer failed; a later try may succeed
}

func (a *App) newResult(r runner.Result) result {
	totals, used, cost := r.Totals()
	b := result{
		Out: r.Path, Bench: r.Bench, Agent: r.Agent, Model: r.Model, Tasks: len(r.Items),
		Right: totals.Right, Wrong: totals.Wrong, Unscored: totals.Unscored, Missing: r.Missing(),
		Score: tables.Score(r), CostUSD: cost, Usage: used,
	}
	for _, record := range r.Records {
		if record.Score == nil && record.Unscored != "" {
			b.failed++
		}
	}
	return b
}

// line returns the result as a sentence.
func (b result) line() string {
	var without []string
	if hidden := b.Unscored - b.failed; hidden > 0 && b.Score == nil {
		without = append(without,
			fmt.Sprintf("the answers to %d tasks are not public: dsstar bench submit writes a "+
				"submission", hidden))
	} else if hidden > 0 {
		without = append(without, fmt.Sprintf("and %d not scored", hidden))
	}
	if b.failed > 0 {
		without = append(without,
			fmt.Sprintf("%d could not be scored: dsstar bench score %s tries again", b.failed,
				human.Shell(b.Out)))
	}
	if b.Score == nil {
		if b.Missing > 0 {
			without = append(without, fmt.Sprintf("%d have no result", b.Missing))
		}
		return "no score: " + strings.Join(without, "; ")
	}
	text := fmt.Sprintf("score %.2f %% (%d of %d right, 95 %% interval %.1f to %.1f)", b.Score.Value,
		b.Right, b.Right+b.Wrong+b.Missing, *b.Score.Low, *b.Score.High)
	return strings.Join(append([]string{text}, without...), ", ")
}

// scoreWarnings returns one line for each kind of answer that was left out.
func scoreWarnings(b bench.Scores) []string {
	var all []string
	if len(b.Missing) > 0 {
		all = append(all, "missing in this copy of the benchmark: "+bench.Some(b.Missing, 5))
	}
	if len(b.Unknown) > 0 {
		all = append(all, "ignored answers to unknown tasks: "+bench.Some(b.Unknown, 5))
	}
	var each []string
	for _, t := range b.Tasks {
		if t.Failed != "" {
			each = append(each, t.ID+" ("+ui.Fit(t.Failed, 200)+")")
		}
	}
	if each != nil {
		all = append(all, "could not be scored, and are left out: "+bench.Some(each, 3))
	}
	return all
}

// scoresText formats the scores for people: the totals, and the tasks without the full score.
func scoresText(b bench.Scores) string {
	var out strings.Builder
	for _, t := range b.Totals {
		name := t.Name
		if t.Group != "" {
			name = t.Group + " " + t.Name
		}
		fmt.Fprintf(&out, "%-28s %7.2f  (n %d)\n", name, t.Value, t.N)
	}
	if b.Score != nil {
		fmt.Fprintf(&out, "mean score %.2f %%, 95 %% interval %.1f to %.1f, by the rules of %s (%s)\n",
			b.Score.Value, *b.Score.Low, *b.Score.High, b.Bench, b.Compat)
	}
	if b.Unscored > 0 {
		fmt.Fprintf(&out, "%d tasks have no score: their right answers are not public, or missing, or the scorer "+
			"failed\n", b.Unscored)
	}
	for _, t := range b.Tasks {
		if t.Value != nil && *t.Value < 1 {
			fmt.Fprintf(&out, "%-28s %7.2f  %s\n", t.ID, 100**t.Value, ui.Printable(t.Detail))
		}
	}
	return out.String()
}
