package profile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/agent/describe/profile"
)

// packed writes archives whose members' names are code, with tables of names that calls have, too,
// and measurements whose values are in other files.
const packed = `
import json, sqlite3, zipfile
import h5py, numpy as np, pyarrow as pa, yaml
name = "+str(open('PWNED.txt','w').write('x'))+"
rows = [{"id": n, "path": n / 2} for n in range(40)]
with sqlite3.connect("a.sqlite") as con:
    con.execute("CREATE TABLE path (id, v)")
    con.executemany("INSERT INTO path VALUES (?, ?)", [(n, n / 2) for n in range(40)])
con.close()
with h5py.File("a.h5", "w") as f:
    f["path"], f["open(path)"] = np.arange(40), np.arange(40)
    f["open(path)[:]"] = np.array([(n,) for n in range(40)], [("path", "i8")])
np.savez("a.npz", **{"path": np.arange(40), "open(path, encoding=x)": np.arange(40)})
with open("a.yaml", "w") as f:
    yaml.safe_dump({"path": rows, "open(path)": [dict(r) for r in rows]}, f)
with open("a.json", "w") as f:
    json.dump({"path": rows, "open(path)": rows}, f)
with open("a.csv", "w") as f:
    f.write("path,open(path)\n" + "".join(f"{n},{n}\n" for n in range(40)))
for ending in ("sqlite", "h5", "npz", "yaml", "json", "csv"):
    with zipfile.ZipFile(ending + ".zip", "w") as z:
        z.write("a." + ending, name)
        z.write("a." + ending, name + "." + ending)
        z.writestr("x", "")
with zipfile.ZipFile("zst.zip", "w") as z, pa.CompressedOutputStream("a.csv.zst", "zstd") as f:
    f.write(open("a.csv", "rb").read())
    f.close()
    z.write("a.csv.zst", name + ".csv.zst")
    z.writestr("x", "")
secret = np.arange(40)
secret.tofile("secret.bin")
with h5py.File("secret.h5", "w") as f:
    f["v"] = secret
with h5py.File("elsewhere.h5", "w") as f:
    f["own"] = np.arange(40)
    f.create_dataset("raw", (40,), "i8", external=[("secret.bin", 0, 320)])
    layout = h5py.VirtualLayout((40,), "i8")
    layout[:] = h5py.VirtualSource("secret.h5", "v", (40,))
    f.create_virtual_dataset("virtual", layout)
    f["linked"] = h5py.ExternalLink("secret.h5", "v")
`

// long leaves a test of large files out of the quick ones.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("DSSTAR_LONG") == "" {
		t.Skip("DSSTAR_LONG is not set")
	}
}

// TestPacked: no name in an archive runs, and its tables have calls that read them, which the list
// of values runs, too.
func TestPacked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, dir, packed)
	p := start(t, dir)
	for file, called := range map[string]int{"sqlite.zip": 0, "h5.zip": 2, "npz.zip": 1, "yaml.zip": 2,
		"json.zip": 2, "csv.zip": 1, "zst.zip": 1} {
		is := p.profile(t, file)
		calls := 0
		for _, table := range is.Tables {
			if table.Call != "" {
				calls++
			}
		}
		if is.Problem != "" || calls < called {
			t.Errorf("%s: %d calls: %s", file, calls, is.Text("", 4000, near("")))
		}
		run(t, dir, profile.Values([]string{fmt.Sprintf("%q", file)}, []string{"*"}, 60, time.Minute, "mark"))
		if _, err := os.Stat(filepath.Join(dir, "PWNED.txt")); err == nil {
			t.Fatalf("%s: a name of a member has run", file)
		}
	}
	is := p.profile(t, "elsewhere.h5")
	text := is.Text("", 4000, near(""))
	if len(is.Tables) != 1 || len(is.Tables[0].Columns) != 1 || is.Tables[0].Columns[0].Name != "own" {
		t.Errorf("values of other files are told of:\n%s", text)
	}
	for _, name := range []string{"raw", "virtual", "linked"} {
		if !strings.Contains(strings.Join(is.Warnings, "\n"), name) {
			t.Errorf("nothing says that %s is not read:\n%s", name, text)
		}
	}
}

