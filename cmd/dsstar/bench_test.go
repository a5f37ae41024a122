package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/llm/llmtest"
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

// results counts the results of a run, without its stopped attempts.
func results(t *testing.T, out string) int {
	lines := content(t, filepath.Join(out, "results.jsonl"))
	return strings.Count(lines, "\n") - strings.Count(lines, `"stopped":true`)
}
