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

// frames are tables for cells to work with.
const frames = `import pandas as pd
names = set(globals()) | {"orders", "stores", "names", "one"}
orders = pd.DataFrame({"store": list("NSNE") * 5, "status": ["paid", "open"] * 10, "n": range(20)})
stores = pd.DataFrame({"store": list("NNS"), "size": [1, 2, 3]})
one = stores.drop_duplicates("store")
`

// serveCells runs lists of cells, each in a namespace like that of a session.
const serveCells = `
import json, sys
for line in sys.stdin:
    space = {"__name__": "__main__", "__builtins__": __builtins__}
    for code in json.loads(line):
        exec(code, space)
`

// TestWatch: merges that multiply rows and comparisons that no row meets are doubts; rows that a
// merge loses are a note.
func TestWatch(t *testing.T) {
	const question = "How many orders are of the kind Gone?"
	cases := []struct{ code, doubts, notes string }{
		{`m = orders.merge(stores, on="store")`, "a merge has 25 rows, more than its sides with 20 and 3: ", ""},
		{`m = pd.merge(orders, right=stores, on="store", how="left")`, "a merge has 30 rows", ""},
		{`m = orders.set_index("store").join(stores.set_index("store"))`, "a merge has 30 rows", ""},
		{`m = orders.merge(one, on="store")`, "", "a merge kept 15 of 20 rows"},
		{`m = orders.merge(one, on="store", how="left")`, "", ""},
		{`m = one.merge(orders, on="store")`, "", ""},
		{`m = orders.merge(stores, how="cross")`, "", ""},
		{`m = orders.merge(orders, on="store")`, "", ""},
		{`m = orders.merge(pd.DataFrame({"n": range(30, 40)}), on="n", how="outer")`, "", ""},
		{`n = (orders.status == "Paid").sum()`, `no row has "Paid" in status, with which a cell compares; rows have "paid"`, ""},
		{`n = len(orders[orders["status"].isin(["PAID", "Open"])])`, `no row has "PAID"`, ""},
		{`n = orders.status.eq("returned").sum()`, `no row has "returned" in status, with which a cell compares`, ""},
		{`n = (orders.status == "Gone").sum()`, "", ""},
		{`n = (orders.status != "returned").sum()`, "", ""},
		{`n = (orders.status == "paid").sum()`, "", ""},
		{`n = orders.status.isin(["paid", "settled"]).sum()`, "", ""},
		{`n = (orders.status == "N/A").sum() + (orders.status == "").sum()`, "", ""},
		{`n = [(orders.status == s).sum() for s in stores.store]`, "", ""},
		{`late = orders[orders.n > 99]
n = (late.status == "paid").sum()`, "", ""},
		{`late = orders[orders.n == 1].assign(kind=orders.status)
n = (late.kind == "paid").sum()`, "", ""},
		{`n = (orders.status == "paid").sum() + (orders[orders.n == 1].status == "paid").sum()`, "", ""},
	}
	var in, out bytes.Buffer
	for _, c := range cases {
		code := "import pandas as pd\n" + c.code
		begin, end := lineage.Watch([]string{code})
		same := "assert set(globals()) - names <= set('mn') | {'late'} and 'lineage' not in repr(pd.merge.__module__)"
		err := json.NewEncoder(&in).Encode([]string{begin, frames, code, end, same})
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(pyenvtest.Python(t), "-I", "-c", serveCells)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%d lines for %d cases", len(lines), len(cases))
	}
	for i, c := range cases {
		doubts, notes := lineage.Watched(lines[i], question)
		for _, x := range []struct {
			got  []string
			want string
		}{{doubts, c.doubts}, {notes, c.notes}} {
			if got := strings.Join(x.got, "\n"); !strings.Contains(got, x.want) || (got == "") != (x.want == "") {
				t.Errorf("%s: %q, want %q", c.code, got, x.want)
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

// TestRows: tables that pandas reads have their rows in another order, or half of them.
func TestRows(t *testing.T) {
	const script = `import io
import pandas as pd
t = pd.read_csv(io.StringIO("n\n" + "\n".join(map(str, range(8)))))
u = pd.read_csv(io.StringIO("k,n\na,1\nb,2"), index_col="k")
print(len(t), sorted(t.n) == list(range(8)), list(t.n) == list(range(8)), list(t.index) == list(range(len(t))), len(u))
`
	for name, c := range map[string]struct{ code, want string }{
		"as it is": {script, "8 True True True 2\n"},
		"shuffled": {lineage.Shuffled(script), "8 True False True 2\n"},
		"halved":   {lineage.Halved(script), "4 False False True 2\n"},
	} {
		out, err := exec.Command(pyenvtest.Python(t), "-I", "-c", c.code).CombinedOutput()
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
	if lineage.Shuffled("print(1)")+lineage.Halved("import pandas") != "" {
		t.Error("a script that reads no tables is changed")
	}
}