// TestLargeGroup: a Parquet file whose group of rows takes more memory than a reader may have is
// described from a sample, and a table that takes too much is said to, in words.
func TestLargeGroup(t *testing.T) {
	t.Parallel()
	long(t)
	const in = `
import pyarrow as pa, pyarrow.parquet as pq
profile = sys.modules["dsstar_profile.profile"]
texts = pa.array([f"{n // 1000:064d}" for n in range(1 << 17)])  # a page that is small when packed
pq.write_table(pa.table([texts] * 240, [f"c{n}" for n in range(240)]), "large.parquet",
    data_page_size=16 << 20, max_rows_per_page=1 << 20, use_dictionary=False, compression="zstd")
found = json.loads(profile.text("large.parquet", 60))
assert found["tables"][0]["rows"] == 1 << 17 and found["tables"][0]["call"], found
profile.MEMORY = 1 << 20
found = json.loads(profile.text("large.parquet", 60))
assert found["problem"].endswith(": it takes too much memory") and not found.get("warnings"), found
`
	run(t, t.TempDir(), in)
}

// TestLongMarkers: of a long file, too, what stands for no value is missing, whatever its case and
// the spaces around it, and infinite numbers and dates are in no range.
func TestLongMarkers(t *testing.T) {
	t.Parallel()
	long(t)
	dir := t.TempDir()
	p := start(t, dir)
	marks := []string{"NaN", " NAN ", "N/a", "nUlL", "inf", "-inf", "Infinity", " -INF"}
	var text strings.Builder
	text.WriteString("id,d,a,b,c,d2,e,f,g,h,note\n")
	const rows = 60_000
	for n := range rows {
		day := fmt.Sprintf("2024-01-%02d", n%28+1)
		if n%1000 == 7 {
			day = "infinity"
		}
		fmt.Fprintf(&text, "%d,%s", n, day)
		for _, mark := range marks {
			if n%1000 != 7 {
				mark = fmt.Sprint(n % 900)
			}
			text.WriteString("," + mark)
		}
		fmt.Fprintf(&text, ",%0120d\n", n)
	}
	is := p.facts(t, filepath.Join(dir, "long.csv"), text.String())
	if is.Rows != rows || strings.Contains(is.said(), "from a sample") {
		t.Errorf("%d rows: %s", is.Rows, is.said())
	}
	numbers := strings.Split(is.columns(), ", ")
	for n, mark := range marks {
		if got := numbers[n+2]; !strings.HasSuffix(got, " number 0 899") {
			t.Errorf("%q: %s", mark, got)
		}
		said := strings.Contains(strings.Join(is.Columns[n+2].Notes, "; "), "60 values of all rows are no numbers")
		if infinite := strings.Contains(strings.ToLower(mark), "inf"); said != infinite {
			t.Errorf("%q: %q", mark, is.Columns[n+2].Notes)
		}
	}
	if numbers[1] != "d date 2024-01-01 2024-01-28" {
		t.Error(numbers[1])
	}
}

// TestUnseen: what only rows have that are in no sample decides as well whether numbers are whole,
// what stands for missing and what a column without values in the sample has; else a type is of the
// sample.
func TestUnseen(t *testing.T) {
	t.Parallel()
	long(t)
	dir := t.TempDir()
	p := start(t, dir)
	var text strings.Builder
	text.WriteString("id,half,gap,late,word,euros,land,note\n")
	for n := range 80_000 {
		row := []any{n, n % 90, n % 80, "", "", "€ 5", []string{"NA", "NO", "DE", "FR"}[n%4], n}
		if n == 40_000 {
			row = []any{n, 0.5, " nA ", 7, "x", "€ 5", "NA", n}
		}
		fmt.Fprintf(&text, strings.Repeat("%v,", 7)+"%0120d\n", row...)
	}
	is := p.facts(t, filepath.Join(dir, "long.csv"), text.String())
	const want = "id number 0 79999, half number 0 89, gap number 0 79, late number 7 7, word text, euros number 5 5, land text, note text"
	if got := is.columns(); is.Rows != 80_000 || got != want {
		t.Errorf("%d rows of %s\nwant     %s", is.Rows, got, want)
	}
	if !strings.Contains(is.Call, `" nA "`) {
		t.Errorf("the call takes a marker for text: %s", is.Call)
	}
	told := p.profile(t, filepath.Join(dir, "long.csv")).Text("", 4000, near(""))
	for _, want := range []string{"half: number 0 to 89 (of all rows)", "late: integer", "missing in 1 of all rows",
		"euros: integer in the sample", "land: text; 4 values"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing in\n%s", want, told)
		}
	}
}

