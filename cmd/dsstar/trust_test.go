package main

import (
	"crypto/sha256"
	"dsstar/notebook/compare"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A says is what a command must print, and its exit code.
type says struct {
	code int
	text string
}

// TestWhoseRun: of a run that this user's dsstar has made, every command says what it is worth; of
// any other, that its notebook says so, or it leaves the run alone.
func TestWhoseRun(t *testing.T) {
	data := finishedRun(t).data
	none := says{exitUsage, "none in dsstar-runs that your dsstar made"}
	theirs := says{exitUsage, "another dsstar made this"}
	noModel := says{exitUsage, "error: no model is configured"}
	noRound := says{exitUsage, "--round: the run has only"}
	routes := []struct {
		args                 []string
		made, edited, theirs says
	}{
		{[]string{"runs"}, says{0, " verified  "}, says{0, "goes on  its cells were changed"}, says{0, "verified, says its notebook"}},
		{[]string{"runs", "--json"}, says{0, `"standing": "verified"`}, says{0, `"cells": ""`}, says{0, `"claimed": true`}},
		{[]string{"export", "--to", "md", "-o", "-", "x"}, says{0, "\n# What is"}, says{0, "\n# What is"},
			says{0, "> **verified, says its notebook**"}},
		{[]string{"export", "-o", "-", "x"}, says{0, `class="run verified"`}, says{0, `class="run"`}, says{0, `class="run"`}},
		{[]string{"export", "--to", "md", "-o", "-"}, says{0, "# What is"}, says{0, "# What is"}, none},
		{[]string{"trace", "x"}, says{0, "agreed 1, corrected 0\n"}, says{0, "agreed 0, corrected 0\n"}, says{0, "agreed 1, corrected 0, says its notebook\n"}},
		{[]string{"trace"}, says{0, "agreed 1, corrected 0\n"}, says{0, "agreed 0, corrected 0\n"}, none},
		{[]string{"resume"}, says{0, "finished"}, noModel, none},
		{[]string{"resume", "x"}, says{0, "finished"}, noModel, theirs},
		{[]string{"resume", "--allow-read", data, "x"}, says{0, "finished"}, noModel,
			says{exitUsage, "a model judges and derives its answer again"}},
		{[]string{"resume", "--allow-read", data, "--ask", "More?", "x"}, noModel,
			says{exitUsage, "cells were changed since"}, theirs},
		{[]string{"learn", "--allow-read", data, "x"}, noModel, noModel, theirs},
		{[]string{"rerun", "--round", "99", "x"}, noRound, noRound, theirs},
		{[]string{"rerun", "--round", "99", "--allow-read", data, "x"}, noRound, noRound, noRound},
		{[]string{"rerun", "--round", "99", "--data", data, "x"}, noRound, noRound, noRound},
	}
	for name, v := range variants(t) {
		dir := t.TempDir()
		t.Chdir(dir)
		run := filepath.Join("dsstar-runs", "x")
		if err := errors.Join(finishedRun(t).copyTo(run), v.change(filepath.Join(run, "notebook.ipynb"))); err != nil {
			t.Fatal(err)
		}
		before := content(t, filepath.Join(run, "notebook.ipynb"))
		for _, route := range routes {
			a, stdout, stderr := testApp(t)
			args := append([]string{}, route.args...)
			if last := len(args) - 1; args[last] == "x" {
				args[last] = run
			}
			want := map[string]says{"made": route.made, "edited": route.edited, "theirs": route.theirs}[v.is]
			code := a.run(t.Context(), args)
			if said := "\n" + stdout.String() + stderr.String(); code != want.code || !strings.Contains(said, want.text) {
				t.Errorf("%s: %v: exit code %d, want %d and %q:\n%.2000s", name, route.args, code, want.code, want.text, said)
			}
			if code == 0 && v.is == "theirs" && strings.Contains(stdout.String(), `"verified": true`) {
				t.Errorf("%s: %v: %s", name, route.args, stdout)
			}
		}
		if content(t, filepath.Join(run, "notebook.ipynb")) != before {
			t.Errorf("%s: the notebook has changed", name)
		}
	}
}

// TestChangedPage: a page of a run that shows another text or output than was proved says so.
func TestChangedPage(t *testing.T) {
	for what, change := range map[string]func(c *notebook.Cell){
		"nothing": func(*notebook.Cell) {},
		"cell": func(c *notebook.Cell) { // a forged one in its place
			if c.ID == "question" {
				c.ID = "mine"
			}
		},
		"text": func(c *notebook.Cell) { c.Source = strings.ReplaceAll(c.Source, "42", "43") },
		"output": func(c *notebook.Cell) {
			for i, o := range c.Outputs {
				c.Outputs[i].Text = strings.ReplaceAll(o.Text, "42", "43")
			}
		},
	} {
		run := filepath.Join(t.TempDir(), "x")
		path := filepath.Join(run, "notebook.ipynb")
		err := finishedRun(t).copyTo(run)
		nb, openErr := notebook.Open(path)
		if err = errors.Join(err, openErr); err != nil {
			t.Fatal(err)
		}
		for i := range nb.Cells {
			if c := &nb.Cells[i]; (c.Type == notebook.Code) == (what == "output") {
				change(c)
			}
		}
		a, stdout, _ := testApp(t)
		if err := nb.Save(path); err != nil || a.run(t.Context(), []string{"export", "-o", "-", run}) != 0 {
			t.Fatal(err)
		}
		page := stdout.String()
		isSaid, isVerified := strings.Contains(page, "was changed after"), strings.Contains(page, `class="run verified"`)
		if isSaid != (what != "nothing") || isVerified == isSaid {
			t.Errorf("%s is changed: said %v, verified %v", what, isSaid, isVerified)
		}
	}
}

// TestOtherData: a run beside other data, or with another file of its answer, is told from the run that
// was proved, wherever it is shown.
func TestOtherData(t *testing.T) {
	const same, gone = `class="run verified"`, "have changed since"
	for name, c := range map[string]struct {
		change func(data, files string) error
		wants  [3]string // of runs, export and resume
	}{
		"as it was": {func(string, string) error { return nil }, [3]string{`"goes_on": ""`, same, "finished"}},
		"other content": {func(data, _ string) error {
			path := filepath.Join(data, "numbers.csv")
			text, err := os.ReadFile(path)
			text[len(text)-2]++
			return errors.Join(err, os.WriteFile(path, text, 0o644))
		}, [3]string{`"goes_on": "data"`, gone, "no model is configured"}},
		"one more": {func(data, _ string) error { return os.WriteFile(filepath.Join(data, "more.csv"), []byte("n\n"), 0o644) },
			[3]string{`"goes_on": "data"`, gone, "no model is configured"}},
		"one less": {func(data, _ string) error {
			return errors.Join(os.WriteFile(filepath.Join(data, "x.csv"), []byte("n\n"), 0o644), os.Remove(filepath.Join(data, "numbers.csv")))
		}, [3]string{`"goes_on": "data"`, gone, "no model is configured"}},
		"another answer": {func(_, files string) error {
			return os.WriteFile(filepath.Join(files, "out.csv"), []byte("b\n"), 0o644)
		},
			[3]string{`"goes_on": "files"`, "was changed or removed", "is not as it was proved"}},
		"no answer": {func(_, files string) error { return os.RemoveAll(files) },
			[3]string{`"goes_on": "files"`, "was changed or removed", "is not as it was proved"}},
	} {
		t.Chdir(t.TempDir())
		run, data := filepath.Join("dsstar-runs", "x"), t.TempDir()
		given, err := filepath.Abs(filepath.Join(run, "files"))
		if err := errors.Join(err, finishedRun(t).copyTo(run), os.CopyFS(data, os.DirFS(finishedRun(t).data)),
			os.MkdirAll(given, 0o755), os.WriteFile(filepath.Join(given, "out.csv"), []byte("a\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		nb, err := notebook.Open(filepath.Join(run, "notebook.ipynb"))
		if err != nil {
			t.Fatal(err)
		}
		tr, err := page.Read(nb)
		if err != nil {
			t.Fatal(err)
		}
		tr.Task.Data = data
		tr.Final.Files = []compare.File{{Name: "out.csv", Digest: fmt.Sprintf("%x", sha256.Sum256([]byte("a\n")))}}
		nb = page.Draw(tr)
		testKey.Seal(nb)
		if err := errors.Join(nb.Save(filepath.Join(run, "notebook.ipynb")), c.change(data, given)); err != nil {
			t.Fatal(err)
		}
		for i, args := range [][]string{{"runs", "--json"}, {"export", "-o", "-", run},
			{"resume", "--allow-read", data, run}} {
			a, stdout, stderr := testApp(t)
			a.run(t.Context(), args)
			if said := stdout.String() + stderr.String(); !strings.Contains(said, c.wants[i]) {
				t.Errorf("%s: %v lacks %q: %.1500s", name, args, c.wants[i], said)
			}
		}
	}
}

// A variant is a change of a run's notebook, and whose the run then is: "made" by the user's
// dsstar, "edited" since, or "theirs".
type variant struct {
	is     string
	change func(path string) error
}

func variants(t *testing.T) map[string]variant {
	meta := func(nb *notebook.Notebook) map[string]any { return nb.Metadata["dsstar"].(map[string]any) }
	edit := func(nb *notebook.Notebook, adapted bool) {
		for i, c := range nb.Cells {
			if strings.Contains(c.Source, "total = sum(numbers)") && c.Type == notebook.Code {
				nb.Cells[i].Source = strings.ReplaceAll(c.Source, "sum(", "max(")
				if adapted {
					c.Metadata["dsstar"].(map[string]any)["digest"] = record.Digest(nb.Cells[i].Source)
				}
			}
		}
	}
	in := func(is string, change func(nb *notebook.Notebook)) variant {
		return variant{is, func(path string) error {
			nb, err := notebook.Open(path)
			if err == nil {
				change(nb)
				err = nb.Save(path)
			}
			return err
		}}
	}
	return map[string]variant{
		"as it was made": in("made", func(*notebook.Notebook) {}),
		"written by another program": {"made", func(path string) error {
			var all any
			data, err := os.ReadFile(path)
			if err = errors.Join(err, json.Unmarshal(data, &all)); err == nil {
				data, err = json.Marshal(all)
			}
			return errors.Join(err, os.WriteFile(path, data, 0o644))
		}},
		"a cell edited":                       in("edited", func(nb *notebook.Notebook) { edit(nb, false) }),
		"a cell edited, as if dsstar drew it": in("edited", func(nb *notebook.Notebook) { edit(nb, true) }),
		"no seal":                             in("theirs", func(nb *notebook.Notebook) { delete(meta(nb), "seal") }),
		"the seal of another user":            in("theirs", record.Key("another").Seal),
		"the seal of another run": in("theirs", func(nb *notebook.Notebook) {
			other := page.Draw(record.New(record.Task{Question: "q"}, record.Question{}))
			testKey.Seal(other)
			meta(nb)["seal"] = meta(other)["seal"]
		}),
		"another answer": in("theirs", func(nb *notebook.Notebook) {
			meta(nb)["trajectory"].(map[string]any)["questions"].([]any)[0].(map[string]any)["final"].(map[string]any)["answer"] = "99999"
		}),
	}
}

// TestMCPStranger: what a stranger's run says is a claim, and links in it, or to one, lead nowhere.
func TestMCPStranger(t *testing.T) {
	program := mcpProgram(t, "")
	runs := filepath.Join(program.Dir, "dsstar-runs")
	theirs, outside := filepath.Join(runs, "theirs"), filepath.Join(t.TempDir(), "outside")
	for _, err := range []error{
		finishedRun(t).copyTo(theirs), finishedRun(t).copyTo(outside),
		os.Symlink(outside, filepath.Join(runs, "elsewhere")),
		finishedRun(t).copyTo(filepath.Join(runs, "more")), os.Symlink("more", filepath.Join(runs, "beside")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := newClient(t, &sdk.CommandTransport{Command: program}) // of a user with another key
	var all struct{ Runs []listedRun }
	c.call(false, "list_runs", nil, &all)
	for _, r := range all.Runs {
		if !r.Claimed || r.Standing != "verified, says its notebook" || strings.Contains(r.Run, "elsewhere") {
			t.Errorf("list_runs: %+v", r)
		}
	}
	if len(all.Runs) != 3 {
		t.Errorf("list_runs: %+v", all)
	}
	wantText(t, "the newest", c.call(true, "continue_run", nil, nil), "no run yet that your dsstar made")
	wantText(t, "theirs", c.call(true, "continue_run", map[string]any{"run": "beside"}, nil), "another dsstar made this")
	for _, name := range []string{"elsewhere", filepath.Join(runs, "elsewhere")} {
		c.call(true, "continue_run", map[string]any{"run": name}, nil)
		c.call(true, "rerun_notebook", map[string]any{"notebook": name}, nil)
	}
	wantText(t, "elsewhere", c.call(true, "rerun_notebook", map[string]any{"notebook": filepath.Join(runs, "elsewhere")}, nil),
		"not among what this server may read")
}
