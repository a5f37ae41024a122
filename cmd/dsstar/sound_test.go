package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"dsstar/agent/memory"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// lastWord returns what the script in a folder prints last.
func lastWord(t *testing.T, dir string) string {
	t.Helper()
	found := regexp.MustCompile(`print\("(\w+)"\)\n$`).FindStringSubmatch(content(t, record.Folder(dir).Script()))
	if found == nil {
		return ""
	}
	return found[1]
}

func printed(text string) notebook.Execution {
	return notebook.Execution{Status: notebook.OK, Count: 1,
		Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: text}}}
}

// TestSoundOf: what calls a function that fell is left out, too.
func TestSoundOf(t *testing.T) {
	tools := []memory.Tool{{Name: "rate", Code: "return 2"}, {Name: "fee", Code: "return rate()"}, {Name: "other", Code: "return 1"}}
	sound, others := soundOf(tools, map[string]bool{"rate": true})
	if len(sound) != 1 || sound[0].Name != "other" || len(others) != 1 || others[0] != "the function fee is left out: it needs rate" {
		t.Errorf("%v, %q", sound, others)
	}
}

// TestTestTogether: the cases of all functions run in one process, once, and each function that falls
// is found.
func TestTestTogether(t *testing.T) {
	a, _, _ := testApp(t)
	runs := 0
	run := func(_ context.Context, dir string, _ time.Duration) (notebook.Execution, error) {
		runs++
		if strings.Contains(content(t, record.Folder(dir).Script()), "assert bad()") {
			return notebook.Execution{Status: notebook.Raised, Reason: "exit code 1"}, nil
		}
		if strings.Contains(content(t, record.Folder(dir).Script()), "assert leaves()") {
			return notebook.Execution{Status: notebook.OK}, nil // as after sys.exit(0)
		}
		return printed(lastWord(t, dir)), nil
	}
	test := func(names ...string) (fell string) {
		m := &memory.Memory{}
		for _, name := range names {
			m.Tools = append(m.Tools, memory.Tool{Name: name, Code: "def " + name + "():\n    pass",
				Test: "assert " + name + "() == 1\n"})
		}
		runs = 0
		c := a.checker(run, record.Task{})
		if err := c.testTogether(t.Context(), m, m.Tools); err != nil {
			t.Fatal(err)
		}
		for _, tool := range m.Tools {
			reason, err := c.toolFault(t.Context(), m, tool)
			if err != nil {
				t.Fatal(err)
			}
			if reason != "" {
				fell += tool.Name
			}
		}
		return fell
	}
	for _, c := range []struct {
		functions, fell string
		runs            int
	}{{"a b c d e f g h", "", 1}, {"a b c d e f g h", "", 0}, {"a b i", "", 1},
		{"j k bad l", "bad", 5 /* all, both halves, and two alone */}, {"j k bad l", "bad", 1},
		{"m leaves", "leaves", 3}} {
		if fell := test(strings.Fields(c.functions)...); fell != c.fell || runs != c.runs {
			t.Errorf("%s: %q fell, in %d runs", c.functions, fell, runs)
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
	tool := memory.Tool{Name: "total", Code: "def total():\n    return 1", Test: "assert total() == 1\n"}
	m := &memory.Memory{Tools: []memory.Tool{tool}}
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
