package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/record"
)

// TestTraceDerivations: beside its notebook, a trace shows how often readings and second derivations
// changed anything; without it nothing is said.
func TestTraceDerivations(t *testing.T) {
	const exchange = `{"n": 1, "role": "solver", "subject": "round 1", "model": "m", ` +
		`"messages": [{"role": "user", "text": "a"}], "reply": "b", "usage": {"input_tokens": 7}}` + "\n"
	of := func(tr *record.Trajectory) string {
		folder := record.Folder(t.TempDir())
		files := map[string][]byte{folder.Trace(): []byte(exchange)}
		if tr != nil {
			nb := record.Draw(tr)
			testKey.Seal(nb)
			data, err := nb.Encode()
			if err != nil {
				t.Fatal(err)
			}
			files[folder.Notebook()] = data
		}
		for path, data := range files {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return string(folder)
	}
	tries := []record.Attempt{{Code: "answer"}}
	run := of(&record.Trajectory{
		Task: record.Task{Question: "How many?"},
		Readings: []record.Reading{{Point: "Which year?",
			Options: []record.Option{{Text: "2019"}, {Text: "2020", Attempts: tries, Answer: "2"}}}},
		Second: &record.Second{Attempts: tries, Answer: "2", Ruling: record.RuledReading},
	})
	all := spending{traceSpent: newTraceSpent("")}
	for _, path := range []string{run, filepath.Join(run, "trace.jsonl"), of(nil),
		of(&record.Trajectory{Method: record.Method{Script: true}})} {
		one, err := traceSpending(path, testKey)
		if err != nil {
			t.Fatal(err)
		}
		all.join(one)
	}
	var b strings.Builder
	if err := all.print(&b); err != nil {
		t.Fatal(err)
	}
	for want, times := range map[string]int{
		"readings            1 named, 1 open, 1 computed, 1 changed the answer\n": 2,
		"second derivations  1 run, 0 agreed; rulings: reading 1\n":               2,
		"readings            2 named, 2 open, 2 computed, 2 changed the answer\n": 1,
		"second derivations  2 run, 0 agreed; rulings: reading 2\n":               1,
	} {
		if strings.Count(b.String(), want) != times {
			t.Errorf("%q is not there %d times:\n%s", want, times, &b)
		}
	}
}
