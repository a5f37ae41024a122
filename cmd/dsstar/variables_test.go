package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
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

// TestVariablesPandas3: single values of pandas are shown wherever their types say
// they are from. In pandas 3 that is not pandas._libs.
func TestVariablesPandas3(t *testing.T) {
	t.Parallel()
	const script = `
import sys, types
pandas = sys.modules["pandas"] = types.ModuleType("pandas")
def public(name, module, text):
    return type(name, (), {"__module__": module, "__str__": lambda self: text})
pandas.Timestamp = public("Timestamp", "pandas", "2024-05-01")
pandas.NaT = public("NaTType", "pandas.api.typing", "NaT")()
request = {"seconds": 9}
exec(sys.stdin.read().partition("# What code reads.")[0])
stranger = public("Timestamp", "pandas", "run")()
print(brief(pandas.Timestamp()), brief(pandas.NaT), brief(stranger), brief(1))
`
	source, err := os.ReadFile("variables.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pyenvtest.Python(t), "-I", "-c", script)
	cmd.Stdin = strings.NewReader(string(source))
	out, err := cmd.CombinedOutput()
	if got := string(out); err != nil || got != "2024-05-01 NaT pandas.Timestamp 1\n" {
		t.Errorf("%v: %s", err, got)
	}
}

// TestVariables is the scene: a data frame in the kernel of an open
// notebook is asked about, without a data folder.
func TestVariables(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	server := kerneltest.JupyterServer(t, pyenvtest.Tools(t), map[string]map[string]any{"python3": {
		"argv": []string{pyenvtest.Python(t), "-m", "ipykernel_launcher", "-f", "{connection_file}"}, "display_name": "Python 3", "language": "python",
	}})
	open := aNotebook(t, server, "work/my analysis.ipynb")
	inKernel(t, open.file, users)
	inKernel(t, open.file, "names = sorted(n for n in globals() if not n.startswith('_')) + ['names']")
	env := jupyterEnv(t, server.RuntimeDir)
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
		if got := inKernel(t, open.file, asItWas); got != "the user's True True\n" {
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
		s.expect(exitVerified, "as they were, but for more, nosuch;", "--keep nosuch: no cell has given this name a value")
		if got := inKernel(t, open.file, "print(total, list(more['n'])); del more\n"+asItWas); got != "the user's [1, 2, 39]\nthe user's True True\n" {
			t.Errorf("the user's session: %s", got)
		}
		s = aboutVariables(t, env, model.URL, filepath.Join(t.TempDir(), "run"), "--kernel", open.id, "--keep", "all")
		s.expect(exitVerified)
		got := inKernel(t, open.file, "print(total, len(more), 'question' in globals(), 'np' in globals()); total = 'the user\\'s'; del more\n"+asItWas)
		if got != "42 3 False False\nthe user's True True\n" {
			t.Errorf("the user's session: %s", got)
		}
	})
	t.Run("in place", func(t *testing.T) {
		inKernel(t, open.file, "other = pd.DataFrame({'n': [1, 2]})")
		model := using("other['n'] += 1\ntotal = int(other['n'].sum())\nprint(total)", "print(total)").serve(t)
		s := aboutVariables(t, env, model.URL, filepath.Join(t.TempDir(), "run"), "--kernel", open.id)
		s.expect(exitVerified, "warning  other changed in place")
		if s.stdout != "5\n" {
			t.Errorf("the answer is %q", s.stdout)
		}
		inKernel(t, open.file, "del other")
	})
	t.Run("own class", func(t *testing.T) {
		inKernel(t, open.file, "class Shop:\n    n = 42\nshop = Shop()\ndef clean(x): return x")
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
		aboutVariables(t, env, "http://127.0.0.1:1/v1", "", "--server", server.URL, "--kernel", "python3").expect(exitUsage, "only a kernel that is running already")
		aboutVariables(t, env, "http://127.0.0.1:1/v1", "").expect(exitUsage, "no data folder is given", "--kernel newest")
		aboutVariables(t, env, "http://127.0.0.1:1/v1", "", "--data", dataFolder(t, numbers), "--keep", "x").expect(exitUsage, "--keep is for a kernel that is running")
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

// TestDescribeVariables looks at variables of all kinds, and at what looking has
// done to them.
func TestDescribeVariables(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	file := userKernel(t, runtime, "0123abcd-user")
	inKernel(t, file, `
import collections, datetime, sqlite3, numpy as np, pandas as pd, polars as pl, pyarrow as pa, duckdb, sqlalchemy
from sklearn.linear_model import LinearRegression
class Trap:
    touched = []
    def __getattribute__(self, name): Trap.touched.append(name); raise RuntimeError(name)
    def __repr__(self): Trap.touched.append("repr"); return "x"
    def __len__(self): Trap.touched.append("len"); return 1
    def __eq__(self, o): Trap.touched.append("eq"); return True
    __hash__ = None
trap = Trap()
traps = [trap]
class Quiet(Trap):
    def __getattribute__(self, name): return object.__getattribute__(self, name)
trapped = pd.DataFrame({"t": [Quiet(), Quiet()]}); Trap.touched.clear()
gen = (i for i in range(3))
arr = np.arange(6.0).reshape(2, 3)
fitted = LinearRegression().fit(arr, [1, 2]); unfitted = LinearRegression()
lazy = pl.LazyFrame({"a": [1]}); pol = pl.DataFrame({"a": [1], "b": ["x"]}); tab = pa.table({"c": [1.5]})
series = pd.Series([1, 2], name="s", index=pd.date_range("2020", periods=2))
con = duckdb.connect(); _ = con.execute("create table t (i int)"); _ = con.execute("select 7 union all select 8 order by 1")
eng = sqlalchemy.create_engine("postgresql+psycopg2://ada:hunter2secret@db.example.org/shop") if __import__("importlib.util").util.find_spec("psycopg2") else sqlalchemy.create_engine("sqlite:///x.db")
config = {"db_password": "hunter2secret", "n": 1}
accounts = pd.DataFrame({"user": ["ada"], "password": ["hunter2secret"]})
url = "https://ada:hunter2secret@example.org/"
key = "shop"; author = "ada lovelace of London 1815"; folder = "/home/ada/Projects2024/Data7/x1"; token = "9f8e7d6c5b4a39281706"
mixed = "aB3dE5gH7jK9mN1pQ3sT5vW7"
big = 10 ** 10000
text = "x" * 100000
counts = collections.Counter("aab")
day = datetime.date(2020, 1, 2)
wide = pd.DataFrame({f"c{i}": [i] for i in range(500)})
def clean(x): return x
before = sorted(globals()); history = len(In)`)
	k, err := kernel.Attach(t.Context(), file, kernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	v := visit{checkpoint.New(k, checkpoint.Options{}), record.Folder(t.TempDir()), nil}
	all, err := v.Variables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]record.Variable{}
	for _, one := range all {
		got[one.Name] = one
		if len(one.Text) > 3*variableChars {
			t.Errorf("%s: %d bytes", one.Name, len(one.Text))
		}
	}
	for name, want := range map[string]string{
		"arr": "shape (2, 3), float64", "fitted": "fitted\nparameters: copy_X=True", "unfitted": "not fitted", "lazy": "not computed",
		"pol": "'b': String", "tab": "'c': double", "series": "DatetimeIndex", "con": "table t: i INTEGER", "counts": "2 entries", "day": "2020-01-02",
		"big": "an int of 33220 bits", "text": "100000 characters", "wide": "and 440 more columns", "config": "hidden", "url": "hidden",
		"key": "'shop'", "author": "ada lovelace", "folder": "/home/ada", "token": "hidden", "mixed": "hidden", "eng": "not connected to",
		"accounts": "'ada' | (hidden)", "traps": "1 items", "trapped": "'t': object",
	} {
		if name != "series" && !strings.Contains(got[name].Text, want) {
			t.Errorf("%s: %q does not say %q", name, got[name].Text, want)
		}
	}
	for name, want := range map[string]string{"trap": "Trap", "gen": "generator", "clean": "function", "Trap": "class", "fitted": "sklearn.linear_model.LinearRegression",
		"tab": "pyarrow.Table", "pol": "polars.DataFrame", "con": "duckdb.DuckDBPyConnection"} {
		if !strings.HasSuffix(got[name].Type, want) {
			t.Errorf("%s is of type %q", name, got[name].Type)
		}
	}
	for _, name := range []string{"pd", "LinearRegression", "In", "exit", "_"} {
		if _, there := got[name]; there {
			t.Errorf("%s is among the variables", name)
		}
	}
	if text, _ := json.Marshal(all); strings.Contains(string(text), "hunter2") {
		t.Errorf("a secret is told: %s", text)
	}
	if said := inKernel(t, file, "print(Trap.touched, next(gen), con.fetchall(), [n for n in globals() if n not in before and n not in ('before', 'history', 'pytest')], len(In) - history)"); said != "[] 0 [(7,), (8,)] [] 0\n" {
		t.Errorf("looking has left traces: %s", said)
	}
}

// TestCarryVariables: what a cell reads, and what of it is carried how.
func TestCarryVariables(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	file := userKernel(t, runtime, "0123abcd-user")
	inKernel(t, file, `
import pandas as pd, json as js, threading
from math import sqrt as root
df = pd.DataFrame({"n": [1]}); x = 1; y = 2; z = 3; threshold = 4; unused = 5; big = bytes(3_000_000)
lock = threading.Lock(); password = "hunter2secret"; fn = lambda: 1
def helper(): return 1
class Own: pass
own = Own(); inside = {"k": [own]}`)
	k, err := kernel.Attach(t.Context(), file, kernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	v := visit{checkpoint.New(k, checkpoint.Options{}), record.Folder(t.TempDir()), nil}
	if _, err := k.Execute(t.Context(), "made = 1; y = 5"); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{
		"df['n']":                                "df=variables/df.pickle",
		"print(f'{df}', [x for x in range(3)])":  "df=variables/df.pickle",
		"def f(x): return x + z\nf(1)":           "z=variables/z.pickle",
		"z += 1":                                 "z=variables/z.pickle",
		"z = 1; z":                               "",
		"if made: z = 1\nprint(z)":               "z=variables/z.pickle",
		"made + y":                               "",
		"pd.concat([]); js; root(2)":             "js=import json as js root=from math import sqrt as root",
		"q = 'n > @threshold'; df2.query(q)":     "threshold=variables/threshold.pickle",
		"import json as js; js.dumps(1); np; os": "",
		"lock":                                   "lock: cannot pickle '_thread.lock' object",
		"inside":                                 "inside: the class Own is defined in the session itself",
		"helper(), fn()":                         "fn: the function <lambda> is defined in the session itself helper: the function helper is defined in the session itself",
		"password":                               "password: it looks like a secret, which is not written to a file",
		"big":                                    "big: with it, more than 1.1 GB would be written for this run",
		"syntax error (":                         "",
	} {
		carried, err := v.Carry(t.Context(), agent.Reading{Code: code, Before: []string{"import pandas as pd"}, Room: 1 << 20})
		var said []string
		for _, c := range carried {
			switch {
			case c.Problem != "":
				said = append(said, c.Name+": "+c.Problem)
			default:
				said = append(said, c.Name+"="+c.Import+c.File)
			}
		}
		slices.Sort(said)
		if got := strings.Join(said, " "); err != nil || got != want {
			t.Errorf("%s: %v, %q, want %q", code, err, got, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(v.folder.Variables(), "*"))
	if err != nil || len(left) != 3 {
		t.Errorf("%v %q", err, left)
	}
}
