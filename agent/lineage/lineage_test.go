package lineage_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/lineage"
	"dsstar/kernel/pyenv/pyenvtest"
)

// serve runs the scripts of each line of stdin in one namespace, and those that patch modules in a copy
// of the process.
const serve = `
import json, os, sys
import pandas
for line in sys.stdin:
    codes = json.loads(line)
    patches = any("def elsewhere" in c for c in codes)
    if patches and (pid := os.fork()):
        if os.waitpid(pid, 0)[1]:
            sys.exit(1)
        continue
    space = {"__name__": "__main__", "__builtins__": __builtins__}
    for code in codes:
        exec(code, space)
    sys.stdout.flush()
    if patches:
        os._exit(0)
`

// ran returns what lists of scripts print, a text for each.
func ran(t *testing.T, lists ...[]string) []string {
	t.Helper()
	var in bytes.Buffer
	for _, codes := range lists {
		_ = json.NewEncoder(&in).Encode(append(codes, "print(end='\\0')")) // texts, to memory
	}
	cmd := exec.Command(pyenvtest.Python(t), "-I", "-c", serve)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	texts := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if err != nil || len(texts) != len(lists) {
		t.Fatalf("%d texts for %d lists: %v", len(texts), len(lists), err)
	}
	return texts
}

// A sample is a cell, and what is to be found in it: words of a problem or doubt; "": nothing.
type sample struct {
	query lineage.Query
	want  string
}

// samples reads a file of cells. Each sample begins with a line of its kind and what is to be
// found. Lines of --- are between its cells, and ~~~ is after those of the first derivation.
func samples(t *testing.T, path string) (all []sample) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(text), "\n=== ")[1:] {
		head, code, _ := strings.Cut(part, "\n")
		kind, want, _ := strings.Cut(head, ": ")
		q := lineage.Query{Kind: lineage.Kind(kind), Question: "How many?"}
		if first, own, ok := strings.Cut(code, "\n~~~\n"); ok {
			q.First, code = strings.Split(first, "\n---\n"), own
		}
		cells := strings.Split("\n"+code, "\n---\n")
		q.Cells, q.Code = cells[:len(cells)-1], cells[len(cells)-1]
		all = append(all, sample{q, want})
	}
	return all
}

// TestSamples: every faulty sample is found, and every good one passes. What the question asks for is no
// doubt.
func TestSamples(t *testing.T) {
	all := append(samples(t, "testdata/faults.txt"), samples(t, "testdata/good.txt")...)
	all = append(all, sample{query: lineage.Query{Kind: lineage.Last,
		Question: "How old are they today?",
		Cells:    []string{"import pandas as pd\nt = pd.read_csv('data/t.csv', parse_dates=['born'])"},
		Code:     "print((pd.Timestamp.now() - t.born).mean().days)"}})
	var scripts [][]string
	for _, s := range all {
		scripts = append(scripts, []string{lineage.Script(s.query)})
	}
	for i, text := range ran(t, scripts...) {
		s, f := all[i], lineage.Parse(text)
		told := strings.TrimSpace(f.Problem + " " + strings.Join(f.Doubts, " "))
		if !strings.Contains(told, s.want) || (s.want == "") != (told == "") {
			t.Errorf("%s: found %q, want %q\n%s\n\n%s", s.query.Kind, told, s.want,
				strings.Join(s.query.Cells, "\n\n"), s.query.Code)
		}
	}
}