// TestDeclared: a text is read in the encoding that it declares if that is one of texts.
func TestDeclared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	for name, want := range map[string]string{"cp1250": "cp1250", "ISO-8859-2": "iso8859-2", "Shift_JIS": "shift_jis",
		"rot13": "utf-8", "zip": "utf-8", "hex": "utf-8", "idna": "utf-8", "punycode": "utf-8", "utf-7": "utf-8",
		"unicode_escape": "utf-8", "raw_unicode_escape": "utf-8", "undefined": "utf-8", "cp037": "utf-8", "nowhere": "utf-8"} {
		text := "<html><meta charset=" + name + "><table><tr><th>a<th>b" + strings.Repeat("<tr><td>x\\x41+AGE-<td>1", 5) + "</table>"
		path := filepath.Join(dir, name+".html")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var found struct{ Encoding, Problem string }
		if err := json.Unmarshal([]byte(p.line(t, path)), &found); err != nil || found.Encoding != want || found.Problem != "" {
			t.Errorf("%s: %v, %+v", name, err, found)
		}
	}
}

// TestRendering: a table of which no words can be made costs itself alone.
func TestRendering(t *testing.T) {
	t.Parallel()
	const in = `
words = sys.modules["dsstar_profile.profile"].in_words
good = {"name": "good", "rows": 2, "columns": [{"name": "v", "type": "number", "range": [1, 2]}]}
def bad(**more): return {"name": "bad", "rows": 2, "columns": [{"name": "v", "type": "number"} | more]}
for table in (bad(range=[float("nan"), 1]), bad(range=[0.5, float("inf")]), bad(range=["a"]), bad(odd=float("nan")), {}):
    found = json.loads(words({"bytes": 1, "format": "x", "tables": [table, dict(good, columns=[dict(good["columns"][0])])]}))
    assert [t["name"] for t in found["tables"]] == ["good"] and "left out" in str(found["warnings"]), found
assert json.loads(words({"bytes": 1, "format": "x", "text": 5}))["problem"]
`
	run(t, t.TempDir(), in)
}

// TestCallsLimited: reading calls that do not come to an end cost the calls alone, also those that
// no signal ends and those that end the process. What has had its time is not tried again.
func TestCallsLimited(t *testing.T) {
	t.Parallel()
	const in = `
import os, signal
hints, workers = (sys.modules["dsstar_profile." + m] for m in ("hints", "workers"))
hints.SECONDS = 0.02
def deaf():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF, signal.SIGALRM])
    os.read(os.pipe()[0], 1)
def busy():
    while True: pass
ends = [busy, deaf, lambda: os.kill(os.getpid(), signal.SIGKILL)]
hints.File.run = lambda self, call, table: ends[int(self.path[0])]()
paths = [f"{n}.csv" for n in range(len(ends))]
for path in paths:
    open(path, "w").write("a,b\n1,2\n3,4\n")
workers.main(paths, 20, 3, 60, "mark")
`
	out := run(t, t.TempDir(), in)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 {
		t.Fatal(out)
	}
	for _, line := range lines {
		file, text, _ := strings.Cut(strings.TrimPrefix(line, "mark "), " ")
		is, err := profile.Parse(text)
		if err != nil || is.Untried != (file != "0") || is.Problem != "" || len(is.Tables) != 1 || is.Tables[0].Rows != 2 || len(is.Tables[0].Columns) != 2 {
			t.Fatalf("%v: %s", err, line)
		}
		if got := is.Tables[0]; got.Call != "" || len(got.Warnings) != 1 || len(got.Raw) != 3 {
			t.Errorf("nothing says that no call was tried to its end: %s", line)
		}
	}
}

