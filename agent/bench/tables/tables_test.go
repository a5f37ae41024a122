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

// TestTables: every table has its published rows, and below them those of runs of its benchmark.
func TestTables(t *testing.T) {
	run := sample("dsstar", "m|n", map[string]string{"method.paper": "true", "tasks": "/t"}, 1, 0, 1, -1)
	for _, p := range Papers() {
		text := regexp.MustCompile(" +").ReplaceAllString(p.Markdown([]runner.Result{run}), " ")
		want := []string{p.title, "dsstar, method.paper true is a run of dabstep, and the table is about " + p.bench}
		switch {
		case p.Name == "ds-star:1":
			want = []string{"| DS-STAR | Gemini-2.5-Pro | dsstar --paper | 87.50 | 45.24 |\n| ours | m\\|n | " +
				"dsstar, method.paper true | 100.00 (n 2, 34.24 to 100.00) | 0.00 (n 2, 0.00 to 65.76) |\n",
				"1 of 4 tasks have no result yet, and count as wrong"}
		case p.Name == "ds-star:6":
			want = []string{"| dsstar, method.paper true | 11 (n 3) | 0 (n 3) | 0 (n 3) | 0.25 (n 3) |"}
		case p.bench == run.Bench:
			want = []string{p.title, "| ours |"}
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", p.Name, part, text)
			}
		}
	}
}

func TestMeasures(t *testing.T) {
	r := sample("dsstar", "m", nil, 1, 0, 0.5, 1)
	hard := column{by: "level", values: []string{"HAR"}}.has
	r.Items = append(r.Items, runner.Item{ID: "left", Level: "easy"})
	r.Records[1].Cost, r.Records[2].Score = nil, nil
	for _, c := range []struct {
		name   string
		of     func(runner.Item) bool
		want   float64
		behind int
	}{
		{"score", column{}.has, 50, 4}, {"score", hard, 50, 2}, {"completion", column{}.has, 80, 5},
		{"cost", column{}.has, 0.25, 3}, {"calls", column{}.has, 11.5, 4}, {"rounds", hard, 3, 2},
	} {
		if v := measured(r, c.name, c.of); v == nil || v.Value != c.want || v.N != c.behind {
			t.Errorf("%s: %+v, want %v of %d", c.name, v, c.want, c.behind)
		}
	}
	if v := Score(sample("dsstar", "m", nil, -1)); v != nil {
		t.Errorf("the score of no record is %+v", v)
	}
}
