package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"dsstar/agent/memory"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// checked is a memory with the function total, which eight questions use, and a checker whose scripts
// print the answer of the question that they are of, or what wrong says. ran are those questions.
func checked(t *testing.T, wrong map[string]string) (c *checker, m *memory.Memory, ran *[]string) {
	t.Helper()
	a, _, _ := testApp(t)
	a.CacheDir = t.TempDir()
	dir := t.TempDir()
	m, err := memory.Read(t.Context(), filepath.Join(dir, memory.Name))
	if err != nil {
		t.Fatal(err)
	}
	m.AddTool(memory.Tool{Name: "total", Code: "def total():\n    return 'is'", Test: "assert total() == 'is'\n"}, nil)
	today, question := map[string]string{"a.csv": "1"}, regexp.MustCompile(`question = "(\d)"`)
	for i := range 8 {
		name := fmt.Sprint(i)
		path := filepath.Join(dir, name+".ipynb")
		q := memory.Question{Question: name, Answer: "answer " + name, Verified: true, Notebook: path, Tools: []string{"total"},
			Asked: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), Data: today}
		switch i {
		case 7:
			q.Data = map[string]string{"a.csv": "2"} // other data
		case 6: // no notebook
		default:
			saveRun(t, path, name, q.Answer)
		}
		if err := m.AddQuestion(q); err != nil {
			t.Fatal(err)
		}
	}
	ran = new([]string)
	run := func(_ context.Context, dir string, _ time.Duration) (notebook.Execution, error) {
		script, err := os.ReadFile(record.Folder(dir).Script())
		says := lastWord(t, dir)
		if found := question.FindSubmatch(script); found != nil {
			name := string(found[1])
			*ran = append(*ran, name)
			if says = "answer " + name; wrong[name] != "" {
				says = wrong[name]
			}
		}
		return printed(says), err
	}
	c = a.checker(run, record.Task{Data: dir}, nil)
	c.data = func() map[string]string { return today }
	return c, m, ran
}

// saveRun writes the notebook of a verified run whose cell used the function total, as it was then.
func saveRun(t *testing.T, path, question, answer string) {
	t.Helper()
	attempt := func(code, text string) []record.Attempt {
		return []record.Attempt{{Code: code, Execution: printed(text)}}
	}
	nb := record.Draw(&record.Trajectory{Task: record.Task{Question: question, Data: "data"}, Ended: true,
		Rounds: []record.Round{{Step: "Add.", Attempts: attempt("n = total()", "")}}, Described: true,
		Final:    &record.Final{Answer: answer, Attempts: attempt("print(n)", answer)},
		Recalled: &record.Recalled{Tools: []memory.Tool{{Name: "total", Code: "def total():\n    return 'was'"}}}})
	if err := nb.Save(path); err != nil {
		t.Fatal(err)
	}
}

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

// TestEditedFunction: before a function that was edited is offered, the newest questions that use it run
// with it, as many as are allowed; then it is known to hold.
func TestEditedFunction(t *testing.T) {
	c, m, ran := checked(t, nil)
	tool := m.Tools[0]
	for _, want := range []string{"5 4 3 2 1", ""} { // of 7 the data have changed, 6 has no notebook
		*ran = nil
		reason, err := c.toolFault(t.Context(), m, tool)
		if got := strings.Join(*ran, " "); reason != "" || err != nil || got != want {
			t.Errorf("%q, %v, ran %q, want %q", reason, err, got, want)
		}
	}
	c.thorough, *ran = true, nil
	if _, err := c.toolFault(t.Context(), m, tool); err != nil || strings.Join(*ran, " ") != "5 4 3 2 1 0" {
		t.Errorf("%v, ran %q", err, *ran)
	}
	c, m, _ = checked(t, map[string]string{"3": "answer 4"})
	for range 2 { // it is not remembered as one that holds
		reason, err := c.toolFault(t.Context(), m, tool)
		if err != nil || !strings.HasPrefix(reason, `the question "3" no longer gives answer 3 by it: the script printed`) {
			t.Errorf("%q, %v", reason, err)
		}
	}
}

// TestReplaced: a function is not replaced if a question that used it cannot be run, or gives another
// answer; the number of questions has no limit.
func TestReplaced(t *testing.T) {
	r := memory.Replacement{Old: []string{"total"}, New: []memory.Tool{{Name: "sum_of", Code: "def sum_of():\n    return 'is'",
		Test: "assert sum_of() == 'is'\n"}}}
	for name, c := range map[string]struct {
		wrong map[string]string
		lost  bool // the notebook of question 6
		want  string
	}{
		"all give their answers": {want: ""},
		"one does not":           {wrong: map[string]string{"0": "7"}, want: `the question "0" no longer gives answer 0 by it`},
		"one is not there":       {lost: true, want: `the question "6" cannot be run again: its notebook is not there`},
	} {
		check, was, _ := checked(t, c.wrong)
		if !c.lost {
			saveRun(t, was.NotebookOf(was.Questions[6]), "6", "answer 6")
		}
		if err := was.Save(); err != nil {
			t.Fatal(err)
		}
		now, err := memory.Read(t.Context(), was.Dir)
		if err != nil {
			t.Fatal(err)
		}
		now.Replace(r)
		reason, err := check.replacementFault(t.Context(), was, now, r)
		if err != nil || !strings.HasPrefix(reason, c.want) || c.want == "" && reason != "" {
			t.Errorf("%s: %q, %v", name, reason, err)
		}
	}
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
		c := a.checker(run, record.Task{}, nil)
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
	}{
		{"a b c d e f g h", "", 1}, {"a b c d e f g h", "", 0}, {"a b i", "", 1},
		{"j k bad l", "bad", 5 /* all, both halves, and two alone */}, {"j k bad l", "bad", 1},
		{"m leaves", "leaves", 3},
	} {
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
	c, m, ran := checked(t, nil)
	tool := m.Tools[0]
	c.idle = true
	if _, err := c.toolFault(t.Context(), m, tool); !errors.Is(err, errIdle) || len(*ran) > 0 {
		t.Errorf("%v, ran %q", err, *ran)
	}
	if err := c.hold(m, m.Tools); err != nil {
		t.Fatal(err)
	}
	if reason, err := c.toolFault(t.Context(), m, tool); reason != "" || err != nil {
		t.Errorf("what has held: %q, %v", reason, err)
	}
}
