package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/record"
)

// noted adds a note to the first cell of a notebook.
func noted(t *testing.T, path string) {
	t.Helper()
	text := strings.Replace(content(t, path), `"source": [`, `"source": [
    "Mine. ",`, 1)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
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
		r, err := findRun(string(f))
		if err == nil {
			err = r.read(testKey)
		}
		if err != nil || filepath.Base(r.path) != name {
			t.Fatalf("%v: it goes on from %s, want %s", err, r.path, name)
		}
		tr = r.t
		return continued(r, testKey)
	}
	mine := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("# mine\n"), 0o644); err != nil {
			t.Fatal(err)
		}
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
