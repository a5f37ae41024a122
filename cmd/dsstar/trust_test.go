package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
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
		dir := must(os.MkdirTemp("", "dsstar-finished-"))
		finished.folder = dir
		data := filepath.Join(dir, "data")
		noError(t, os.CopyFS(data, os.DirFS(dataFolder(t, numbers))))
		finished.scene = *runNB(t, dropping(), []string{live}, data, filepath.Join(dir, "run"))
	})
	if finished.code != exitVerified || finished.stdout != "42\n" {
		t.Fatalf("the run that tests share: exit code %d, stdout %q\n%s", finished.code,
			finished.stdout, finished.stderr)
	}
	return &finished.scene
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

// A says is what a command must print, and its exit code.
type says struct {
	code int
	text string
}

// TestWhoseRun: of a run that this user's dsstar has made, every command says what it is worth; of
// any other, that its notebook says so, or it leaves the run alone. A page that shows another text
// or output than was proved says so, and a run beside other data, or with another file of its answer,
// is told from the run that was proved, wherever it is shown.
func TestWhoseRun(t *testing.T) {
	none := says{exitUsage, "none in dsstar-runs that your dsstar made"}
	theirs := says{exitUsage, "another dsstar made this"}
	noModel := says{exitUsage, "error: no model is configured"}
	noRound := says{exitUsage, "--round: the run has only"}
	made, unsaid := says{0, "finished"}, says{}
	verified, title := says{0, `class="run verified"`}, says{0, "\n# What is"}
	changed := says{exitUsage, "cells were changed since"}
	routes := []struct {
		args                                    string
		made, edited, theirs, page, data, files says
	}{
		{"runs", says{0, " verified  "}, says{0, "goes on  its cells were changed"}, says{0, "verified, says its notebook"},
			unsaid, unsaid, unsaid},
		{"runs --json", says{0, `"goes_on": ""`}, says{0, `"cells": ""`}, says{0, `"claimed": true`},
			unsaid, says{0, `"goes_on": "data"`}, says{0, `"goes_on": "files"`}},
		{"runs --json", says{0, `"standing": "verified"`}, unsaid, unsaid, unsaid, unsaid, unsaid},
		{"export --to md -o - RUN", title, title, says{0, "> **verified, says its notebook**"}, unsaid, unsaid, unsaid},
		{"export -o - RUN", verified, says{0, `class="run"`}, says{0, `class="run"`}, says{0, "was changed after"},
			says{0, "have changed since"}, says{0, "was changed or removed"}},
		{"export --to md -o -", title, title, none, unsaid, unsaid, unsaid},
		{"trace RUN", says{0, "agreed 1, corrected 0\n"}, says{0, "agreed 0, corrected 0\n"},
			says{0, "agreed 1, corrected 0, says its notebook\n"}, unsaid, unsaid, unsaid},
		{"trace", says{0, "agreed 1, corrected 0\n"}, says{0, "agreed 0, corrected 0\n"}, none, unsaid, unsaid, unsaid},
		{"resume", made, noModel, none, unsaid, unsaid, unsaid},
		{"resume RUN", made, noModel, theirs, unsaid, unsaid, unsaid},
		{"resume --allow-read DATA RUN", made, noModel, says{exitUsage, "a model judges and derives its answer again"},
			unsaid, noModel, says{0, "is not as it was proved"}},
		{"resume --allow-read DATA --ask More? RUN", noModel, changed, theirs, unsaid, unsaid, unsaid},
		{"learn --allow-read DATA RUN", noModel, noModel, theirs, unsaid, unsaid, unsaid},
		{"rerun --round 99 RUN", noRound, noRound, theirs, unsaid, unsaid, unsaid},
		{"rerun --round 99 --allow-read DATA RUN", noRound, noRound, noRound, unsaid, unsaid, unsaid},
		{"rerun --round 99 --data DATA RUN", noRound, noRound, noRound, unsaid, unsaid, unsaid},
	}
	for name, v := range variants {
		t.Chdir(t.TempDir())
		run, data := filepath.Join("dsstar-runs", "x"), t.TempDir()
		proved(t, run, data)
		path := filepath.Join(run, "notebook.ipynb")
		nb := must(notebook.Open(path))
		if v.page != nil {
			v.page(nb)
		}
		noError(t, nb.Save(path))
		if v.disk != nil {
			noError(t, v.disk(run, data))
		}
		before := content(path)
		for _, route := range routes {
			want := map[string]says{"made": route.made, "edited": route.edited, "theirs": route.theirs,
				"page": route.page, "data": route.data, "files": route.files}[v.is]
			if want == unsaid {
				continue
			}
			a, stdout, stderr := testApp(t)
			words := strings.NewReplacer("RUN", run, "DATA", data)
			code := a.run(t.Context(), strings.Fields(words.Replace(route.args)))
			said := "\n" + stdout.String() + stderr.String()
			if code != want.code || !strings.Contains(said, want.text) {
				t.Errorf("%s: %s: exit code %d, want %d and %q:\n%.2000s", name, route.args, code,
					want.code, want.text, said)
			}
			if v.is != "made" && (strings.Contains(said, verified.text) ||
				code == 0 && strings.Contains(said, `"verified": true`)) {
				t.Errorf("%s: %s says that it is verified: %.2000s", name, route.args, said)
			}
		}
		if content(path) != before {
			t.Errorf("%s: the notebook has changed", name)
		}
	}
}

