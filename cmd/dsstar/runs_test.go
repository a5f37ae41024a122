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
	"dsstar/agent/journal"
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

// noted adds a note to the first cell of a notebook.
func noted(t *testing.T, path string) {
	t.Helper()
	text := strings.Replace(content(path), `"source": [`, `"source": [
    "Mine. ",`, 1)
	noError(t, os.WriteFile(path, []byte(text), 0o644))
}

// TestSaverGoesOn: a resumed run tells its own files from those that somebody has edited, including
// siblings.
func TestSaverGoesOn(t *testing.T) {
	f := record.Folder(t.TempDir())
	tr := record.New(record.Task{Question: "q", Data: "/d"}, record.Question{})
	save := func(s *saver, moved ...string) {
		t.Helper()
		tr.Failure += "x" // something to save
		warnings, err := s.save(tr)
		if err != nil || len(warnings) != len(moved) {
			t.Fatalf("%q, %v", warnings, err)
		}
		for i, name := range moved {
			if !strings.Contains(warnings[i], "the run continues in "+name) {
				t.Errorf("%q, want one about %s", warnings[i], name)
			}
		}
	}
	goOn := func(name string) *saver {
		t.Helper()
		r, err := findRun(string(f), testKey)
		if err != nil || filepath.Base(r.path) != name {
			t.Fatalf("%v: it goes on from %s, want %s", err, r.path, name)
		}
		tr = r.t
		return continued(r, testKey)
	}
	mine := func(path string) {
		t.Helper()
		noError(t, os.WriteFile(path, []byte("# mine\n"), 0o644))
	}
	s := newSaver(f, testKey)
	save(s)
	save(goOn("notebook.ipynb"))
	mine(f.Script())
	noted(t, f.Notebook())
	save(s, "notebook-2.ipynb", "solution-2.py")
	s = goOn("notebook-2.ipynb")
	save(s)
	noted(t, filepath.Join(string(f), "notebook-2.ipynb"))
	save(s, "notebook-3.ipynb")
	save(goOn("notebook-3.ipynb"))
	mine(filepath.Join(string(f), "solution-2.py"))
	s = goOn("notebook-3.ipynb")
	save(s, "solution-3.py")
	for _, path := range []string{f.Script(), filepath.Join(string(f), "solution-2.py")} {
		if data, err := os.ReadFile(path); err != nil || string(data) != "# mine\n" {
			t.Errorf("%s: %q, %v", path, data, err)
		}
	}
	var names []string
	entries, err := os.ReadDir(string(f))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := "notebook-2.ipynb notebook-3.ipynb notebook.ipynb solution-2.py solution-3.py solution.py"; err != nil ||
		strings.Join(names, " ") != want {
		t.Errorf("the folder has %q, %v", names, err)
	}
}

// TestAnswerFirst: the answer stands first, with what it is worth, whatever the model's sentences
// say; and that the data hold none is said with it, in the list of runs, too.
func TestAnswerFirst(t *testing.T) {
	for inconclusive, label := range map[bool]string{false: "not verified", true: "not verified, the data hold no answer"} {
		tr := record.New(record.Task{}, record.Question{
			Final:  &record.Final{Derived: record.Derived{Answer: "USA"}, Summary: "The USA has fewer."},
			Rounds: []record.Round{{Verdict: &record.Verdict{Sufficient: true, Inconclusive: inconclusive}}}})
		tr.Ended = true
		want := "Answer, " + label + ": USA\n\n" + tr.SummaryLabel() + ":\n" + tr.Summary()
		if got := inWords(tr, nil); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		dir := t.TempDir()
		folder := record.Folder(filepath.Join(dir, "run"))
		noError(t, os.Mkdir(string(folder), 0o755))
		if _, err := newSaver(folder, nil).save(tr); err != nil {
			t.Fatal(err)
		}
		if all := runsIn(dir, nil); len(all) != 1 || all[0].Label != label+record.Claimed {
			t.Errorf("%+v, want %s", all, label)
		}
	}
}

// TestChooseable: options are named by their number, those of an earlier question after its number.
func TestChooseable(t *testing.T) {
	open := []record.Reading{{Point: "Which?", Options: []record.Option{{Text: "a"},
		{Text: "b", Derived: record.Derived{Answer: "2"}}}}}
	tr := record.New(record.Task{}, record.Question{Readings: append(open, open...)})
	tr.Questions = []*record.Question{{Readings: open}, {}, tr.Question}
	var names []string
	for _, o := range chooseable(tr) {
		names = append(names, o.name)
	}
	if got := strings.Join(names, " "); got != "1 2 3 4 1.1 1.2" {
		t.Error(got)
	}
	if err := choose(tr, "2.1"); err == nil {
		t.Error("an option that is not there was chosen")
	}
	if err := choose(tr, "1.2"); err != nil || len(tr.Later) != 1 ||
		len(journal.All[record.Decision](tr.Journal, record.Decided)) != 1 {
		t.Errorf("%v, %+v", err, tr.Readings)
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
			script := content(record.Folder(dir).Script())
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
