package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// finished is made by the first test that needs it. All others have copies.
var finished struct {
	sync.Once
	scene
	folder string
}

// finishedRun is a run that nobody may change, with its data folder: of three rounds, of which one
// was dropped and had a failed attempt. It answers 42.
func finishedRun(t *testing.T) *scene {
	t.Helper()
	finished.Do(func() {
		dir, err := os.MkdirTemp("", "dsstar-finished-")
		if err != nil {
			t.Error(err)
			return
		}
		finished.folder = dir
		data := filepath.Join(dir, "data")
		if err := errors.Join(os.Mkdir(data, 0o755), os.WriteFile(filepath.Join(data, "numbers.csv"), []byte(numbers["numbers.csv"]), 0o644)); err != nil {
			t.Error(err)
			return
		}
		finished.scene = *runNB(t, data, filepath.Join(dir, "run"), dropping().serve(t).URL)
	})
	if finished.code != exitVerified || finished.stdout != "42\n" {
		t.Fatalf("the run that tests share: exit code %d, stdout %q\n%s", finished.code, finished.stdout, finished.stderr)
	}
	s := finished.scene
	s.t = t
	return &s
}

// copied is a copy of the finished run.
func copied(t *testing.T) *scene {
	t.Helper()
	s := finishedRun(t)
	out := filepath.Join(t.TempDir(), "run")
	if err := s.copyTo(out); err != nil {
		t.Fatal(err)
	}
	s.out = out
	return s
}

// copyTo copies the run. Its outputs name its folder, and in the copy that of the copy.
func (s *scene) copyTo(out string) error {
	path := filepath.Join(out, "notebook.ipynb")
	err := os.CopyFS(out, os.DirFS(s.out))
	text, readErr := os.ReadFile(path)
	return errors.Join(err, readErr, os.WriteFile(path, bytes.ReplaceAll(text, []byte(s.out), []byte(out)), 0o644))
}

// dropping is a model whose second round has a failed attempt and is dropped.
func dropping() roles {
	return counting().with(roles{
		"planner": say("Load the numbers.", "Take the wrong ones.", "Add them up."),
		"coder": say(
			cell("import random\nnumbers = [int(line) for line in open('data/numbers.csv').read().split()[1:]]\nprint(len(numbers), 'rows')\nopen('seen.txt', 'w').write('x')"),
			cell("numbers['m']"),
			cell("import os\ntotal = sum(numbers)\nprint(total, os.path.exists('note.txt'), random.random() == random.Random(0).random(), os.getcwd(), set('abcdefgh'))")),
		"debugger": say(cell("numbers[0] = 100\nopen('note.txt', 'w').write('x')\nrandom.random()\nprint(max(numbers))")),
		"verifier": say("Verdict: insufficient\nMissing: the total", "Verdict: insufficient\nMissing: the right ones", sufficient),
		"router":   say("Add Step", "Step 2"),
	})
}
