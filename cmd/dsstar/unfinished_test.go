package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/record"
	"dsstar/notebook"
)

// saveAnswer makes a run folder with an answer and a file.
func saveAnswer(t *testing.T, f record.Folder, answer string) {
	t.Helper()
	tr := record.New(record.Task{Question: "What is the total? " + answer, Data: "/d"}, record.Question{
		Final: &record.Final{Derived: record.Derived{Answer: answer,
			Attempts: []record.Attempt{{Code: "print(" + answer + ")"}}}}})
	tr.Ended = true
	tr.Final.Attempts[0].Execution.Status = notebook.OK
	err := os.MkdirAll(f.Files(), 0o755)
	if err == nil {
		_, err = newSaver(f, testKey).save(tr)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(f.Files(), "a.txt"), []byte(answer), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTakeOver: an answer that a killed run has found takes the place of the one before, at whatever step
// of that it was killed. What a person has changed meanwhile stays.
func TestTakeOver(t *testing.T) {
	write := func(from, to string) func() error {
		return func() error {
			data, err := os.ReadFile(from)
			return errors.Join(err, os.WriteFile(to, data, 0o644))
		}
	}
	for done := range 5 {
		for name, change := range map[string]func(f record.Folder){
			"":              func(record.Folder) {},
			"solution-2.py": func(f record.Folder) { _ = os.WriteFile(f.Script(), []byte("# mine\n"), 0o644) },
			"notebook-2.ipynb": func(f record.Folder) {
				text := strings.Replace(content(t, f.Notebook()), "## Proof and cost", "## My proof", 1)
				_ = os.WriteFile(f.Notebook(), []byte(text), 0o644)
			},
		} {
			base := t.TempDir()
			f := record.Folder(filepath.Join(base, "run"))
			next := f.Unfinished()
			saveAnswer(t, f, "1")
			saveAnswer(t, next, "2")
			notebook, script := content(t, next.Notebook()), content(t, next.Script())
			if err := write(f.Notebook(), f.From())(); err != nil {
				t.Fatal(err)
			}
			change(f)
			for i, step := range []func() error{write(next.Script(), f.Script()), write(next.Notebook(), f.Notebook()),
				func() error { return os.RemoveAll(f.Files()) },
				func() error { return os.Rename(next.Files(), f.Files()) },
			} {
				if i >= done || name != "" && i < 2 {
					continue
				}
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			all := runsIn(base, testKey)
			if len(all) != 1 || all[0].Answer != "2" || all[0].GoesOn != "" {
				t.Fatalf("%s, killed after step %d: %+v", name, done, all)
			}
			at := f.Script()
			if strings.HasSuffix(name, ".py") {
				at = filepath.Join(string(f), name)
			}
			if got := content(t, all[0].Notebook); got != notebook || content(t, at) != script ||
				content(t, filepath.Join(f.Files(), "a.txt")) != "2" {
				t.Errorf("%s, killed after step %d: %s", name, done, got)
			}
			if name != "" && !exists(filepath.Join(string(f), name)) || exists(string(next)) {
				t.Errorf("%s, killed after step %d: is there: %v", name, done, exists(string(next)))
			}
		}
	}
}
