package profile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// facts are what the script says of a table, as figures.
type facts struct {
	Call     string
	Rows     int
	Raw      []string
	Warnings []string
	Columns  []struct {
		Name, Type string
		Range      []json.RawMessage
		Missing    map[string]int
		Notes      []string
	}
}

// TestTexts: of texts as programs and people write them, the columns, types, ranges and the call that
// reads them are right.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	for _, c := range []struct {
		name string
		head string
		rows []string // thirty of them, in turn, with @ for 101, 102, ...
		want string   // the columns: name type low high, …
		call string   // "": any
		says string   // in a warning or note
	}{
		// The header is shorter than the rows.
		{"ended.csv", "station,depth,level\n", []string{"@,5,1.5,\n"},
			"station number 101 130, depth number 5 5, level number 1.5 1.5", "pd.read_csv(path, index_col=False)", "index_col=False"},
		{"rownames.csv", "\"speed\",\"grade\"\n", []string{"\"car@\",@,\"B\"\n"},
			"column 1 (no name; the index in pandas) text, speed number 101 130, grade text", "pd.read_csv(path, index_col=0)", "R writes"},
		// Numbers are read with their column and their file.
		{"title.csv", "A report\n\nid;qty\n", []string{"@;@,5\n"},
			"id number 101 130, qty number 101.5 130.5", `pd.read_csv(path, sep=";", skiprows=2, decimal=",")`, ""},
		{"kg.csv", "a;kg;l\n", []string{"A@;1,@;0,@\n"},
			"a text, kg number 1.101 1.13, l number 0.101 0.13", `pd.read_csv(path, sep=";", decimal=",")`, ""},
		{"people.csv", "a;people;area\n", []string{"A@;1.@;3,1\n"},
			"a text, people number 1101 1130, area number 3.1 3.1", `pd.read_csv(path, sep=";", decimal=",", thousands=".")`, "guess"},
		{"alone.csv", "a;v\n", []string{"A@;5,@\n"}, "a text, v number 5.101 5.13", "", "guess"},
		{"after.txt", "k\tv\n", []string{"A@\t@,50-\n", "A@\t@,50\n"}, "k text, v number -129.5 130.5", "", "sign at the end"},
		{"francs.csv", "k;v\n", []string{"A@;CHF @'007.90\n"}, "k text, v number 101007.9 130007.9", "", "as text"},
		{"lakhs.csv", "k,v\n", []string{"A@,\"12,34,@\"\n"}, "k text, v number 1234101 1234130",
			`pd.read_csv(path, thousands=",")`, ""},
		{"book.csv", "k,v\n", []string{"A@,@.50 CR\n", "A@,@.50 DR\n"}, "k text, v number -130.5 129.5", "", "CR and DR"},
		{"euros.csv", "k;v\n", []string{"A@;€ 1.@,50\n"}, "k text, v number 1101.5 1130.5", "", "as text"},
		{"share.csv", "k,v\n", []string{"A@,@ %\n"}, "k text, v number 101 130", "", "%"},
		{"caps.csv", "k,v\n", []string{"A@,1.5K\n", "A@,2.5M\n"}, "k text, v number 1500 2500000", "", "powers of ten"},
		{"units.csv", "k,v\n", []string{"A@,5 kg\n", "A@,700 g\n"}, "k text, v number 5 700", "", "units differ"},
		{"ids.csv", "k,id\n", []string{"A@,1344800117571260@\n", "A@,\n"}, "k text, id number 1344800117571260101 1344800117571260129",
			`pd.read_csv(path, dtype={"id": "string"})`, "floats do not hold"},
		{"zip.csv", "k,zip\n", []string{"A@,00@\n"}, "k text, zip text", `pd.read_csv(path, dtype={"zip": "string"})`, "leading zeros"},
		// What stands for missing is no code, and a code is no missing value.
		{"lands.csv", "k,land\n", []string{"A@,NA\n", "A@,NO\n", "A@,DE\n", "A@,FR\n"}, "k text, land text",
			`pd.read_csv(path, keep_default_na=False, na_values=[""])`, "code"},
		{"none.csv", "k,v\n", []string{"A@,NA\n", "A@,@\n", "A@,-\n"}, "k text, v number 102 129",
			`pd.read_csv(path, na_values=["-"])`, ""},
		// Dates in several forms, and with what is no date.
		{"orders.csv", "k,d\n", []string{"A@,13/02/2024\n", "A@,02/14/2024\n", "A@,03/03/2024\n"}, "k text, d date 2024 2024", "", "two orders"},
		{"order.csv", "k,d\n", []string{"A@,02/03/2024\n", "A@,05/01/2024\n"}, "k text, d date 02/03/2024 05/01/2024", "", "guess"},
		{"quarters.csv", "k,d\n", []string{"A@,2010Q1\n", "A@,2012Q3\n"}, "k text, d date 2010Q1 2012Q3", "", "quarters"},
		{"open.csv", "k,d\n", []string{"A@,2024-03-01\n", "A@,2024-04-02\n", "A@,9999-12-31\n"},
			"k text, d date 2024-03-01 9999-12-31", "", "9999-12-31 (10 times)"},
		{"mixed.csv", "k,d\n", []string{"A@,2024-03-01\n", "A@,2024-04-02\n", "A@,late\n"},
			"k text, d date 2024-03-01 2024-04-02", "", `20 dates, form %Y-%m-%d (2024-03-01 to 2024-04-02), 10 texts such as "late"`},
		{"sorts.csv", "k,d\n", []string{"A@,@\n", "A@,late\n", "A@,soon\n"}, "k text, d text", "", "10 numbers (101 to 128), 20 texts"},
		// Line ends.
		{"mac.csv", "id,name\r", []string{"@,a@\r"}, "id number 101 130, name text", "pd.read_csv(path)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.head
			for n := range 30 {
				text += strings.ReplaceAll(c.rows[n%len(c.rows)], "@", fmt.Sprint(101+n))
			}
			is := p.facts(t, filepath.Join(dir, c.name), text)
			if is.Rows != 30 {
				t.Errorf("%d rows", is.Rows)
			}
			if c.call != "" && is.Call != c.call {
				t.Errorf("the call is %s\nwant        %s", is.Call, c.call)
			}
			if got := is.columns(); got != c.want {
				t.Errorf("the columns are %s\nwant            %s", got, c.want)
			}
			if said := is.said(); !strings.Contains(said, c.says) {
				t.Errorf("nothing says %q: %s", c.says, said)
			}
		})
	}
}

// facts are what the script says of the one table in a text, which it writes to a path.
func (p python) facts(t *testing.T, path, text string) facts {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var found struct{ Tables []facts }
	if line := p.line(t, path); json.Unmarshal([]byte(line), &found) != nil || len(found.Tables) != 1 {
		t.Fatalf("not one table: %s", line)
	}
	return found.Tables[0]
}

func (f facts) columns() string {
	var columns []string
	for _, c := range f.Columns {
		words := c.Name + " " + c.Type
		for _, end := range c.Range {
			words += " " + strings.TrimSuffix(strings.Trim(string(end), `"`), ".0")
		}
		columns = append(columns, words)
	}
	return strings.Join(columns, ", ")
}

// said are the warnings and notes.
func (f facts) said() string {
	said := strings.Join(f.Warnings, "\n")
	for _, c := range f.Columns {
		said += "\n" + strings.Join(c.Notes, "\n")
	}
	return said
}
