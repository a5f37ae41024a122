package tables

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"dsstar/agent/bench/runner"
	"dsstar/agent/record"
)

// sample returns a run of easy and hard tasks with these scores; negative: no record.
func sample(agentName, model string, setup map[string]string, scores ...float64) runner.Result {
	r := runner.Result{Path: "runs/" + agentName,
		About: runner.About{Bench: "dabstep", Agent: agentName, Model: model, Setup: setup}}
	for i, score := range scores {
		item := runner.Item{ID: fmt.Sprint(i + 1), Level: []string{"easy", "hard"}[i%2]}
		r.Items = append(r.Items, item)
		if score < 0 {
			continue
		}
		cost, cause := 0.25, ""
		if score < 1 {
			cause = runner.Wrong
		}
		r.Records = append(r.Records, runner.Record{
			Task: item.ID, Level: item.Level, Answer: fmt.Sprint("answer ", i), Score: &score,
			Cause: cause, Finished: true, Rounds: 1 + i, Cost: &cost, Usage: record.Usage{Calls: 10 + i},
		})
	}
	return r
}

// TestTables: every table has its published rows, and below them those of runs of its benchmark. A
// task without a record has no score, and is not complete.
func TestTables(t *testing.T) {
	run := sample("dsstar", "m|n", map[string]string{"method.paper": "true", "tasks": "/t"}, 1, 0, 1, -1)
	run.Records[0].Cost = nil
	for _, p := range Papers() {
		text := regexp.MustCompile(" +").ReplaceAllString(p.Markdown([]runner.Result{run}), " ")
		want := []string{p.title, "dsstar, method.paper true is a run of dabstep, and the table is about " + p.bench}
		switch {
		case p.Name == "ds-star:1":
			want = []string{"| DS-STAR | Gemini-2.5-Pro | dsstar --paper | 87.50 | 45.24 |\n| ours | m\\|n | " +
				"dsstar, method.paper true | 100.00 (n 2, 34.24 to 100.00) | 0.00 (n 2, 0.00 to 65.76) |\n",
				"1 of 4 tasks have no result yet, and count as wrong"}
		case p.Name == "ds-star:6":
			want = []string{"| dsstar, method.paper true | 11 (n 3) | 0 (n 3) | 0 (n 3) | 0.25 (n 2) |"}
		case p.bench == run.Bench:
			want = []string{p.title, "| ours |"}
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", p.Name, part, text)
			}
		}
	}
	complete := measured(run, "completion", column{}.has)
	if unknown := Score(sample("dsstar", "m", nil, -1)); complete.Value != 75 || unknown != nil {
		t.Errorf("%+v are complete, the score of no record is %+v", complete, unknown)
	}
}
