package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/agent/bench/runner"
	"dsstar/agent/llm/llmtest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// trialTasks returns a folder of n tasks that ask for a sum. The data of task i are 40 and i.
func trialTasks(t *testing.T, n int) string {
	t.Helper()
	files := map[string]string{}
	var rows []map[string]any
	for i := 1; i <= n; i++ {
		data := fmt.Sprintf("data-%d", i)
		files[data+"/numbers.csv"] = fmt.Sprintf("n\n40\n%d\n", i)
		rows = append(
			rows,
			map[string]any{"id": fmt.Sprintf("sum-%d", i), "question": "What is the total?",
				"data_dir": data, "answer": fmt.Sprint(40 + i), "scorer": "dabstep"},
		)
	}
	index, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	files["index.json"] = string(index)
	return dataFolder(t, files)
}

// adds is a model that solves every task of trialTasks with one cell.
func adds(llmtest.Request) llmtest.Response {
	return llmtest.Response{Text: cell("import csv\n" +
		"final_answer(sum(int(r['n']) for r in csv.DictReader(open('data/numbers.csv'))))")}
}

// TestBenchKill kills the program at random moments of a run and resumes it: each task has one
// result.
func TestBenchKill(t *testing.T) {
	pyenvtest.Long(t)
	server := llmtest.New(t, adds)
	tasks, dir := trialTasks(t, 3), t.TempDir()
	args := func(out string) []string {
		return []string{"bench", "run", "--bench", "dir", "--tasks", tasks, "--agent", "react", "--jobs",
			"2", "--out", out, "--base-url", server.URL, "--model", "scripted",
			"--python", pyenvtest.Python(t)}
	}
	begin := time.Now()
	if killAfter(t, time.Minute, args(filepath.Join(dir, "whole"))...) {
		t.Fatal("a whole run fails")
	}
	took := time.Since(begin)
	out := filepath.Join(dir, "killed")
	next := args(out)
	for n, at := 0, rand.N(took); killAfter(t, at, next...); n++ {
		if _, err := os.Stat(filepath.Join(out, "bench.json")); err == nil {
			next = []string{"bench", "run", "--resume", "--out", out, "--python", pyenvtest.Python(t)}
		}
		if at = rand.N(took); n > *kills {
			at = time.Minute
		}
	}
	result, err := runner.Read(out)
	if err != nil || len(result.Missing()) > 0 || len(result.Records) != 3 {
		t.Fatalf("%v, %+v", err, result)
	}
	for _, r := range result.Records {
		if !r.Right() {
			t.Errorf("%+v", r)
		}
	}
	if n := results(t, out); n != 3 {
		t.Errorf("%d results of 3 tasks", n)
	}
}

// results counts the results of a run, without its stopped attempts.
func results(t *testing.T, out string) int {
	lines := content(t, filepath.Join(out, "results.jsonl"))
	return strings.Count(lines, "\n") - strings.Count(lines, `"stopped":true`)
}
