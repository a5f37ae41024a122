package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"dsstar/agent/bench/runner"
)

// madeRun is the folder of a run of these tasks, whose i-th task answers what of says.
func madeRun(t *testing.T, tasks string, ids []string, repeat int, of func(i, repeat int) string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	about := runner.About{Bench: "dir", Agent: "react", Model: "m", Repeat: repeat, Setup: map[string]string{"tasks": tasks, "compat": "upstream"}}
	for _, id := range ids {
		about.Items = append(about.Items, runner.Item{ID: id})
	}
	folder, err := runner.Create(out, about)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= repeat; n++ {
		for i, id := range ids {
			err = errors.Join(err, folder.Append(runner.Record{Task: id, Repeat: n, Answer: of(i+1, n), Finished: true}))
		}
	}
	if err := errors.Join(err, folder.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBenchScoreRepeats scores all repeats of a run: a task's score is their mean.
func TestBenchScoreRepeats(t *testing.T) {
	t.Parallel()
	s := &benchScene{t: t}
	out := madeRun(t, trialTasks(t, 2, false), []string{"sum-1", "sum-2"}, 2, func(i, repeat int) string {
		if i == 2 && repeat == 2 {
			return "wrong"
		}
		return fmt.Sprint(40 + i)
	})
	stdout, _ := s.run(exitVerified, "score", out, "--json")
	var got benchScores
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Repeat != 2 || len(got.Tasks) != 2 || *got.Tasks[0].Score != 1 ||
		*got.Tasks[1].Score != 0.5 || got.Score.Value != 75 || got.Score.N != 2 || got.Totals[0].Value != 75 {
		t.Errorf("%v, %s", err, stdout)
	}
	stdout, _ = s.run(exitVerified, "score", out)
	contains(t, stdout, "means of 2 runs of each task", "mean score 75.00 %")
}

// TestBenchSubmitWhole hands in a run of a part of the tasks: it is refused.
func TestBenchSubmitWhole(t *testing.T) {
	t.Parallel()
	s := &benchScene{t: t}
	tasks := trialTasks(t, 3, false)
	said := func(i, _ int) string { return fmt.Sprint(i) }
	stdout, stderr := s.run(exitUsage, "submit", "--format", "dabstep", madeRun(t, tasks, []string{"sum-1", "sum-3"}, 1, said))
	contains(t, stderr, "is about 2 tasks, and all 3 are handed in together", "hint: dsstar bench run --bench dir")
	if stdout != "" {
		t.Errorf("%s", stdout)
	}
	stdout, _ = s.run(exitVerified, "submit", "--format", "dabstep", madeRun(t, tasks, []string{"sum-1", "sum-2", "sum-3"}, 1, said))
	contains(t, stdout, `"task_id":"sum-3"`)
}