// TestOneTrouble: a file that is gone costs itself, and a table that cannot be told of costs that
// table.
func TestOneTrouble(t *testing.T) {
	t.Parallel()
	const in = `
grids, workers, masked = (sys.modules["dsstar_profile." + m] for m in ("grids", "workers", "masked"))
told = grids.Table.profile
def profile(table):
    if "bad" in table.names: raise ValueError("no such figures")
    return told(table) | ({"odd": {(1, 2): 3}} if "odd" in table.names else {})
grids.Table.profile = profile
open("some.csv", "w").write("a,b\n1,2\n3,4\n")
json.dump({"x": [{"bad": 1}, {"bad": 2}], "y": [{"v": 1}, {"v": 2}]}, open("two.json", "w"))
open("odd.csv", "w").write("a,odd\n1,2\n3,4\n")
workers.main(["gone.csv", "some.csv", "two.json", "odd.csv"], 20, 1, 60, "mark")
masked.main(["gone.csv", "two.json"], ["v"], 20, 60, "masked")
`
	out := run(t, t.TempDir(), in)
	said := map[string]string{}
	for line := range strings.Lines(out) {
		fields := strings.SplitN(line, " ", 3)
		said[strings.Join(fields[:len(fields)-1], " ")] = fields[len(fields)-1]
	}
	var all [4]profile.Profile
	for n := range all {
		is, bad := profile.Parse(said[fmt.Sprint("mark ", n)])
		if bad != nil {
			t.Fatalf("%v\n%s", bad, out)
		}
		all[n] = is
	}
	if all[0].Problem == "" || all[1].Problem != "" || len(all[1].Tables) != 1 {
		t.Errorf("%+v", all[:2])
	}
	if is := all[2]; is.Problem != "" || len(is.Tables) != 1 || is.Tables[0].Columns[0].Name != "v" || is.Tables[0].Call == "" || len(is.Warnings) != 1 {
		t.Errorf("%+v", is)
	}
	if is := all[3]; is.Problem != "" || len(is.Tables) > 0 || len(is.Warnings) != 1 {
		t.Errorf("%+v", is)
	}
	if !strings.HasPrefix(said["masked 0"], "{}") || !strings.Contains(said["masked 1"], `"problem"`) {
		t.Errorf("what is masked: %q", said)
	}
}

// TestShapes: the calls of a table are not run again for another of its shape, and are for one that
// they may read otherwise.
func TestShapes(t *testing.T) {
	t.Parallel()
	const in = `
import os
hints, profile = (sys.modules["dsstar_profile." + m] for m in ("hints", "profile"))
run, times = hints.File.run, []
hints.File.run = lambda *given: times.append(1) or run(*given)
def told(path):
    times.clear()
    return profile.text(path, 20), len(times)
def rows(word="w{}", number="{}", day="2024-01-{:02}", head="k,n,day,w\n"):
    return head + "".join(f"A{n},{number},{day},{word}\n".format(*[n % 28 + 1] * 3) for n in range(30))
texts = {"same.csv": rows("v{}", "3{}", "2023-05-{:02}"), "codes.csv": rows("00{}"), "dots.csv": rows("1.{}"),
    "minus.csv": rows(number="\u2212{}"), "marked.csv": rows(number='"1,0{}"'), "long.csv": rows(number="1344800117571260{}"),
    "days.csv": rows(day="202401{:02}"), "lines.csv": rows('"a\n{}"'), "blank.csv": rows() + "\n\n" + rows(head=""),
    "noted.csv": rows() + "Source: x\n", "names.csv": rows(head="k,n, day,w\n"), "late.csv": rows().replace("A7,8", "A7,late"),
    "missing.csv": rows().replace("A7,8", "A7,-"), "more.csv": rows() + "a,1,2024-01-01,w,5\n", "bytes.csv": rows("\x00w{}"),
    "read.csv": rows().replace("w7\n", "-NaN\n").replace("w8\n", "1.#IND\n"),
    "same.csv.gz": rows(), "same.zip": rows(), "tab.csv": rows().replace(",", "\t"), "two.csv": rows() + "\n" + rows()}
for name, text in texts.items():
    open(name, "w").write(text)
alone = {}
for name in texts:
    hints.KNOWN.clear()
    alone[name], _ = told(name)
hints.KNOWN.clear()
open("first.csv", "w").write(rows())
assert told("first.csv")[1]
for name in texts:
    known, runs = told(name)
    assert known == alone[name], name + "\n" + known + "\n" + alone[name]
    assert bool(runs) == (name != "same.csv"), name
`
	run(t, t.TempDir(), in)
}
