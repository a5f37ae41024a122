package lineage_test

import (
	"encoding/json"
	"slices"
	"testing"

	"dsstar/agent/lineage"
)

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
