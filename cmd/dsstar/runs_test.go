package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/disk"
)

// TestRunsLong: a list of runs takes no memory for outputs, and leaves out what is too long.
func TestRunsLong(t *testing.T) {
	base := t.TempDir()
	path := func(run string) string {
		folder := filepath.Join(base, run)
		noError(t, os.MkdirAll(folder, 0o700))
		return record.Folder(folder).Notebook()
	}
	long := strings.Repeat("x", 20<<20)
	saveRun(t, path("good"), "How many?", "42")
	text := content(path("good"))
	const outputs = `"outputs": [`
	i := strings.Index(text, outputs) + len(outputs)
	output := `{"output_type": "stream", "name": "stdout", "text": "` + long + `"}`
	if !strings.HasPrefix(strings.TrimSpace(text[i:]), "]") {
		output += ","
	}
	for run, text := range map[string]string{"outputs": text[:i] + "\n    " + output + "\n   " + text[i:],
		"metadata": strings.Replace(text, `"How many?"`, `"`+long+`"`, 1), "file": text} {
		noError(t, os.WriteFile(path(run), []byte(text), 0o600))
	}
	noError(t, os.Truncate(path("file"), disk.MaxDocument+1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all := runsIn(base, testKey)
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 120 {
		t.Errorf("%d MB", used)
	}
	if len(all) != 2 || all[0].Answer != "42" || all[1].Answer != "42" {
		t.Errorf("%d runs: %.300v", len(all), all)
	}
}

// TestOptionsWithFiles: where the words of two answers are the same, their files tell them apart.
func TestOptionsWithFiles(t *testing.T) {
	tr := record.New(record.Task{}, record.Question{Final: &record.Final{Derived: record.Derived{Answer: "out.csv"}},
		Readings: []record.Reading{{Point: "Which?",
			Options: []record.Option{{Text: "a"}, {Text: "b", Derived: record.Derived{Answer: "out.csv",
				Differs: "out.csv: 3 rows / 4", Files: []compare.File{{Name: "out.csv"}}}}}}}})
	if said, all := inWords(tr, nil), readingsOf(tr); !strings.Contains(said, "3 rows / 4") || all[1].Differs != "out.csv: 3 rows / 4" {
		t.Errorf("%s\n%+v", said, all)
	}
}

// TestUnconfined: where nothing confines functions, which may come with somebody else's data, their cases
// do not run, and none is offered.
func TestUnconfined(t *testing.T) {
	a, _, _ := testApp(t)
	m := &memory.Memory{Lesson: lesson.Lesson{Tools: []lesson.Tool{{Name: "total",
		Code: "def total():\n    return 1", Test: "assert total() == 1\n"}}}}
	config := agent.Config{RunScript: func(context.Context, string, time.Duration) (notebook.Execution, error) {
		t.Error("its cases ran")
		return notebook.Execution{}, nil
	}}
	j := job{memory: m, progress: a.newProgress(true), task: record.Task{Question: "What is the total?"}}
	if r := a.recalled(t.Context(), j, config); r == nil || r.Tools != nil {
		t.Errorf("%+v", r)
	}
}
