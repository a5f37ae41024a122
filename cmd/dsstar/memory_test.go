package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// TestSound: the cases of all functions run in one process, and alone only if one does not hold. What
// calls a function that fell does not hold, either.
func TestSound(t *testing.T) {
	var tools []lesson.Tool
	for name, code := range map[string]string{"rate": "return 2", "fee": "return rate()", "other": "return 1"} {
		tools = append(tools, lesson.Tool{Name: name, Code: "def " + name + "():\n    " + code,
			Test: "assert " + name + "() == 1\n"})
	}
	for fault, want := range map[string]struct {
		runs, sound int
		said        []string
	}{
		"nothing": {1, 3, nil},
		"assert rate()": {4, 1, []string{"the function rate is left out: its cases do not hold: exit code 1",
			"the function fee is left out: it needs rate: "}},
	} {
		a, _, stderr := testApp(t)
		runs, j := 0, job{progress: a.newProgress(false)}
		config := agent.Config{RunScript: func(_ context.Context, dir string, _ time.Duration) (x notebook.Execution, err error) {
			runs++
			script := content(t, record.Folder(dir).Script())
			if strings.Contains(script, fault) {
				return notebook.Execution{Status: notebook.Raised, Reason: "exit code 1"}, nil
			}
			last := script[strings.LastIndex(script, "print(")+len(`print("`) : len(script)-len("\")\n")]
			return notebook.Execution{Status: notebook.OK, Outputs: []notebook.Output{{Type: notebook.Stream,
				Name: "stdout", Text: last}}}, nil
		}}
		sound := j.sound(t.Context(), config, tools)
		j.progress.Stop()
		if runs != want.runs || len(sound) != want.sound {
			t.Errorf("%s: %v in %d runs", fault, sound, runs)
		}
		wantText(t, fault, stderr.String(), want.said...)
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