// proved puts the finished run into a folder, as one with a file and the data in another folder.
func proved(t *testing.T, run, data string) {
	t.Helper()
	path, given := filepath.Join(run, "notebook.ipynb"), filepath.Join(run, "files")
	noError(t, finishedRun(t).copyTo(run), os.CopyFS(data, os.DirFS(finishedRun(t).data)), os.MkdirAll(given, 0o755),
		os.WriteFile(filepath.Join(given, "out.csv"), []byte("a\n"), 0o644))
	tr := must(page.Read(must(notebook.Open(path))))
	tr.Task.Data = must(filepath.Abs(data))
	tr.Final.Files = []compare.File{{Name: "out.csv", Digest: fmt.Sprintf("%x", sha256.Sum256([]byte("a\n")))}}
	nb := page.Draw(tr)
	testKey.Seal(nb)
	noError(t, nb.Save(path))
}

// A variant is a change of a run's notebook, or on the disk, and what the run then is: "made" by the
// user's dsstar, "edited" since, "theirs"; or in what it is not as it was proved.
type variant struct {
	is   string
	page func(nb *notebook.Notebook)
	disk func(run, data string) error
}

// meta is what dsstar keeps of a run in its notebook.
func meta(nb *notebook.Notebook) map[string]any { return nb.Metadata["dsstar"].(map[string]any) }

// shows makes all texts of a notebook, or all outputs, show another answer.
func shows(texts bool) func(nb *notebook.Notebook) {
	return func(nb *notebook.Notebook) {
		for i, c := range nb.Cells {
			if texts && c.Type == notebook.Markdown {
				nb.Cells[i].Source = strings.ReplaceAll(c.Source, "42", "43")
			}
			for k, o := range c.Outputs {
				if !texts {
					c.Outputs[k].Text = strings.ReplaceAll(o.Text, "42", "43")
				}
			}
		}
	}
}

// maximum has a run take the largest number instead of the sum; adapted, as if dsstar drew that.
func maximum(adapted bool) func(nb *notebook.Notebook) {
	return func(nb *notebook.Notebook) {
		for i, c := range nb.Cells {
			if strings.Contains(c.Source, "total = sum(numbers)") && c.Type == notebook.Code {
				nb.Cells[i].Source = strings.ReplaceAll(c.Source, "sum(", "max(")
				if adapted {
					c.Metadata["dsstar"].(map[string]any)["digest"] = record.Digest(nb.Cells[i].Source)
				}
			}
		}
	}
}

// writes puts a file of the data or of the answer there.
func writes(name, text string) func(run, data string) error {
	return func(run, data string) error {
		return os.WriteFile(strings.NewReplacer("RUN", run, "DATA", data).Replace(name), []byte(text), 0o644)
	}
}

var variants = map[string]variant{
	"as it was made": {is: "made"},
	"written by another program": {"made", nil, func(run, _ string) error {
		var all any
		path := filepath.Join(run, "notebook.ipynb")
		err := json.Unmarshal([]byte(content(path)), &all)
		return cmp.Or(err, os.WriteFile(path, must(json.Marshal(all)), 0o644))
	}},
	"a cell edited":                       {"edited", maximum(false), nil},
	"a cell edited, as if dsstar drew it": {"edited", maximum(true), nil},
	"no seal":                             {"theirs", func(nb *notebook.Notebook) { delete(meta(nb), "seal") }, nil},
	"the seal of another user":            {"theirs", record.Key("another").Seal, nil},
	"the seal of another run": {"theirs", func(nb *notebook.Notebook) {
		other := page.Draw(record.New(record.Task{Question: "q"}, record.Question{}))
		testKey.Seal(other)
		meta(nb)["seal"] = meta(other)["seal"]
	}, nil},
	"another answer": {"theirs", func(nb *notebook.Notebook) {
		meta(nb)["trajectory"].(map[string]any)["questions"].([]any)[0].(map[string]any)["final"].(map[string]any)["answer"] = "99999"
	}, nil},
	"a forged cell": {"page", func(nb *notebook.Notebook) {
		for i, c := range nb.Cells {
			nb.Cells[i].ID = strings.Replace(c.ID, "question", "mine", 1)
		}
	}, nil},
	"another text":   {"page", shows(true), nil},
	"another output": {"page", shows(false), nil},
	"other data":     {"data", nil, writes("DATA/numbers.csv", "n\n1\n2\n38\n")},
	"more data":      {"data", nil, writes("DATA/more.csv", "n\n")},
	"less data": {"data", nil, func(_, data string) error {
		return errors.Join(writes("DATA/x.csv", "n\n")("", data), os.Remove(filepath.Join(data, "numbers.csv")))
	}},
	"another file": {"files", nil, writes("RUN/files/out.csv", "b\n")},
	"no file":      {"files", nil, func(run, _ string) error { return os.RemoveAll(filepath.Join(run, "files")) }},
}
