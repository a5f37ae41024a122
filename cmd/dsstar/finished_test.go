package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// finished is created by the first test that needs it. All other tests get copies.
var finished struct {
	sync.Once
	scene
	folder string
}

// finishedRun returns a run, with its data folder, that tests must not change. It has three rounds,
// one of them dropped with a failed attempt, and its answer is 42.
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
		if err := os.CopyFS(data, os.DirFS(dataFolder(t, numbers))); err != nil {
			t.Error(err)
			return
		}
		finished.scene = *runNB(t, []string{live}, filepath.Join(dir, "run"), "--data", data,
			"--base-url", dropping().serve(t).URL, "--python", pyenvtest.Python(t))
		finished.data = data
	})
	if finished.code != exitVerified || finished.stdout != "42\n" {
		t.Fatalf("the run that tests share: exit code %d, stdout %q\n%s", finished.code,
			finished.stdout, finished.stderr)
	}
	s := finished.scene
	s.t = t
	return &s
}

// copyTo copies the run. Outputs that name the run's folder name the copy's folder in the copy.
func (s *scene) copyTo(out string) error {
	path := filepath.Join(out, "notebook.ipynb")
	err := os.CopyFS(out, os.DirFS(s.out))
	text, readErr := os.ReadFile(path)
	return errors.Join(err, readErr,
		os.WriteFile(path, bytes.ReplaceAll(text, []byte(s.out), []byte(out)), 0o644), seal(path))
}

// seal makes a notebook one that the user's dsstar has written.
func seal(path string) error {
	nb, err := notebook.Open(path)
	if err != nil {
		return err
	}
	testKey.Seal(nb)
	return nb.Save(path)
}

// dropping returns a model whose second round has a failed attempt and is dropped.
func dropping() roles {
	m := counting()
	load := strings.NewReplacer("numbers = ", "import random\nnumbers = ",
		"total = sum(numbers)\nprint(total)",
		"print(len(numbers), 'rows')\nopen('seen.txt', 'w').write('x')").
		Replace(m["cell"][0].Text)
	return m.with(roles{
		"step": say("Load the numbers.", "Take the wrong ones.", "Add them up."),
		"cell": say(load, cell("numbers['m']"), cell(`import os
total = sum(numbers)
print(total, os.path.exists('note.txt'), random.random() == random.Random(0).random(), os.path.basename(os.getcwd()),
    set('abcdefgh'))`)),
		"debugger": say(cell("numbers[0] = 100\nopen('note.txt', 'w').write('x')\n" +
			"random.random()\nprint(max(numbers))")),
		"verdict": say(unfinished, wrong(2), sufficient),
	})
}
