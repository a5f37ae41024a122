package site

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site/sitetest"
	"dsstar/kernel"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/rewind"
	"dsstar/notebook"
)

// TestVariables looks at variables in a kernel of the user's.
func TestVariables(t *testing.T) {
	t.Parallel()
	file := sitetest.Start(t, t.TempDir(), "0123abcd-user")
	for what, test := range map[string]func(*testing.T, string){"describe": testDescribe, "carry": testCarry,
		"shown": testShown} {
		t.Run(what, func(t *testing.T) { test(t, file) })
	}
}

// visiting returns the session in the kernel of a connection file.
func visiting(t *testing.T, file string) visit {
	t.Helper()
	k := pyenvtest.Must(kernel.Attach(t.Context(), file, kernel.Options{}))
	t.Cleanup(func() { _ = k.Close() })
	return visit{session{rewind.New(k, rewind.Options{}), nil}, record.Folder(t.TempDir()), nil}
}

// testShown: the cells of derivations are shown, and no others.
func testShown(t *testing.T, file string) {
	for purpose, want := range map[agent.Purpose]string{agent.Work: "print(6*7) 42", agent.Prove: ""} {
		var saw shown
		s := observed(visiting(t, file).Session, purpose, &saw)
		if x, err := s.Execute(t.Context(), "print(6*7)"); err != nil || x.Stdout() != "42\n" {
			t.Errorf("%+v, %v", x, err)
		}
		if got := strings.Join(strings.Fields(string(saw)), " "); got != want {
			t.Errorf("%v: %q", purpose, got)
		}
	}
}

// shown is what an observer is told.
type shown string

func (s *shown) Cell(code string)         { *s += shown(code + " ") }
func (s *shown) Output(o notebook.Output) { *s += shown(o.Text) }

// testDescribe describes variables of all kinds, and checks the effect on them.
func testDescribe(t *testing.T, file string) {
	sitetest.Run(t, file, `
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
span, stamp, never = pd.Timedelta("3D"), pd.Timestamp("2024-05-01"), pd.NaT
pd.Timestamp.__module__, type(pd.NaT).__module__ = "pandas", "pandas.api.typing" # as in pandas 3
stranger = type("Timestamp", (Trap,), {"__module__": "pandas"})()
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
	all := pyenvtest.Must(visiting(t, file).Variables(t.Context()))
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
		"key": "'shop'", "author": "ada lovelace", "folder": "/home/ada", "token": "hidden", "mixed": "hidden", "eng": "://",
		"accounts": "'ada' | (hidden)", "traps": "1 items", "trapped": "'t': object",
		"span": "3 days", "stamp": "2024-05-01",
	} {
		if !strings.Contains(got[name].Text, want) {
			t.Errorf("%s: %q does not say %q", name, got[name].Text, want)
		}
	}
	if text := got["never"].Text; text != "NaT" {
		t.Errorf("never: %q", text)
	}
	for name, want := range map[string]string{"trap": "Trap", "gen": "generator", "clean": "function", "Trap": "class", "fitted": "sklearn.linear_model.LinearRegression",
		"tab": "pyarrow.Table", "pol": "polars.DataFrame", "con": "duckdb.DuckDBPyConnection",
		"stranger": "pandas.Timestamp"} {
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
	if said := sitetest.Run(t, file, "print(Trap.touched, next(gen), con.fetchall(), [n for n in globals() if n not in before and n not in ('before', 'history', 'pytest')], len(In) - history)"); said != "[] 0 [(7,), (8,)] [] 0\n" {
		t.Errorf("looking has left traces: %s", said)
	}
}

// testCarry checks which variables a cell reads, and how each of them is carried.
func testCarry(t *testing.T, file string) {
	sitetest.Run(t, file, `
import pandas as pd, json as js, threading
from math import sqrt as root
df = pd.DataFrame({"n": [1]}); x = 1; y = 2; z = 3; threshold = 4; unused = 5; big = bytes(3_000_000)
lock = threading.Lock(); password = "hunter2secret"; fn = lambda: 1
def helper(): return 1
class Own: pass
own = Own(); inside = {"k": [own]}`)
	v := visiting(t, file)
	pyenvtest.Must(v.Execute(t.Context(), "made = 1; y = 5"))
	for code, want := range map[string]string{
		"df['n']":                                "df=variables/df.pickle",
		"print(f'{df}', [x for x in range(3)])":  "df=variables/df.pickle",
		"def f(x): return x + z\nf(1)":           "z=variables/z.pickle",
		"z += 1":                                 "z=variables/z.pickle",
		"z = 1; z":                               "",
		"class K:\n x = z\n y = x\nK()":          "z=variables/z.pickle",
		"return z":                               "",
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
		carried, err := v.Carry(t.Context(), code, []string{"import pandas as pd"},
			[]record.Variable{{Name: "long", File: "variables/long.pickle", Bytes: maxCarried - 1<<20}})
		var said []string
		for _, c := range carried {
			if c.Problem != "" {
				said = append(said, c.Name+": "+c.Problem)
			} else {
				said = append(said, c.Name+"="+c.Import+c.File)
			}
		}
		slices.Sort(said)
		if got := strings.Join(said, " "); err != nil || got != want {
			t.Errorf("%s: %v, %q, want %q", code, err, got, want)
		}
	}
	if left := pyenvtest.Must(os.ReadDir(v.folder.Variables())); len(left) != 3 {
		t.Errorf("%q", left)
	}
}
