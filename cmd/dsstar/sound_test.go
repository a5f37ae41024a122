package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
	"dsstar/configs"
	"dsstar/notebook"
)

// TestSoundOf: what calls a function that fell is left out, too.
func TestSoundOf(t *testing.T) {
	tools := []lesson.Tool{{Name: "rate", Code: "return 2"}, {Name: "fee", Code: "return rate()"}, {Name: "other", Code: "return 1"}}
	sound, others := soundOf(tools, map[string]bool{"rate": true})
	if len(sound) != 1 || sound[0].Name != "other" || len(others) != 1 || others[0] != "the function fee is left out: it needs rate" {
		t.Errorf("%v, %q", sound, others)
	}
}

// TestTestTogether: the cases of all functions run in one process, and alone only if one does not hold.
func TestTestTogether(t *testing.T) {
	for fault, want := range map[string]int{"nothing": 1, "assert b()": 4} {
		a, _, _ := testApp(t)
		runs := 0
		run := func(_ context.Context, dir string, _ time.Duration) (x notebook.Execution, err error) {
			runs++
			script := content(t, record.Folder(dir).Script())
			if strings.Contains(script, fault) {
				return notebook.Execution{Status: notebook.Raised, Reason: "exit code 1"}, nil
			}
			last := script[strings.LastIndex(script, "print(")+len(`print("`) : len(script)-len("\")\n")]
			return notebook.Execution{Status: notebook.OK, Outputs: []notebook.Output{{Type: notebook.Stream,
				Name: "stdout", Text: last}}}, nil
		}
		m := &memory.Memory{}
		for _, name := range []string{"a", "b", "c"} {
			m.Tools = append(m.Tools, lesson.Tool{Name: name, Code: "def " + name + "():\n    pass",
				Test: "assert " + name + "() == 1\n"})
		}
		j := job{settings: &configs.Settings{}, memory: m, progress: a.newProgress(true)}
		sound := a.checker(run, record.Task{}).offered(t.Context(), j, m.Tools)
		if whole := len(sound) == 3; whole != (fault == "nothing") || runs != want {
			t.Errorf("%s: %d hold, in %d runs", fault, len(sound), runs)
		}
	}
}

// TestFolded: the record of a question about many files has one digest, which any change changes.
func TestFolded(t *testing.T) {
	sums := map[string]string{}
	for i := range mostDigests {
		sums[fmt.Sprint(i)] = "sum"
	}
	if len(folded(sums)) != mostDigests {
		t.Error("few digests are folded")
	}
	sums["more"] = "sum"
	first := folded(sums)
	sums["more"] = "another"
	if second := folded(sums); len(first) != 1 || len(second) != 1 || fmt.Sprint(first) == fmt.Sprint(second) {
		t.Errorf("%v, %v", first, second)
	}
}

// TestIdle: where nothing confines the cases, only what has held before is offered.
func TestIdle(t *testing.T) {
	a, _, _ := testApp(t)
	tool := lesson.Tool{Name: "total", Code: "def total():\n    return 1", Test: "assert total() == 1\n"}
	m := &memory.Memory{Lesson: lesson.Lesson{Tools: []lesson.Tool{tool}}}
	c := a.checker(func(context.Context, string, time.Duration) (notebook.Execution, error) {
		t.Error("its cases ran")
		return notebook.Execution{}, nil
	}, record.Task{Data: t.TempDir()})
	c.idle = true
	if _, err := c.toolFault(t.Context(), m, tool); !errors.Is(err, errIdle) {
		t.Error(err)
	}
	if err := c.hold(m, m.Tools); err != nil {
		t.Fatal(err)
	}
	if reason, err := c.toolFault(t.Context(), m, tool); reason != "" || err != nil {
		t.Errorf("what has held: %q, %v", reason, err)
	}
}
