package profile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// facts are what the script says of a table, as figures.
type facts struct {
	Call       string
	Rows       int
	Count      string
	Duplicates int
	Raw        []string
	Gaps       []string
	Warnings   []string
	Columns    []struct {
		Name, Type string
		Kind       string
		Distinct   int
		Range      []json.RawMessage
		Missing    map[string]int
		Notes      []string
	}
}

// TestTexts: of texts as programs and people write them, the columns, types, ranges and the call
// that reads them are right.
func TestTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	for _, c := range []struct {
		name string
		head string
		rows []string // thirty of them, in turn, with @ for 101, 102, ...
		want string   // the columns: name type low high, …
		call string   // "": any
		says string   // in a warning or note; after "!": in none
	}{
		// The header is shorter than the rows.
		{"ended.csv", "station,depth,level\n", []string{"@,5,1.5,\n"},
			"station number 101 130, depth number 5 5, level number 1.5 1.5", "pd.read_csv(path, index_col=False)", "index_col=False"},
		{"rownames.csv", "\"speed\",\"grade\"\n", []string{"\"car@\",@,\"B\"\n"},
			"column 1 (no name; the index in pandas) text, speed number 101 130, grade text", "pd.read_csv(path, index_col=0)", "R writes"},
		// Names in several rows, and what is no name.
		{"logger.dat", "\"TOA5\",\"mast\",\"CR1000\",\"1234\"\n\"TIME\",\"RECORD\",\"Air\"\n\"TS\",\"RN\",\"Deg C\"\n\"\",\"\",\"Avg\"\n",
			[]string{"\"2024-06-01 00:00:00\",@,1.@\n"},
			"TIME date 2024-06-01 00:00:00 2024-06-01 00:00:00, RECORD number 101 130, Air number 1.101 1.13",
			"pd.read_csv(path, skiprows=[0, 2, 3])", "Deg C"},
		{"pivot.csv", ",v,v\nyear,2023,2024\nkind,x,y\nstore,,\n", []string{"A@,@,5\n"},
			"store text, v / 2023 / x number 101 130, v / 2024 / y number 5 5", "pd.read_csv(path, index_col=0, header=[0, 1, 2])", "index"},
		{"groups.csv", ",East,,West,\nplace,mm,days,mm,days\n", []string{"A@,@,5,1.@,6\n"},
			"place text, East / mm number 101 130, East / days number 5 5, West / mm number 1.101 1.13, West / days number 6 6",
			`pd.read_csv(path, skiprows=2, names=["place", "East / mm", "East / days", "West / mm", "West / days"])`, "group names"},
		// Numbers are read with their column and their file.
		{"title.csv", "A report\n\nid;qty\n", []string{"@;@,5\n"},
			"id number 101 130, qty number 101.5 130.5", `pd.read_csv(path, sep=";", skiprows=2, decimal=",")`, ""},
		{"kg.csv", "a;kg;l\n", []string{"A@;1,@;0,@\n"},
			"a text, kg number 1.101 1.13, l number 0.101 0.13", `pd.read_csv(path, sep=";", decimal=",")`, ""},
		{"people.csv", "a;people;area\n", []string{"A@;1.@;3,1\n"},
			"a text, people number 1101 1130, area number 3.1 3.1", `pd.read_csv(path, sep=";", decimal=",", thousands=".")`, ""},
		{"counts.csv", "k,n\n", []string{"A@,\"1,@\"\n", "A@,@\n", "A@,1343\n"}, "k text, n number 102 1343",
			`pd.read_csv(path, thousands=",")`, "!guess"},
		{"beside.csv", "k,n,m\n", []string{"A@,\"1,@\",5\n", "A@,\"2,@\",\"1,@\"\n"},
			"k text, n number 1101 2130, m number 5 1130", `pd.read_csv(path, thousands=",")`, "!guess"},
		{"points.csv", "k,n,m\n", []string{"A@,\"1,@\",5.@5\n"}, "k text, n number 1101 1130, m number 5.1015 5.1305",
			`pd.read_csv(path, thousands=",")`, "!guess"},
		{"open3.csv", "k,n,m\n", []string{"A@,\"1,@\",\"2,@\"\n"}, "k text, n number 1101 1130, m number 2101 2130",
			`pd.read_csv(path, thousands=",")`, `"1,101" may also be 1.101`},
		{"quoted.csv", "k,kg,l\n", []string{"A@,\"1,@\",\"0,5\"\n", "A@,3,\"0,5\"\n"},
			"k text, kg number 1.101 3, l number 0.5 0.5", `pd.read_csv(path, decimal=",")`, "!guess"},
		{"alone.csv", "a;v\n", []string{"A@;5,@\n"}, "a text, v number 5.101 5.13", "", "guess"},
		{"after.txt", "k\tv\n", []string{"A@\t@,50-\n", "A@\t@,50\n"}, "k text, v number -129.5 130.5", "", "sign at the end"},
		{"francs.csv", "k;v\n", []string{"A@;CHF @'007.90\n"}, "k text, v number 101007.9 130007.9", "", "as text"},
		{"lakhs.csv", "k,v\n", []string{"A@,\"12,34,@\"\n"}, "k text, v number 1234101 1234130",
			`pd.read_csv(path, thousands=",")`, ""},
		{"book.csv", "k,v\n", []string{"A@,@.50 CR\n", "A@,@.50 DR\n"}, "k text, v number -130.5 129.5", "", "CR and DR"},
		{"euros.csv", "k;v\n", []string{"A@;€ 1.@,50\n"}, "k text, v number 1101.5 1130.5", "", "as text"},
		{"share.csv", "k,v\n", []string{"A@,@ %\n"}, "k text, v number 101 130", "", "%"},
		{"caps.csv", "k,v\n", []string{"A@,1.5K\n", "A@,2.5M\n"}, "k text, v number 1500 2500000", "", "powers of ten"},
		{"units.csv", "k,v\n", []string{"A@,5 kg\n", "A@,700 g\n"}, "k text, v text", "", "15 kg (5 to 5)"},
		{"wide.csv", "k,v\n", []string{"A@,\uff11\uff12\uff13@\n"}, "k text, v number 123101 123130", "", "non-ASCII digits"},
		{"ids.csv", "k,id\n", []string{"A@,1344800117571260@\n", "A@,\n"}, "k text, id number 1344800117571260101 1344800117571260129",
			`pd.read_csv(path, dtype={"id": "string"})`, "floats do not hold"},
		{"huge.csv", "a,b,c\n", []string{"@18446744073709551616,@,1.@\n"}, "a number 10118446744073709551616 13018446744073709551616, b number 101 130, c number 1.101 1.13",
			"", ""},
		{"hollow.csv", "k,v\n", []string{"A@,@\n", "A@,@\n,\n"}, "k text, v number 101 130", "", "blank rows"},
		{"zip.csv", "k,zip\n", []string{"A@,00@\n"}, "k text, zip text", `pd.read_csv(path, dtype={"zip": "string"})`, "leading zeros"},
		{"unseen.csv", "A report\n\nk;n\n", []string{"A@;@;\n"}, "k text, n number 101 130",
			`pd.read_csv(path, sep=";", skiprows=2, index_col=False)`, "index_col=False"},
		{"hollow2.csv", "A report\n\nk;n;\n", []string{"A@;@;\n"}, "k text, n number 101 130, column 3 (no name; Unnamed: 2 in pandas) empty",
			`pd.read_csv(path, sep=";", skiprows=2)`, ""},
		{"headless.csv", "A report\nof us\n", []string{"@;7\n"}, "column 1 number 101 130, column 2 number 7 7",
			`pd.read_csv(path, sep=";", skiprows=2, header=None)`, ""},
		{"bare.csv", "", []string{"00@,7\n", "?,7\n"}, "column 1 text, column 2 number 7 7",
			`pd.read_csv(path, header=None, na_values=["?"], dtype={0: "string"})`, ""},
		{"dotted.csv", "k;d;n;m\n", []string{"A@;08.02.2025;1.@;1,5\n", "A@;18.02.2025;1.@;1,5\n"},
			"k text, d date 08.02.2025 18.02.2025, n number 1101 1130, m number 1.5 1.5",
			`pd.read_csv(path, sep=";", decimal=",", thousands=".", dtype={"d": "string"})`, ""},
		{"comma.html", "<table><tr><th>k</th><th>n</th></tr>", []string{"<tr><td>A@</td><td>1,@5</td></tr>"},
			"k text, n number 1.1015 1.1305", `pd.read_html(path, decimal=",", thousands=None)[0]`, ""},
		{"commas.csv", "k;last, first\n", []string{"@;-1,@\n"}, "k number 101 130, last, first number -1.13 -1.101",
			`pd.read_csv(path, sep=";", decimal=",")`, ""},
		{"columns.txt", "day    mm   n\n", []string{"A@  1,5  7\n", "A@  2,5  7\n", "A@  -    7\n"}, "day text, mm number 1.5 2.5, n number 7 7",
			`pd.read_csv(path, sep=r"\s+", decimal=",", na_values=["-"])`, ""},
		{"dotted.html", "<table><tr><th>d<th>n<th>m", []string{"<tr><td>08.02.2025<td>1.@.000<td>1,5", "<tr><td>18.02.2025<td>1.@.000<td>1,5"},
			"d date 08.02.2025 18.02.2025, n number 1101000 1130000, m number 1.5 1.5", `pd.read_html(path, thousands=None)[0]`, ""},
		{"page.html", "<table><tr><th>k</th><th>n</th></tr>", []string{"<tr><td>00@</td><td>@</td></tr>", "<tr><td>00@</td><td>?</td></tr>"},
			"k text, n number 101 129", `pd.read_html(path, na_values=["?"], converters={"k": str})[0]`, ""},
		// What stands for missing is no code, and a code is no missing value.
		{"lands.csv", "k,land\n", []string{"A@,NA\n", "A@,NO\n", "A@,DE\n", "A@,FR\n"}, "k text, land text",
			`pd.read_csv(path, keep_default_na=False, na_values=[""])`, "code"},
		{"none.csv", "k,v\n", []string{"A@,NA\n", "A@,@\n", "A@,-\n"}, "k text, v number 102 129",
			`pd.read_csv(path, na_values=["-"])`, ""},
		{"states.csv", "k,v,land\n", []string{"A@,null,NA\n", "A@,@,NO\n", "A@,@,DE\n", "A@,@,FR\n"}, "k text, v number 102 130, land text",
			`pd.read_csv(path, keep_default_na=False, na_values=["", "null"])`, "code"},
		// Dates in several forms, and with what is no date.
		{"orders.csv", "k,d\n", []string{"A@,13/02/2024\n", "A@,02/14/2024\n", "A@,03/03/2024\n"}, "k text, d date 2024 2024", "", "two orders"},
		{"order.csv", "k,d\n", []string{"A@,02/03/2024\n", "A@,05/01/2024\n"}, "k text, d date 02/03/2024 05/01/2024", "", "guess"},
		{"once.csv", "k,d\n", append([]string{"A@,13/02/2024\n", "A@,02/14/2024\n"}, slices.Repeat([]string{"A@,01/02/2024\n"}, 28)...),
			"k text, d date 2024 2024", "", "two orders"},
		{"same.csv", "k,d\n", []string{"A@,02/02/2024\n", "A@,03/03/2024\n"}, "k text, d date 02/02/2024 03/03/2024", "", "no difference"},
		{"year.csv", "k,d\n", []string{"A@,24.01.11\n", "A@,23.02.12\n"}, "k text, d date 24.01.11 23.02.12", "", "%y.%m.%d fits"},
		{"day.csv", "k,d\n", []string{"A@,24.01.11\n", "A@,28.02.12\n"}, "k text, d date 24.01.11 28.02.12", "", "!fits"},
		{"clock.csv", "k,d\n", []string{"A@,01:30\n", "A@,12:45\n"}, "k text, d date 01:30 12:45", "", "a guess"},
		{"ending.csv", "k,d\n", []string{"A@,Jan-05\n", "A@,May-21\n"}, "k text, d date Jan-05 May-21", "", "%b-%d fits"},
		{"series.csv", "k,d\n", []string{"A@,200101\n", "A@,200112\n"}, "k text, d date 200101 200112", "", "a guess"},
		{"months.csv", "k,d\n", []string{"A@,200101\n", "A@,200212\n"}, "k text, d date 200101 200212", "", "!guess"},
		{"quarters.csv", "k,d\n", []string{"A@,2010Q1\n", "A@,2012Q3\n"}, "k text, d date 2010Q1 2012Q3", "", "quarters"},
		{"open.csv", "k,d\n", []string{"A@,2024-03-01\n", "A@,2024-04-02\n", "A@,9999-12-31\n"},
			"k text, d date 2024-03-01 9999-12-31", "", "9999-12-31 (10 times)"},
		{"mixed.csv", "k,d\n", []string{"A@,2024-03-01\n", "A@,2024-04-02\n", "A@,late\n"},
			"k text, d date 2024-03-01 2024-04-02", "", `20 dates, form %Y-%m-%d (2024-03-01 to 2024-04-02), 10 texts such as "late"`},
		{"sorts.csv", "k,d\n", []string{"A@,@\n", "A@,late\n", "A@,soon\n"}, "k text, d text", "", "10 numbers (101 to 128), 20 texts"},
		// Encodings, which are guesses.
		{"cp1251.csv", "\xe3\xee\xf0\xee\xe4;n\n", []string{"\xcc\xee\xf1\xea\xe2\xe0 @;@\n", "\xd2\xe0\xed\xfc\xff @;@\n"},
			"город text, n number 101 130", `pd.read_csv(path, sep=";", encoding="cp1251")`, ""},
		{"cp850.csv", "Ort;n\n", []string{"M\x81nchen @;@\n", "Stra\xe1e @;@\n"}, "Ort text, n number 101 130",
			`pd.read_csv(path, sep=";", encoding="cp850")`, ""},
		{"sjis.csv", "\x93s\x8es,n\n", []string{"\x93\x8c\x8b\x9e@,@\n", "\x91\xe5\x8d\xe3@,@\n"}, "都市 text, n number 101 130",
			`pd.read_csv(path, encoding="cp932")`, ""},
		{"dash.csv", "k,n\n", []string{"Home \x96 new @,@\n", "Home \x97 old @,@\n"}, "k text, n number 101 130",
			`pd.read_csv(path, encoding="cp1252")`, ""},
		{"apostrophe.csv", "k,n\n", []string{"A fire\x92s front @,@\n"}, "k text, n number 101 130",
			`pd.read_csv(path, encoding="cp1252")`, ""},
		{"space.csv", "k,n\n", []string{"One.\xa0 Two @,@\n", "A \x93word\x94 @,@\n"}, "k text, n number 101 130",
			`pd.read_csv(path, encoding="cp1252")`, ""},
		{"malmo.csv", "k;n\n", []string{"Malm\x94;@\n", "Ume\x86;@\n"}, "k text, n number 101 130",
			`pd.read_csv(path, sep=";", encoding="cp850")`, ""},
		// Quotes, escapes and marks.
		{"escaped.csv", "k,said,v\n", []string{`@,"she said \"fine, ok\"",@` + "\n"}, "k number 101 130, said text, v number 101 130",
			`pd.read_csv(path, escapechar="\\", doublequote=False)`, ""},
		{"spaced.csv", "k, name, v\n", []string{"@, \"Doe, J@\", @\n"}, "k number 101 130, name text, v number 101 130",
			"pd.read_csv(path, skipinitialspace=True)", ""},
		{"single.csv", "k,name,v\n", []string{"@,'Doe, J@',@\n"}, "k number 101 130, name text, v number 101 130",
			`pd.read_csv(path, quotechar="'")`, ""},
		{"ended names.csv", "\"k\",\"last, first\"\n", []string{"\"@\",\"a@\",\n"}, "k number 101 130, last, first text",
			"pd.read_csv(path, index_col=False)", ""},
		{"decimals.tsv", "A report\nof commas\n\nlast, first\tlevel\n", []string{"@\t0,5\n"},
			"last, first number 101 130, level number 0.5 0.5", `pd.read_csv(path, sep="\t", skiprows=3, decimal=",")`, ""},
		{"keys.csv", "k,n,w\n", []string{"@,5,A\n", "@,,\n"}, "k number 101 130, n number 5 5, w text", "pd.read_csv(path)", ""},
		{"bars.txt", "k||name||v\n", []string{"@||a@||@\n"}, "k number 101 130, name text, v number 101 130",
			`pd.read_csv(path, sep=r"\|\|", engine="python")`, ""},
		{"table.txt", "\"len\" \"kind\"\n", []string{"\"@\" 1.@ \"a b\"\n"},
			"column 1 (no name; the index in pandas) number 101 130, len number 1.101 1.13, kind text",
			`pd.read_csv(path, sep=r"\s+", index_col=0)`, ""},
		{"panel.tsv", "gdp\tpop\n", []string{"A@\t2010\t@\t5\n"},
			"column 1 (no name; the index in pandas) text, column 2 (no name; the index in pandas) number 2010 2010, gdp number 101 130, pop number 5 5",
			`pd.read_csv(path, sep="\t", index_col=[0, 1])`, ""},
		{"noted.csv", "k,v\n", []string{"A@,@\n", "A@,@\n# a pause\n"}, "k text, v number 101 130", `pd.read_csv(path, comment="#")`, ""},
		{"nul.csv", "k,v\n", []string{"A@,@\n", "A\x00@,@\n"}, "k text, v number 101 130", "pd.read_csv(path)", ""},
		// Commas of numbers between spaces, and between fields with spaces.
		{"decimal.dat", "", []string{"A@ 1,5 2,@\n"}, "column 1 text, column 2 number 1.5 1.5, column 3 number 2.101 2.13", "", ""},
		{"both.csv", "", []string{"05/24/1991,@ 055\n"}, "column 1 date 05/24/1991 05/24/1991, column 2 number 101055 130055", "", ""},
		// Line ends.
		{"separators.csv", "id,text\n", []string{"@,a\u2028b\u0085c\vd\n"}, "id number 101 130, text text", "pd.read_csv(path)", ""},
		{"separators.jsonl", "", []string{"{\"id\": @, \"text\": \"a\u2028b\u0085c\"}\n"}, "id number 101 130, text text",
			"pd.read_json(path, lines=True, dtype=False, convert_dates=False)", ""},
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
			word, not := strings.CutPrefix(c.says, "!")
			if said := is.said(); strings.Contains(said, word) == not {
				t.Errorf("whether it says %q is %v: %s", word, not, said)
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

// TestShownAlike: values of which the same is shown are told apart by what is not.
func TestShownAlike(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var rows []string
	for n := range 40 {
		name, size := strings.Repeat("a", 60)+string(rune('x'+n%3)), "null"
		if n%3 == 2 {
			name, size = "z", "5"
		}
		const row = `{"name": %q, "size": %s, "of": %[2]s, "wide": 1.0000000000%02d, "in": [1, "%s%[3]d"]}`
		rows = append(rows, fmt.Sprintf(row, name, size, n/2, strings.Repeat("b", 700)))
	}
	path := filepath.Join(dir, "alike.json")
	is := start(t, dir).facts(t, path, "["+strings.Join(rows, ",\n")+"]")
	if is.Duplicates != 0 || len(is.Gaps) != 1 || strings.Contains(is.Gaps[0], "aaa") {
		t.Errorf("%d rows repeat another, gaps: %q", is.Duplicates, is.Gaps)
	}
	for n, want := range []int{3, 1, 1, 20, 21} {
		if c := is.Columns[n]; c.Distinct != want {
			t.Errorf("%s has %d values, want %d", c.Name, c.Distinct, want)
		}
	}
}

// TestFootnote: a last line with one field is no row of a table of two columns, also where not all
// rows are looked at.
func TestFootnote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	for pairs, name := range map[int]string{15: "short.csv", 25_500: "sample.csv", 26_000: "parts.csv"} {
		text := "k,n\n" + strings.Repeat(strings.Repeat("A", 1+pairs/26_000*340)+",5\nB,7\n", pairs) + "Source: the office\n"
		is := p.facts(t, filepath.Join(dir, name), text)
		if got := is.columns(); is.Rows != 2*pairs || got != "k text, n number 5 7" ||
			!strings.Contains(is.Call, "skipfooter=1") {
			t.Errorf("%s: %d rows of %s by %s", name, is.Rows, got, is.Call)
		}
	}
}

// TestNoNote: the last lines of a text are rows where they may be: a number, or a part of a cell.
func TestNoNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	for name, end := range map[string]string{
		"alone.csv": "51000\n51001\n", "cell.csv": "51000,,\"the last words\nhave three lines\nand end here\"\n51001,1,x\n",
		"open.csv": "51000,1,x\n51001,,\"the last words\nhave three lines\nand end here\"\n",
	} {
		var text strings.Builder
		text.WriteString("id,n,text\n")
		for n := range 51_000 {
			fmt.Fprintf(&text, "%d,%d,some words\n", n, n%7)
		}
		is := p.facts(t, filepath.Join(dir, name), text.String()+end)
		said := is.said()
		if is.Rows != 51_002 || strings.Contains(is.Call, "skipfooter") || strings.Contains(said, " -") {
			t.Errorf("%s: %d rows by %s: %s", name, is.Rows, is.Call, said)
		}
	}
	if is := p.facts(t, filepath.Join(dir, "two.csv"), "id,text\n"+strings.Repeat("7,a b\n", 30)+"30\n31\n"); is.Rows != 32 {
		t.Errorf("%d rows", is.Rows)
	}
	if is := p.facts(t, filepath.Join(dir, "people.csv"), "name,mon,tue\nAnn,1,0\nBo,0,1\nCy,0,0\nMax,1,1\n"); is.Rows != 4 {
		t.Errorf("%d rows", is.Rows)
	}
}

