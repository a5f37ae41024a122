package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/kernels/kernelstest"
	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// A notebookKernel is a kernel of a server, which a notebook has open.
type notebookKernel struct {
	server *kerneltest.Server
	id     string
	file   string // connection file
}

func aNotebook(t *testing.T, server *kerneltest.Server, path string) notebookKernel {
	t.Helper()
	file := filepath.Join(server.Root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var session struct{ Kernel struct{ ID string } }
	server.Call(t, "POST", "/api/sessions", map[string]any{"path": path, "name": "", "type": "notebook",
		"kernel": map[string]string{"name": "python3"}}, &session)
	return notebookKernel{server, session.Kernel.ID, filepath.Join(server.RuntimeDir, "kernel-"+session.Kernel.ID+".json")}
}

// aboutVariables runs nb without data.
func aboutVariables(t *testing.T, env []string, url, out string, args ...string) *scene {
	t.Helper()
	s := &scene{t: t, out: out}
	a, stdout, stderr := testApp(t, env...)
	args = append([]string{"nb", "--base-url", url, "--model", "scripted", "--yes"}, args...)
	if out != "" {
		args = append(args, "--out", out)
	}
	s.code = a.run(t.Context(), append(args, "What is the total of df?"))
	s.stdout, s.stderr = stdout.String(), stderr.String()
	return s
}

// using is a model that answers with two cells.
func using(step, final string) roles {
	return roles{
		"planner": say("Add the numbers up."), "coder": say(cell(step)), "verifier": say(sufficient),
		"finalizer": say(cell(final)), "checker": say("Form: fits"), "debugger": say(cell(step)),
	}
}

const users = `import sqlite3, pandas as pd
df = pd.DataFrame({"n": [1, 2, 39], "shop": ["a", "b", None]})
total = "the user's"
api_key = "sk-aaaabbbbccccddddeeeeffff1234"
conn = sqlite3.connect(":memory:")
_ = conn.execute("create table sales (n int)"); _ = conn.execute("insert into sales values (42)")
before = df.copy()
names = sorted(n for n in globals() if not n.startswith("_"))`

const asItWas = `print(total, df.equals(before), sorted(n for n in globals() if not n.startswith("_") and n != "names") == [n for n in names if n != "names"])`

// TestVariables is the scene: a data frame in the kernel of an open
// notebook is asked about, without a data folder.
func TestVariables(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	server := kerneltest.JupyterServer(t, pyenvtest.Tools(t), map[string]map[string]any{"python3": {
		"argv": []string{pyenvtest.Python(t), "-m", "ipykernel_launcher", "-f", "{connection_file}"}, "display_name": "Python 3", "language": "python",
	}})
	open := aNotebook(t, server, "work/my analysis.ipynb")
	kernelstest.Run(t, open.file, users)
	kernelstest.Run(t, open.file, "names = sorted(n for n in globals() if not n.startswith('_')) + ['names']")
	env := kernelstest.Env(t, server.RuntimeDir)
	page := server.URL + "/lab/workspaces/auto-x/tree/work/my%20analysis.ipynb?token=" + server.Token
	source, err := os.ReadFile(filepath.Join(server.Root, "work", "my analysis.ipynb"))
	if err != nil {
		t.Fatal(err)
	}

	t.Run("frame", func(t *testing.T) {
		model := using("total = int(pd.DataFrame(df)['n'].sum())\nnew = 1\nprint(total)", "print(total)").serve(t)
		s := aboutVariables(t, env, model.URL, "", "--kernel", page, "--json")
		s.expect(exitVerified, "my analysis.ipynb", "session  has df, total", "verified")
		r := decodeResult(t, s.stdout)
		if r.Answer != "42" || !strings.HasPrefix(r.RunDir, filepath.Join(server.Root, "work", "dsstar-runs")) {
			t.Errorf("%+v", r)
		}
		s.out = r.RunDir
		s.without(server.Token)
		s.without("sk-aaaabbbb")
		if got := kernelstest.Run(t, open.file, asItWas); got != "the user's True True\n" {
			t.Errorf("the user's session: %s", got)
		}
		if now, err := os.ReadFile(filepath.Join(server.Root, "work", "my analysis.ipynb")); err != nil || string(now) != string(source) {
			t.Errorf("the open notebook has changed: %v %s", err, now)
		}
		request := ""
		for _, asked := range model.Requests() {
			request += asked.Last()
		}
		for _, said := range []string{"# Variables of the session", "df: pandas.DataFrame", "3 rows, 2 columns", "'n': int64, 1 to 39",
			"table sales: n INT", "hidden: it looks like a secret"} {
			if !strings.Contains(request, said) {
				t.Errorf("the model is not told %q", said)
			}
		}
		if strings.Contains(request, "# Data files") || strings.Contains(request, "sk-aaaabbbb") {
			t.Error("the model is told of a data folder, or the secret")
		}
		tr := s.trajectory()
		i := slices.IndexFunc(tr.Variables, func(v record.Variable) bool { return v.Name == "df" })
		if i < 0 || tr.Variables[i].File != "variables/df.pickle" || tr.Task.Data != "" {
			t.Errorf("%+v", tr.Variables)
		}
		validate(t, r.Notebook)
		s.runAgain(r.Notebook)
	})
	t.Run("connection", func(t *testing.T) {
		model := using("total = conn.execute('select sum(n) from sales').fetchone()[0]\nprint(total)", "print(total)").serve(t)
		s := aboutVariables(t, env, model.URL, filepath.Join(t.TempDir(), "run"), "--kernel", "work/my analysis.ipynb", "--json")
		s.expect(exitNotVerified, "unproved: the variable conn (sqlite3.Connection) cannot be carried to a fresh session: cannot pickle 'sqlite3.Connection' object\n")
		if r := decodeResult(t, s.stdout); r.Answer != "42" || len(r.Doubts) != 1 || !strings.HasPrefix(r.Doubts[0], "unproved: ") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("keep", func(t *testing.T) {
		model := using("total = int(df['n'].sum())\nmore = df.copy()\nprint(total)", "print(total)").serve(t)
		s := aboutVariables(t, env, model.URL, filepath.Join(t.TempDir(), "run"), "--kernel", filepath.Join(server.Root, "work", "my analysis.ipynb"), "--keep", "more,nosuch")
		s.expect(exitVerified, "as they were, but for more, nosuch;", "--keep nosuch: no cell has assigned this name")
		if got := kernelstest.Run(t, open.file, "print(total, list(more['n'])); del more\n"+asItWas); got != "the user's [1, 2, 39]\nthe user's True True\n" {
			t.Errorf("the user's session: %s", got)
		}
		s = aboutVariables(t, env, model.URL, filepath.Join(t.TempDir(), "run"), "--kernel", open.id, "--keep", "all")
		s.expect(exitVerified)
		got := kernelstest.Run(t, open.file, "print(total, len(more), 'question' in globals(), 'np' in globals()); total = 'the user\\'s'; del more\n"+asItWas)
		if got != "42 3 False False\nthe user's True True\n" {
			t.Errorf("the user's session: %s", got)
		}
	})
	t.Run("in place", func(t *testing.T) {
		kernelstest.Run(t, open.file, "other = pd.DataFrame({'n': [1, 2]})")
		model := using("other['n'] += 1\ntotal = int(other['n'].sum())\nprint(total)", "print(total)").serve(t)
		s := aboutVariables(t, env, model.URL, filepath.Join(t.TempDir(), "run"), "--kernel", open.id)
		s.expect(exitVerified, "warning  other changed in place")
		if s.stdout != "5\n" {
			t.Errorf("the answer is %q", s.stdout)
		}
		kernelstest.Run(t, open.file, "del other")
	})
	t.Run("own class", func(t *testing.T) {
		kernelstest.Run(t, open.file, "class Shop:\n    n = 42\nshop = Shop()\ndef clean(x): return x")
		model := using("total = clean(shop.n)\nprint(total)", "print(total)").serve(t)
		s := aboutVariables(t, env, model.URL, filepath.Join(t.TempDir(), "run"), "--kernel", open.id)
		s.expect(exitNotVerified, "unproved: the variable ", "is defined in the session itself")
	})
	t.Run("usage", func(t *testing.T) {
		for _, c := range []struct{ said, kernel string }{
			{"no running kernel \"work/none.ipynb\"", server.URL + "/lab/tree/work/none.ipynb?token=" + server.Token},
			{"names neither a notebook nor a kernel", server.URL + "/lab?token=" + server.Token},
		} {
			s := aboutVariables(t, env, "http://127.0.0.1:1/v1", filepath.Join(t.TempDir(), "run"), "--kernel", c.kernel)
			s.expect(exitUsage, c.said, "dsstar: hint: ")
			s.without(server.Token)
		}
		aboutVariables(t, env, "http://127.0.0.1:1/v1", "", "--server", server.URL, "--kernel", "python3").expect(exitUsage, "no running kernel")
		aboutVariables(t, env, "http://127.0.0.1:1/v1", "").expect(exitUsage, "no data folder is given", "--kernel newest")
		aboutVariables(t, env, "http://127.0.0.1:1/v1", "", "--data", dataFolder(t, numbers), "--keep", "x").expect(exitUsage, "--keep needs a running kernel")
		aboutVariables(t, env, "http://127.0.0.1:1/v1", "", "--kernel", open.id, "--keep", "df.n").expect(exitUsage, `"df.n" is not the name`)
	})
}

// runAgain runs what a run has left where there is no session of the user's: the
// script in plain Python, and the notebook in a fresh kernel, twice.
func (s *scene) runAgain(notebook string) {
	s.t.Helper()
	script := exec.Command(pyenvtest.Python(s.t), "solution.py")
	script.Dir = s.out
	if out, err := script.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "\n42\n") {
		s.t.Errorf("the script: %v\n%s", err, out)
	}
	k, err := kernel.Start(s.t.Context(), kernel.Options{Spec: kernel.PythonSpec(pyenvtest.Python(s.t)), Dir: s.out, Env: os.Environ()})
	if err != nil {
		s.t.Fatal(err)
	}
	defer k.Close()
	for range 2 {
		for _, code := range s.trajectory().Cells() {
			if e, err := k.Execute(s.t.Context(), code); err != nil || e.Status != "ok" {
				s.t.Errorf("%s: %v\n%s", code, err, e.PlainText())
			}
		}
	}
}