// TestApart: a question builds on those whose names or files its cells read, and on no others.
func TestApart(t *testing.T) {
	const first = "import pandas as pd\norders = pd.read_csv('data/o.csv')\npaid = orders[orders['s'] == 'paid']\n" +
		"paid.to_csv('paid.csv')\ndef rate(d):\n    total = len(d)\n    return total\n"
	type conversation struct {
		cells []string // one of each question
		apart []int    // questions on which the last one does not build
	}
	var cases []conversation
	for code, builds := range map[string]bool{
		"n = len(paid)":                                     true,
		"paid['k'] = 1":                                     true,
		"paid += 1":                                         true,
		"x = pd.read_csv('paid.csv')":                       true,
		"x = rate(z)":                                       true,
		"if y:\n    paid = 1\nprint(paid)":                  true,
		"orders = pd.read_csv('data/o.csv')\norders":        false,
		"x = y['paid']":                                     false,
		"f(paid=1)":                                         false,
		"paid, orders = 1, 2\nprint(paid + orders)":         false,
		"for paid in (1, 2):\n    print(paid)":              false,
		"def f(paid, n=1):\n    return paid + n":            false,
		"with open('data/n.txt') as paid:\n    paid.read()": false,
		"with open('paid.csv', 'w') as f:\n    pass":        false,
		"import pandas as pd\npd.read_csv('data/c')":        false,
	} {
		apart := []int{0}
		if builds {
			apart = []int{}
		}
		cases = append(cases, conversation{[]string{first, code}, apart})
	}
	for _, pair := range [][2]string{
		{"orders.drop(index=[1], inplace=True)", "result = orders.amount.sum()"},
		{"del orders['cancelled']", "r = orders.sum()"},
		{"n = clean(orders)", "r = orders.x"},
		{"o = orders\no['x'] = 1", "r = orders.x"},
		{"for d in [orders, items]:\n    d['x'] = 1", "r = orders.x"},
		{"def add():\n    global total\n    total += 1", "r = total"},
		{"kept = 1", "if x:\n    kept = 2\nelse:\n    y = kept"},
		{"(kept := 3)", "k = kept"},
		{"match 1:\n    case kept: pass", "k = kept"},
		{"globals()['kept'] = 1", "k = kept"},
		{"%store kept", "k = kept"},
		{"kept = 1", "k = eval('kept')"},
		{"kept = 1", "k = orders.query('a > @kept')"},
		{"kept = orders", "k = duckdb.sql('select * from kept').df()"},
		{"con.execute('create table kept as select 1')", "k = db.execute('select * from kept').fetchall()"},
		{"sqlite3.connect('x.db').execute('create table a')", "k = sqlite3.connect('x.db').execute('select * from b')"},
		{"open('h.py', 'w').write('x = 1')", "import h\nk = h.x"},
		{"a.to_csv('out/a.csv')", "k = pd.read_csv(os.path.join('out', 'a.csv'))"},
		{"a.to_csv('a.csv')", "k = [pd.read_csv(f) for f in glob.glob('*.csv')]"},
		{"a.to_csv('a.csv')", "k = [f.read_text() for f in Path('.').iterdir()]"},
		{"a.to_csv(out_name)", "k = pd.read_csv('a.csv')"},
		{"pickle.dump(a, f)", "k = pickle.load(open('a.pkl', 'rb'))"},
		{"shutil.copy('b.csv', 'a.csv')", "k = duckdb.sql(\"select * from 'a.csv'\")"},
	} {
		cases = append(cases, conversation{pair[:], []int{}})
	}
	cases = append(cases, []conversation{
		{[]string{"orders = f()", "n = len(orders[orders.s == 'x'])\nprint(n)", "m = orders.n.sum()\nprint(m)"}, []int{1}},
		{[]string{"import pandas as pd\nplt.plot(a)\na.to_csv('a.csv')",
			"import pandas as pd\nimport matplotlib.pyplot as plt\nplt.plot(pd.read_csv('data/a b.csv'))\n" +
				"for p in glob.glob('data/*.csv'):\n    n = len(open(f'data/{p}').read())\nprint(n)"}, []int{0}},
		{[]string{"r = con.sql(\"select * from t join 'data/a.csv'\").df()\nprint(r)",
			"r = con.sql(\"select * from t join 'data/b.csv'\").df()\nprint(r)"}, []int{0}},
		{[]string{"x = t.copy()\ny = pd.to_numeric(t.a)\nprint(f(int(y), str(x)))",
			"con = sqlite3.connect('file:data/a.db?mode=ro')\nprint(int(pd.read_sql('select * from s', con).n.sum()))"}, []int{0}},
		{[]string{"a = 1", "b = a", "c = b"}, []int{}},
		{[]string{"a = 1", "b = 2", "c = a"}, []int{1}},
		{[]string{"a = 1", "a['k'] = 2", "c = a"}, []int{}},
	}...)
	var scripts [][]string
	for _, c := range cases {
		var earlier [][]string
		last := len(c.cells) - 1
		for _, cell := range c.cells[:last] {
			earlier = append(earlier, []string{cell})
		}
		scripts = append(scripts, []string{lineage.Apart(earlier, c.cells[last:])})
	}
	for i, text := range ran(t, scripts...) {
		var apart [][]int
		if err := json.Unmarshal([]byte(text), &apart); err != nil || !slices.Equal(apart[0], cases[i].apart) {
			t.Errorf("%q: apart %s, %v", cases[i].cells, text, err)
		}
	}
}