// TestLateCodes: codes that only rows outside of the sample have are no numbers.
func TestLateCodes(t *testing.T) {
	t.Parallel()
	long(t)
	dir := t.TempDir()
	late := "k,zip\n" + strings.Repeat("some words that fill the row,\n", 400_000) + strings.Repeat("x,00123\n", 5)
	if is := start(t, dir).facts(t, filepath.Join(dir, "late.csv"), late); strings.Contains(is.columns(), "zip number") {
		t.Errorf("%s", is.columns())
	}
}

// TestNoHeader: numbers and dates are no names, however they are dressed.
func TestNoHeader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	is := start(t, dir).facts(t, filepath.Join(dir, "bare.csv"),
		"1990-02-19,-38'181.01,12/05/24\n1990-05-13,-7'555.88,04/30/25\n1991-11-03,12'309.71,05/03/24\n")
	if got := is.columns(); is.Rows != 3 || !strings.HasPrefix(got, "column 1 date") {
		t.Errorf("%d rows of %s", is.Rows, got)
	}
}

// TestParts: of a long file, no place is read twice, each figure says whether it is of all rows,
// and rows that only the end has are counted.
func TestParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	var text strings.Builder
	text.WriteString("id;steps;place;day\n")
	const rows = 120_000
	for n := range rows {
		steps := fmt.Sprintf("%d,5", n%900)
		if n > rows-1000 {
			steps = "late"
		}
		fmt.Fprintf(&text, "%d;%s;\u2028%060d;%02d.01.%d\n", n, steps, n*7919%rows, n%28+1, 2000+n/40_000)
	}
	is := p.facts(t, filepath.Join(dir, "long.csv"), text.String())
	if is.Rows != rows || is.Duplicates > 0 || is.Call != `pd.read_csv(path, sep=";", decimal=",")` {
		t.Errorf("%d rows, %d of them again, call %s", is.Rows, is.Duplicates, is.Call)
	}
	const want = "id number 0 119999, steps number 0.5 899.5, place text, day date 01.01.2000 28.01.2002"
	if got := is.columns(); got != want {
		t.Errorf("the columns are %s\nwant            %s", got, want)
	}
	if said := is.said(); !strings.Contains(said, "999 values of all rows are no numbers") {
		t.Errorf("nothing says how many values are no numbers: %s", said)
	}
}

// TestNoData: what stands in the place of data is called what it is.
func TestNoData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	for name, c := range map[string]struct{ text, format, says string }{
		"lfs.csv":      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "Git LFS pointer", "12345"},
		"page.csv":     {"<!DOCTYPE html><html><body><form><input type=\"password\"></form></body></html>", "HTML", "login page"},
		"blank.json":   {strings.Repeat(" ", 33<<20), "JSON", "nothing was read"},
		"~$sales.xlsx": {"\x05Alice" + strings.Repeat(" \x00", 80), "Excel lock file", "sales.xlsx"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		is := p.profile(t, path)
		if said := strings.Join(is.Warnings, "\n"); is.Format != c.format || !strings.Contains(said, c.says) || len(is.Tables) > 0 {
			t.Errorf("%s is %s: %s", name, is.Format, said)
		}
	}
}
