package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDACodeDatabases compares databases, which score as their worst table.
func TestDACodeDatabases(t *testing.T) {
	run := python(t)
	all := func(options string) string {
		return `{"func": ["compare_sqlite"], "result": [{"file": ["r.db"]}], "options": [` + options +
			`]}`
	}
	of := func(rows string) string { return "create table a (n, s); insert into a values " + rows }
	const b = "create table b (n); insert into b values (7)"
	quoted, a := strings.ReplaceAll(b, " b ", ` "order" `), of("(1, 'x'), (2, 'y')")
	both := a + ";" + b
	for _, v := range []struct {
		name, config, gold, said string // SQL
		upstream, fixed          float64
	}{
		{"the same", all(`{}`), a + ";" + b, a + ";" + b, 1, 1},
		{"half of one table", all(`{}`), both, of("(1, 'x'), (2, 'z')") + ";" + b, 0.5, 0.5},
		{"a table less", all(`{}`), a + ";" + b, a, 0, 0},
		{"one that is asked for", all(`{"condition_tabs": ["a"]}`), a + ";" + b, a, 1, 1},
		{"a column that is asked for", all(`{"condition_tabs": ["a"], "condition_cols": [[0]]}`), a,
			of("(1, 'p'), (2, 'q')"), 1, 1},
		{"rows in disorder", all(`{}`), a, of("(2, 'y'), (1, 'x')"), 0, 0},
		{"that do not matter", all(`{"ignore_order": [true]}`), a, of("(2, 'y'), (1, 'x')"), 1, 1},
		{"rows mixed", all(`{"ignore_order": [true]}`), a, of("(2, 'x'), (1, 'y')"), 1, 0.5},
		{"a name to be quoted", all(`{}`), quoted, quoted, 0, 1},
	} {
		root := write(t, map[string]string{"gold/x": "", "out/x": ""})
		for folder, sql := range map[string]string{"gold": v.gold, "out": v.said} {
			code := fmt.Sprintf("import sqlite3\ndb = "+
				"sqlite3.connect(%q)\ndb.executescript(%q)\ndb.commit()\ndb.close()",
				filepath.Join(root, folder, "r.db"), sql)
			if _, err := run(t.Context(), code); err != nil {
				t.Fatal(err)
			}
		}
		for compat, want := range map[Compat]float64{Upstream: v.upstream, Fixed: v.fixed} {
			task := Task{ID: "x", Rules: "dacode", Gold: json.RawMessage(v.config),
				GoldDir: filepath.Join(root, "gold")}
			score := scoreOf(t, Scorer{Compat: compat, Python: run}, task,
				Answer{Value: Said("r.db"), Dir: filepath.Join(root, "out")})
			if *score.Value != want {
				t.Errorf("%s, %s: %+v, not %v", v.name, compat, score, want)
			}
		}
	}
}

// TestDACodeColours: upstream checks that gold has every colour of the answer; Fixed also
// checks the reverse.
func TestDACodeColours(t *testing.T) {
	run := python(t)
	config := image("color")
	for _, v := range []struct {
		name, colours   string
		upstream, fixed float64
	}{
		{"nearly", `["#ff0808", "#0808ff"]`, 1, 1},     // 11.3 of 15
		{"not nearly", `["#ff0c0c", "#0000ff"]`, 0, 0}, // 17.0
		{"fewer", `["#ff0000"]`, 1, 0},
	} {
		root := write(t, map[string]string{"gold/plot.json": `{"color": ["#ff0000", "#0000ff"]}`,
			"out/dabench/plot.json": `{"color": ` + v.colours + `}`})
		gold, out := filepath.Join(root, "gold"), filepath.Join(root, "out")
		code := fmt.Sprintf("import numpy\nnumpy.save(%q, numpy.array([[3., 1.]]))\nfrom PIL import "+
			"Image; Image.new('RGB', (8, 6), 'white').save(%q)",
			filepath.Join(gold, "result.npy"), filepath.Join(gold, "r.png"))
		if _, err := run(t.Context(), code); err != nil {
			t.Fatal(err)
		}
		drawImage(t, run, filepath.Join(out, "r.png"))
		data, err := os.ReadFile(filepath.Join(gold, "result.npy"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(out, "dabench", "result.npy"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		for compat, want := range map[Compat]float64{Upstream: v.upstream, Fixed: v.fixed} {
			score := scoreOf(t, Scorer{Compat: compat, Python: run},
				Task{Rules: "dacode", Gold: config, GoldDir: gold}, Answer{Value: Said("r.png"), Dir: out})
			if *score.Value != want {
				t.Errorf("%s, %s: %+v, not %v", v.name, compat, score, want)
			}
		}
	}
}