// frames are tables for cells to work with.
const frames = `import pandas as pd
names = set(globals()) | {"orders", "stores", "names", "one"}
orders = pd.DataFrame({"store": list("NSNE") * 5, "status": ["paid", "open"] * 10, "n": range(20)})
stores = pd.DataFrame({"store": list("NNS"), "size": [1, 2, 3], "city": ["York", "York", "Hull"]})
one = stores.drop_duplicates("store")
`

// TestWatch: merges that multiply rows and comparisons that no row meets are doubts; rows that a
// merge loses are a note.
func TestWatch(t *testing.T) {
	const question = "How many orders are of the kind Gone?"
	cases := []struct{ code, doubts, notes string }{
		{`m = orders.merge(stores, on="store")`, "a merge makes 25 rows of the 15 and 3 that match each other: ", ""},
		{`m = pd.merge(orders, right=stores, on="store", how="left")`, "a merge makes 25 rows", ""},
		{`m = orders.join(stores.set_index("store"), on="store")`, "a merge makes 25 rows", ""},
		{`m = orders.pipe(pd.merge, stores, on="store")`, "a merge makes 25 rows", ""},
		{`m = orders[["store", "n"]].merge(orders[["n", "store"]].rename(columns={"n": "m"}), on="store")`, "", ""},
		{`m = one.rename(columns={"store": "s"}).merge(orders, left_on="s", right_on="store", how="outer")`, "", ""},
		{`m = orders.merge(one, on="store")`, "", "a merge kept 15 of 20 rows"},
		{`m = orders.merge(orders, on="store")`, "", ""},
		{`m = orders.merge(pd.DataFrame({"n": range(30, 40)}), on="n", how="outer")`, "", ""},
		{`n = (orders.status == "Paid").sum()`, `no row has "Paid" in status, with which a cell compares; rows have "paid"`, ""},
		{`n = orders.status.eq("returned").sum()`, `no row has "returned" in status, with which a cell compares`, ""},
		{`n = orders[orders.status != "Paid"].n.sum()`, `rows have "paid"`, ""},
		{`n = (orders.status.str.upper() == "PAID ").sum()`, `rows have "PAID"`, ""},
		{`n = len(orders.query("status == 'Paid'"))`, `no row has "Paid" in status`, ""},
		{`n = (orders.n == "02").sum()`, `no row has "02" in n, with which a cell compares: the column holds numbers`, ""},
		{`n = orders.status.str.startswith("Paid").sum()`, `no row has "Paid"; rows have "paid"`, ""},
		{`n = sum(m["status"] == "Paid" for m in orders.to_dict("records"))`, `rows have "paid"`, ""},
		{"m = {'Paid': 1.1}\nn = sum(m.get(s, 1) for s in orders.status)", `rows have "paid"`, ""},
		{`n = "select count(*) from o where status in ('paid', 'Open')"`, `no row has "Open"; rows have "open"`, ""},
		{`n = orders.status.isin(["paid", "Paid", "PAID"]).sum()`, "", ""},
		{`n = stores.city.str.contains("york", case=False).sum()`, "", ""},
		{"orders['status'] = orders.status.map({'paid': 'Paid'})\nn = (orders.status == 'Paid').sum()", "", ""},
		{"n = {'Paid': (orders.status == 'paid').sum()}\nprint(n['Paid'], file=__import__('sys').stderr)", "", ""},
		{`n = [m for m in orders if (orders[m] == "paid").any()]`, "", ""},
		{`n = (pd.to_datetime(orders.n) == "2024-01-02").sum()`, "", ""},
		{`n = (orders.status == "Gone").sum()`, "", ""},
		{"m = one.merge(one, on=\"store\", how=\"outer\", indicator=True)\nn = (m._merge == \"right_only\").sum()", "", ""},
		{`n = (orders.status.astype(pd.CategoricalDtype(["paid", "Open"])) == "Open").sum()`, "", ""},
		{`n = (orders.status == "N/A").sum() + (orders.status == "").sum()`, "", ""},
		{`n = [(orders.status == s).sum() for s in stores.store]`, "", ""},
		{`late = orders[orders.n > 99]
n = (late.status == "paid").sum()`, "", ""},
		{`late = orders[orders.n == 1].assign(kind=orders.status)
n = (late.kind == "paid").sum()`, "", ""},
		{`n = (orders.status == "paid").sum() + (orders[orders.n == 1].status == "paid").sum()`, "", ""},
	}
	var lists [][]string
	for _, c := range cases {
		code := "import pandas as pd\n" + c.code
		begin, end := lineage.Watch([]string{code})
		same := "assert set(globals()) - names <= set('mn') | {'late'} and 'lineage' not in repr(pd.merge.__module__)"
		lists = append(lists, []string{begin, frames, code, end, same})
	}
	lines := ran(t, lists...)
	for i, c := range cases {
		doubts, notes := lineage.Watched(lines[i], question)
		all := [][]string{doubts, notes}
		for k, want := range []string{c.doubts, c.notes} {
			if got := strings.Join(all[k], "\n"); !strings.Contains(got, want) || (got == "") != (want == "") {
				t.Errorf("%s: %q, want %q", c.code, got, want)
			}
		}
	}
	if begin, end := lineage.Watch([]string{"print(1)"}); begin+end != "" {
		t.Error("cells without pandas are watched")
	}
	if doubts, notes := lineage.Watched("no JSON", question); slices.Concat(doubts, notes) != nil {
		t.Errorf("%q, %q", doubts, notes)
	}
}

