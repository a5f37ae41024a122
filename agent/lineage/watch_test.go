package lineage_test

import (
	"slices"
	"strings"
	"testing"

	"dsstar/agent/lineage"
)

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
