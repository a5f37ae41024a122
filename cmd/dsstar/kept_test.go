package main

import (
	"flag"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/agent/llm/llmtest"
	"dsstar/agent/record"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

var keeps = flag.Int("keeps", 1, "how often TestKept goes through its acts")

// An act is something that a person does to a run with an answer, and what there is afterwards.
type act struct {
	args   []string  // of resume, besides the run
	edit   [2]string // of the notebook: what to what
	answer string
	script string // a part of it
	files  map[string]string
}

var acts = []act{
	{args: []string{"--choose", "2"}, answer: "41", script: "print(answer)",
		files: map[string]string{"total.txt": "41"}},
	{edit: [2]string{"f.write(answer)", "f.write(answer + '!')"}, answer: "41", script: "'!'",
		files: map[string]string{"total.txt": "41!"}},
	{args: []string{"--ask", "How many are they?"}, answer: "3", script: "print(rows)",
		files: map[string]string{"total.txt": "41!", "rows.txt": "3"}},
}

// thinking answers with a delay, by what is asked, as often as it is asked.
func thinking(t *testing.T) *llmtest.Server {
	return llmtest.New(t, llmtest.RefuseSchemas(func(r llmtest.Request) llmtest.Response {
		all, count := r.Last(), strings.Contains(r.Last(), "How many are they?")
		load := "import pandas as pd\nsales = pd.read_csv('data/numbers.csv')\n"
		kept := load + "sales = sales[sales['returned'] == 'no']\nanswer = str(sales['n'].sum())\n"
		reply := ""
		switch role := roleOf(r); {
		case role == "solver" && count:
			reply = "Step: Count them.\n\n" + cell("rows = len(sales) + 1\nwith open('rows.txt', 'w') as f:\n    f.write(str(rows))")
		case role == "solver":
			reply = "Reading: Whether the returned ones count.\nOption 1: They do\nOption 2: They do not\nTaken: 1\n" +
				"Evidence: none\nSettled: no\n\nStep: Add up the numbers.\n\n" +
				cell(load+"total = sales['n'].sum()\nwith open('total.txt', 'w') as f:\n    f.write(str(total))")
		case role == "judge" && count:
			reply = sufficient + "\n\n" + cell("print(rows)")
		case role == "judge" && strings.Contains(all, "answer = str("):
			reply = sufficient + "\n\n" + cell("print(answer)")
		case role == "judge":
			reply = sufficient + "\n\n" + cell("print(total)") + "\n\nBranch 1.2\nKeeps: 0\n\n" +
				cell(kept+"with open('total.txt', 'w') as f:\n    f.write(answer)\nanswer")
		case role == "second" && count:
			reply = cell(load + "answer = str(len(sales))\nanswer")
		case role == "second" && strings.Contains(all, "Meant is: They do not"):
			reply = cell(kept + "answer")
		case role == "second":
			reply = cell(load + "answer = str(sales['n'].sum())\nanswer")
		default:
			return llmtest.Refuse(400, "", "no reply for the "+role)
		}
		return llmtest.Response{Text: reply, Delay: rand.N(300 * time.Millisecond)}
	}))
}

// editCells replaces a text in the code cells of a notebook, as a person does.
func editCells(t *testing.T, path, from, to string) {
	t.Helper()
	nb, err := notebook.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range nb.Cells {
		if c.Type == notebook.Code {
			nb.Cells[i].Source = strings.ReplaceAll(c.Source, from, to)
		}
	}
	if err := nb.Save(path); err != nil {
		t.Fatal(err)
	}
}

// A kept is what a run folder has of an answer.
type kept struct {
	notebook, script, answer, standing string
	files                              map[string]string
}

// keptIn returns what the run in base has of its answer, as it is shown.
func keptIn(t *testing.T, base string) (k kept) {
	t.Helper()
	all := runsIn(base, testKey)
	if len(all) != 1 {
		t.Fatalf("%d runs in %s", len(all), base)
	}
	run := record.Folder(all[0].Run)
	k = kept{notebook: content(t, run.Notebook()), script: content(t, run.Script()), answer: all[0].Answer,
		standing: all[0].Standing, files: map[string]string{}}
	err := fs.WalkDir(os.DirFS(run.Files()), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			k.files[name] = content(t, filepath.Join(run.Files(), name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (k kept) is(o kept) bool {
	return k.notebook == o.notebook && k.script == o.script && k.answer == o.answer &&
		k.standing == o.standing && maps.Equal(k.files, o.files)
}

// checkDone checks that the answer after an act is there, whole.
func (k kept) checkDone(t *testing.T, a act) {
	t.Helper()
	if k.answer != a.answer || k.standing != "verified" || !strings.Contains(k.script, a.script) ||
		!strings.Contains(k.notebook, a.script) || !maps.Equal(k.files, a.files) {
		t.Errorf("after %q %q: %s %q, files %v\n%s", a.args, a.edit, k.standing, k.answer, k.files, k.script)
	}
}

// TestKept kills what follows an answer with SIGKILL at a chance moment: the answer of before is there,
// whole, or the new one is. What was begun goes on.
//
//	go test ./cmd/dsstar -run TestKept -keeps 10 -timeout 1h -v
func TestKept(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	server, config := thinking(t), t.TempDir()
	if err := configFolder(filepath.Join(config, "dsstar")); err != nil {
		t.Fatal(err)
	}
	data := dataFolder(t, map[string]string{"numbers.csv": "n,returned\n1,yes\n2,no\n39,no\n"})
	dsstar := func(after time.Duration, args ...string) (code int) {
		cmd := asDsstar(append(args, "--quiet", "--base-url", server.URL, "--model", "scripted",
			"--python", pyenvtest.Python(t))...)
		cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+config)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		_ = cmd.Wait() // the exit code says it
		return cmd.ProcessState.ExitCode()
	}
	first := t.TempDir()
	begin := time.Now()
	if code := dsstar(time.Hour, "nb", "--data", data, "--memory", "off", "--out", filepath.Join(first, "run"),
		"What is the total?"); code != exitNotVerified {
		t.Fatalf("exit code %d", code)
	}
	whole := time.Since(begin)
	for n := range *keeps {
		base := t.TempDir()
		if err := os.CopyFS(base, os.DirFS(first)); err != nil {
			t.Fatal(err)
		}
		run := filepath.Join(base, "run")
		for _, act := range acts {
			if act.edit[0] != "" {
				editCells(t, record.Folder(run).Notebook(), act.edit[0], act.edit[1])
			}
			before, at := keptIn(t, base), rand.N(whole)
			args := append([]string{"resume", run}, act.args...)
			code := dsstar(at, args...)
			after := keptIn(t, base)
			t.Logf("%d, %q %q: exit code %d after %v, %s", n, act.args, act.edit, code, at, goesOn(record.Folder(run), testKey))
			if !after.is(before) {
				after.checkDone(t, act)
				continue
			}
			if goesOn(record.Folder(run), testKey) == isUnfinished {
				args = args[:2]
			}
			if code := dsstar(time.Hour, args...); code != exitVerified {
				t.Fatalf("%q: exit code %d", args, code)
			}
			keptIn(t, base).checkDone(t, act)
		}
	}
}