// TestElsewhere: all ways of listing a folder give the other order, and there are more processors.
func TestElsewhere(t *testing.T) {
	const script = `import glob, os, tempfile
from pathlib import Path
folder = tempfile.mkdtemp()
for n in range(5):
    os.mkdir(os.path.join(folder, f"d{n}"))
    open(os.path.join(folder, f"d{n}", "f"), "w").close()
name = os.path.basename
print(*os.listdir(path=folder))
print(*(e.name for e in os.scandir(folder)))
print(*(p.name for p in Path(folder).iterdir()))
print(*(name(os.path.dirname(p)) for p in glob.glob(folder + "/*/f")))
print(*next(os.walk(folder))[1])
with os.scandir(folder) as entries:
    print(*(e.name for e in entries))
print(os.cpu_count())
print(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
import shutil
shutil.rmtree(folder)
`
	texts := ran(t, []string{script}, []string{lineage.Elsewhere(script)})
	first := strings.Split(strings.TrimSpace(texts[0]), "\n")
	for i, line := range strings.Split(strings.TrimSpace(texts[1]), "\n") {
		here, there := strings.Fields(first[i]), strings.Fields(line)
		slices.Reverse(there)
		if len(here) != len(there) || slices.Equal(here, there) == (len(here) == 1) {
			t.Errorf("%s, elsewhere %s", first[i], line)
		}
	}
}
