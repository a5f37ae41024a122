package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"dsstar/agent/llm/llmtest"
	"dsstar/agent/record"
	"dsstar/kernel/pyenv/pyenvtest"
)

// during runs nb with a model that is content with the third step
// only, and does something to the run folder at each verdict.
func during(t *testing.T, do func(out string, verdict int), args ...string) *scene {
	t.Helper()
	m := counting()
	out := filepath.Join(t.TempDir(), "run")
	var verdicts atomic.Int32
	model := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		switch role := roleOf(t, r); role {
		case "verifier":
			n := int(verdicts.Add(1))
			do(out, n)
			if n < 3 {
				return say("Verdict: insufficient\nReason: the total must be looked at once more.")[0]
			}
			return say(sufficient)[0]
		case "router":
			return say("Route: add a step\nReason: one more.")[0]
		case "planner":
			return say([]string{"Load the numbers.", "Look at them.", "Add them up."}[verdicts.Load()])[0]
		default:
			return m[role][0]
		}
	})
	s := &scene{t: t, data: dataFolder(t, numbers), out: out}
	a, stdout, stderr := testApp(t)
	args = append([]string{"nb", "--data", s.data, "--out", out, "--base-url", model.URL, "--model", "scripted", "--python", pyenvtest.Python(t)}, args...)
	s.code = a.run(t.Context(), append(args, "What is the total?"))
	s.stdout, s.stderr = stdout.String(), stderr.String()
	return s
}

func editFile(t *testing.T, path, old, new string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	changed := bytes.Replace(data, []byte(old), []byte(new), 1)
	if bytes.Equal(changed, data) {
		t.Errorf("%s is not in %s", old, path)
	}
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		t.Error(err)
	}
	return changed
}

// TestEditedDuringRun: a notebook and a script that somebody edits while the run
// goes on stay as they are, the run continues in siblings, and says so once.
func TestEditedDuringRun(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	var notebook, second, script []byte
	s := during(t, func(out string, verdict int) {
		switch verdict {
		case 1:
			notebook = editFile(t, filepath.Join(out, "notebook.ipynb"), "Load the numbers.", "Load the numbers. (Is this all?)")
			script = editFile(t, filepath.Join(out, "solution.py"), "print(total)", "print(total + 1)")
		case 2:
			second = editFile(t, filepath.Join(out, "notebook-2.ipynb"), "Look at them.", "Look at them again.")
		}
	}, "--json")
	s.expect(exitVerified, "notebook.ipynb was edited during the run and is left alone", "continues in notebook-2.ipynb", "continues in notebook-3.ipynb",
		"goes on in solution-2.py", "notebook "+filepath.Join(s.out, "notebook-3.ipynb"))
	for name, want := range map[string][]byte{"notebook.ipynb": notebook, "notebook-2.ipynb": second, "solution.py": script} {
		if got, err := os.ReadFile(filepath.Join(s.out, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s was overwritten: %v", name, err)
		}
	}
	r := decodeResult(t, s.stdout)
	if r.Notebook != filepath.Join(s.out, "notebook-3.ipynb") || r.Script != filepath.Join(s.out, "solution-2.py") || len(r.Warnings) != 3 {
		t.Errorf("%s %s %q", r.Notebook, r.Script, r.Warnings)
	}
	tr := readNotebook(t, r.Notebook)
	if !tr.Verified() || len(tr.Rounds) != 3 || !slices.Equal(tr.Warnings, r.Warnings) {
		t.Errorf("%d rounds, warnings %q", len(tr.Rounds), tr.Warnings)
	}
	if n := strings.Count(s.stderr, "warning  "); n != 3 {
		t.Errorf("%d warnings:\n%s", n, s.stderr)
	}
	validate(t, r.Notebook)
}

// TestSaverGoesOn: a run that goes on from its record knows its own files from
// those that somebody has edited, siblings included.
func TestSaverGoesOn(t *testing.T) {
	f := record.Folder(t.TempDir())
	tr := &record.Trajectory{Task: record.Task{Question: "q", Data: "/d"}}
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
		r, err := findRun(string(f))
		if err == nil {
			err = r.read()
		}
		if err != nil || filepath.Base(r.path) != name {
			t.Fatalf("%v: it goes on from %s, want %s", err, r.path, name)
		}
		tr = r.t
		return continued(r)
	}
	mine := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("# mine\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := newSaver(f)
	save(s)
	save(goOn("notebook.ipynb"))
	mine(f.Script())
	editFile(t, f.Notebook(), `"source": [`, `"source": [
    "Mine. ",`)
	save(s, "notebook-2.ipynb", "solution-2.py")
	s = goOn("notebook-2.ipynb")
	save(s)
	editFile(t, filepath.Join(string(f), "notebook-2.ipynb"), `"source": [`, `"source": [
    "Mine too. ",`)
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
	if want := "notebook-2.ipynb notebook-3.ipynb notebook.ipynb solution-2.py solution-3.py solution.py"; err != nil || strings.Join(names, " ") != want {
		t.Errorf("the folder has %q, %v", names, err)
	}
}
