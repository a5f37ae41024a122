package files

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

func openRoot(t testing.TB, dir string, also ...string) *Folder {
	t.Helper()
	d, err := Open(dir, also)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// lookAll writes files and looks at them.
func lookAll(t testing.TB, head int, content map[string]string) map[string]Look {
	t.Helper()
	data := t.TempDir()
	for name, c := range content {
		write(t, filepath.Join(data, name), c)
	}
	root := openRoot(t, data)
	looks := map[string]Look{}
	for name, c := range content {
		look, err := LookAt(root, File{name, int64(len(c))}, head)
		if err != nil {
			t.Fatal(err)
		}
		if len(look.Head) > head || !utf8.ValidString(look.Head) || !utf8.ValidString(look.Kind) ||
			!utf8.ValidString(look.Shape) {
			t.Errorf("%s: not within bounds: %+v", name, look)
		}
		looks[name] = look
	}
	return looks
}

func zipped(t testing.TB, members ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser,
		error) {
		return flate.NewWriter(w, flate.BestSpeed)
	})
	for i := 0; i < len(members); i += 2 {
		m, err := w.Create(members[i])
		if err == nil {
			_, err = m.Write([]byte(members[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

// xlsx makes a workbook with sheets of the given names; the first has rows, stored as Excel
// stores them.
func xlsx(t testing.TB, sheets []string, rows ...[]string) string {
	t.Helper()
	const of = "http://schemas.openxmlformats.org/"
	const main = `xmlns="` + of + `spreadsheetml/2006/main" xmlns:r="` + of +
		`officeDocument/2006/relationships"`
	var book, rels, sheet, shared strings.Builder
	for i, name := range sheets {
		fmt.Fprintf(&book, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, name, i+1, i+1)
		fmt.Fprintf(&rels, `<Relationship Id="rId%d" Type="t" Target="worksheets/sheet%d.xml"/>`, i+1,
			i+1)
	}
	n := 0
	for r, row := range rows {
		fmt.Fprintf(&sheet, `<row r="%d">`, r+1)
		for c, cell := range row {
			switch {
			case cell == "":
			case isData(cell):
				fmt.Fprintf(&sheet, `<c r="%c%d"><v>%s</v></c>`, 'A'+c, r+1, cell)
			default:
				fmt.Fprintf(&sheet, `<c r="%c%d" t="s"><v>%d</v></c>`, 'A'+c, r+1, n)
				fmt.Fprintf(&shared, `<si><t>%s</t></si>`, cell)
				n++
			}
		}
		sheet.WriteString("</row>")
	}
	return zipped(t, "[Content_Types].xml", "<Types/>",
		"xl/workbook.xml", "<workbook "+main+"><sheets>"+book.String()+"</sheets></workbook>",
		"xl/_rels/workbook.xml.rels", "<Relationships>"+rels.String()+"</Relationships>",
		"xl/worksheets/sheet1.xml",
		"<worksheet "+main+"><sheetData>"+sheet.String()+"</sheetData></worksheet>",
		"xl/sharedStrings.xml", "<sst>"+shared.String()+"</sst>")
}

// database makes the first page of an SQLite database with tables of the given SQL.
func database(tables map[string]string) string {
	page := make([]byte, 4096)
	copy(page, "SQLite format 3\x00\x10\x00\x01\x01")
	page[100] = 0x0d
	end, at := len(page), 108
	for name, sql := range tables {
		types := []byte{6 + 1, 2*5 + 13, byte(2*len(name) + 13), byte(2*len(name) + 13), 1,
			0x80 | byte((2*len(sql)+13)>>7), byte(2*len(sql)+13) & 0x7f}
		payload := string(types) + "table" + name + name + "\x02" + sql
		cell := append([]byte{0x80 | byte(len(payload)>>7), byte(len(payload)) & 0x7f, 1}, payload...)
		end -= copy(page[end-len(cell):], cell)
		page[at], page[at+1] = byte(end>>8), byte(end)
		at += 2
		page[104]++
	}
	return string(page)
}

func encoded(t testing.TB, s, how string) string {
	t.Helper()
	encoders := map[string]interface{ String(string) (string, error) }{
		"16le+": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder(),
		"16be+": unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder(),
		"16le":  unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder(),
		"16be":  unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder(),
		"1252":  charmap.Windows1252.NewEncoder(), "1251": charmap.Windows1251.NewEncoder(),
	}
	out, err := encoders[how].String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// columns returns a header of n columns.
func columns(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "column_%d,", i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func TestLookAt(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 48))); err != nil {
		t.Fatal(err)
	}
	const table = "name,size\nGröße,1\nÄhre,2\nOlé,3\n"
	for _, c := range []struct{ name, content, format, kind, encoding string }{
		{"empty.csv", "", "empty", "empty", ""},
		{"a.csv", table, "csv", "CSV, 2 columns", "UTF-8"},
		{"bom.csv", "\uFEFF" + table, "csv", "CSV, 2 columns, UTF-8 with BOM", "UTF-8 with BOM"},
		{"16le+.csv", encoded(t, table, "16le+"), "csv", "CSV, 2 columns, UTF-16LE", "UTF-16LE"},
		{"16be.csv", encoded(t, table, "16be"), "csv", "CSV, 2 columns, UTF-16BE", "UTF-16BE"},
		{"latin.csv", encoded(t, table, "1252"), "csv", "CSV, 2 columns, Windows-1252", "Windows-1252"},
		{"russian.csv", encoded(t, "имя,число\nВладимир,1\n", "1251"), "csv",
			"CSV, 2 columns, not in UTF-8 (encoding unknown)", "unknown"},
		{"late.csv", "id,name\n" + strings.Repeat("1,abcdefgh\n", 30_000) + "2,Ol\xe9\n", "csv",
			"CSV, 2 columns, Windows-1252", "Windows-1252"},
		{"hurt.csv", table + "a\xff,3\n", "csv", "CSV, 2 columns, some bytes are not valid UTF-8",
			"UTF-8"},
		{"semicolon.csv", "a;b\n1,5;2,5\n3,5;4,5\n", "csv", "CSV, 2 columns, delimiter ';'", "UTF-8"},
		{"bars.csv", "a,b,c,d\n1,x|y,3,4\n4,x|z,6,4\n", "csv", "CSV, 4 columns", "UTF-8"},
		{"tab.tsv", "a\tb\n1\t2\n", "tsv", "TSV, 2 columns", "UTF-8"},
		{"quoted.csv", "\"a, or\nb\",\"c\"\"d\"\n1,2\n", "csv", "CSV, 2 columns", "UTF-8"},
		{"one.csv", "name\nAda\nBob\n", "csv", "CSV, 1 column", "UTF-8"},
		{"titled.csv", "Sales of 2020\n\nyear,shop,sales\n2020,a,1\n2020,b,2\n", "csv",
			"CSV, 3 columns, header in line 3", "UTF-8"},
		{"comments.csv", "# by a, b\n# units: K\nyear,t\n2020,1\n2021,2\n", "csv",
			"CSV, 2 columns, header in line 3", "UTF-8"},
		{"bare.csv", "1,2.5,x\n2,3.5,y\n", "csv", "CSV, 3 columns, no header", "UTF-8"},
		{"years.csv", "country,2019,2020\nFrance,1,2\n", "csv", "CSV, 3 columns", "UTF-8"},
		{"days.csv", "2020-01-01,5\n2020-01-02,6\n", "csv", "CSV, 2 columns, no header", "UTF-8"},
		{"settings.csv", "Source,Bank,,\nUpdated,2024-01-01,,\nname,code,n,m\nAruba,ABW,1,2\n", "csv",
			"CSV, 4 columns, header in line 3", "UTF-8"},
		{"mac.csv", "a,b\r1,2\r3,4\r", "csv", "CSV, 2 columns", "UTF-8"},
		{"bmi.csv", "BMI,age\n1,2\n", "csv", "CSV, 2 columns", "UTF-8"}, // begins as a bitmap does
		{"prose.txt", "A line, with a comma.\nAnother one\nand, so, on\n", "text", "text, 3 lines",
			"UTF-8"},
		{"code.py", "a, b = 1, 2\nc, d = 3, 4\ne, f = 5, 6\n", "code", "Python source code", "UTF-8"},
		{"dump.sql", "INSERT INTO t VALUES (1);\n" + strings.Repeat("-- x\n", 220_000), "text", "text",
			"UTF-8"}, // data
		{"wide.csv", columns(5000) + "\n" + columns(5000) + "\n", "csv", "CSV, 5000 columns", "UTF-8"},
		{"endless.csv", columns(100_000) + "\n", "csv", "CSV, at least 21020 columns", "UTF-8"},
		{"r.md", "# Title\n\n<b>x</b>", "markdown", "Markdown document", "UTF-8"},
		{"a.json", `{"name": "x", "tags": [1, 2]}`, "json", "JSON object with 2 keys: name, tags",
			"UTF-8"},
		{"list.json", `[{"id": 1, "a": {"b": 2}}, {"id": 2, "c": 3}]`, "json",
			"JSON array of 2 elements, keys of a record: a, c, id", "UTF-8"},
		{"ids.json", `{"1001": {"x": 1, "y": 2}, "1002": {"x": 3, "y": 4}}`, "json",
			`JSON object by key (such as "1001"), keys of a record: x, y`, "UTF-8"},
		{"cut.json", `{"name": "x", "rows": [{"id": 1}, {"i`, "json",
			"JSON object with at least 2 keys: name, rows, cut off", "UTF-8"},
		{"nan.json", `[{"id": 1, "v": NaN}]`, "json",
			"JSON array, keys of a record: id, v, not valid JSON after byte 16", "UTF-8"},
		{"a.jsonl", "{\"id\": 1}\n{\"id\": 2, \"n\": null}\n", "jsonl",
			"JSON lines, keys of a record: id, n", "UTF-8"},
		{"a.ini", "[section]\nkey = value\n", "text", "text, 2 lines", "UTF-8"},
		{"notes.txt", "[1] A reference\n[2] Another\n", "text", "text, 2 lines", "UTF-8"},
		{"a.xml", `<?xml version="1.0" encoding="latin1"?><!-- x --><rows><row/></rows>`, "xml",
			"XML document, root element rows", "UTF-8"},
		{"a.html", "<!DOCTYPE html><title>A &amp;\nB</title><p>x", "html", `HTML page, title "A & B"`,
			"UTF-8"},
		{"page.xls", "<html><table><tr><td>1", "html", "HTML page, although its name ends in .xls",
			"UTF-8"},
		{"a.png", picture.String(), "image", "PNG image, 64 x 48", ""},
		{"cut.png", picture.String()[:20], "image", "PNG image", ""},
		{"a.pdf", "%PDF-1.7\n1 0 obj", "pdf", "PDF document", ""},
		{"a.parquet", "PAR1\x15\x04\x15\x00\x00\x00PAR1", "parquet", "Parquet", ""},
		{"a.h5", "\x89HDF\r\n\x1a\n\x00\x00\x00", "hdf5", "HDF5", ""},
		{"a.db", "SQLite format 3\x00\x10\x00\x01", "sqlite", "SQLite database, cut off", ""},
		{"a.sqlite", database(map[string]string{"shop": "CREATE TABLE shop (id INTEGER,\n name TEXT)",
			"sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl)"}), "sqlite",
			"SQLite database with 1 table: shop", ""},
		{"a.bin", "\x00\x01\x02\x03\x04\xfe", "binary", "binary", ""},
		{"a.csv.gz", gzipped(table), "gzip", "gzip-compressed CSV, 2 columns", "UTF-8"},
		{"cut.csv.gz", gzipped(table)[:8], "gzip", "gzip-compressed, damaged", ""},
		{"short.csv.gz", gzipped(table + table)[:30], "gzip", "gzip-compressed CSV, 2 columns, damaged",
			"UTF-8"},
		{"a.zip", zipped(t, "d/a1.csv", "x", "d/a2.csv", "y"), "zip", "ZIP archive of 2 files", ""},
		{"cut.xlsx", xlsx(t, []string{"A"})[:200], "zip",
			"ZIP archive, damaged: its directory cannot be read, although its name ends in .xlsx", ""},
		{"a.xlsx", xlsx(t, []string{"A", "B"}, []string{"id", "", "name"}, []string{"1", "", "x"}),
			"xlsx", "Excel workbook with 2 sheets: A, B", ""},
		{"a.docx", zipped(t, "word/document.xml", "x"), "docx", "Word document", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			look := lookAll(t, 1000, map[string]string{c.name: c.content})[c.name]
			if look.Format != c.format || look.Kind != c.kind || look.Encoding != c.encoding {
				t.Errorf("got  %s: %s (%s)\nwant %s: %s (%s)", look.Format, look.Kind, look.Encoding, c.format,
					c.kind, c.encoding)
			}
		})
	}
}

func TestHead(t *testing.T) {
	long := strings.Repeat("é", 100)
	for _, c := range []struct {
		name, content string
		head          int
		want          string
		whole         bool
	}{
		{"a.txt", "a\r\nb\r\n", 10, "a\nb\n", true},
		{"a.txt", "aaa\nbbb\nccc", 8, "aaa\nbbb\n", false},
		{"a.txt", "a\n" + long, 12, "a\nééé…", false},
		{"a.txt", long, 9, "ééé…", false},
		{"a.txt", long, 0, "", false},
		{"a.csv", encoded(t, "é\n1\n", "16le+"), 10, "é\n1\n", true},
		{"a.zip", zipped(t, "b/c.csv", "x", "d.csv", "y"), 100, "b/c.csv\nd.csv", false},
		{"a.zip", zipped(t, "b/c.csv", "x", "d.csv", "y"), 9, "b/c.csv\n", false},
		{"a.db", database(map[string]string{"t": "CREATE TABLE t (\n a INTEGER,\n b TEXT)"}), 100,
			"CREATE TABLE t ( a INTEGER, b TEXT)", false},
		{"a.gz", gzipped("a,b\n1,2\n"), 100, "a,b\n1,2\n", true},
		{"a.xlsx", xlsx(t, []string{"A"}, []string{"id", "", "name, or so"}, []string{"1"}), 100,
			"id,,\"name, or so\"\n1,,\n", false},
	} {
		if look := lookAll(t, c.head,
			map[string]string{c.name: c.content})[c.name]; look.Head != c.want || look.Whole != c.whole {
			t.Errorf("%q at most %d bytes of %q: %q, %v; want %q, %v", c.name, c.head, c.content, look.Head,
				look.Whole, c.want, c.whole)
		}
	}
}

// Each entry is a folder: names of one family begin with the same letter.
func TestFamilies(t *testing.T) {
	many := func(n int, what string) string { return strings.Repeat(what, n) }
	for about, content := range map[string]map[string]string{
		"one header": {"a_2019.csv": "id,sales\n1,2\n", "a_2020.csv": "id,sales\n3,x\n",
			"b.csv": "id,name\n1,x\n", "c.csv": "id;sales\n1;2\n"},
		"years in headers": {"a_2019.csv": "id,sales 2019\n1,2\n", "a_2020.csv": "id,sales 2020\n3,4\n",
			"b_2020.csv": "id,cost 2020\n3,4\n"},
		"days as columns": {"a1.csv": "x,2020-01-30,2020-01-31\na,1,2\n",
			"a2.csv": "x,2020-02-27,2020-02-28,2020-02-29\na,1,2,3\n"},
		"no headers": {"a1.csv": "1,2,x\n3,4,y\n", "a2.csv": "5,6,z\n7,,z\n",
			"b.csv": "1,x,2\n3,x,4\n"},
		"titles": {"a_north.csv": "Sales of North\n\nid,n\n1,2\n3,4\n",
			"a_south.csv":  "Sales of South\n\nid,n\n1,2\n3,4\n", // about the file
			"b/kansas.csv": "Costs\n\nid,n\n1,2\n3,4\n", "b/texas.csv": "Costs\n\nid,n\n1,2\n3,4\n",
			"c/texas.csv": "Debts\n\nid,n\n1,2\n3,4\n"},
		"lengths": {"a1.csv": "id,n\n1,2\n", "a2.csv": "id,n\n" + many(100_000, "1,2\n")},
		"json": {"a1.json": `{"x": 1, "y": [1]}`, "a2.json": `{"y": [], "x": 2}`,
			"b.json": `{"x": 1}`, "c1.json": `[{"x": 1}]`, "c2.json": "[" + many(100_000, `{"x": 1}, `) +
				"{}]"},
		"jsonl": {"a1.jsonl": "{\"x\": 1}\n", "a2.jsonl": many(100_000, "{\"x\": 1}\n"),
			"b.jsonl": "{\"y\": 1}\n{\"y\": 1}\n"},
		"xlsx": {"a1.xlsx": xlsx(t, []string{"North"}, []string{"id", "name"}),
			"a2.xlsx": xlsx(t, []string{"South"}, []string{"id", "name"}),
			"b1.xlsx": xlsx(t, []string{"A 2019", "B"}, []string{"id"}),
			"b2.xlsx": xlsx(t, []string{"A 2020", "B"}, []string{"id"}),
			"c.xlsx":  xlsx(t, []string{"A", "C"}, []string{"id"})},
		"gzip": {"a1.csv.gz": gzipped("id,n\n1,2\n"), "a2.csv.gz": gzipped("id,n\n3,2\n"),
			"b.csv.gz": gzipped("id,m\n3,2\n"), "c.csv": "id,n\n1,2\n"},
		"images": {"a/x.gif": "GIF89a\x01\x00\x01\x00", "a/y.gif": "GIF89a\x01\x00\x01\x00",
			"b/z.gif": "GIF89a\x01\x00\x01\x00"},
	} {
		looks := lookAll(t, 100, content)
		for a, x := range looks {
			for b, y := range looks {
				if same := x.Shape == y.Shape && x.Shape != ""; same != (a[0] == b[0]) && a != b {
					t.Errorf("%s: %s and %s have the shapes %q and %q", about, a, b, x.Shape, y.Shape)
				}
			}
		}
	}
	got := Families([]Look{{Shape: "x"}, {}, {Shape: "y"}, {Shape: "x"}, {}, {Shape: "y"}})
	if want := [][]int{{0, 3}, {1}, {2, 5}, {4}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Wherever reading stops, what was read is used, without an error.
func TestCutJSON(t *testing.T) {
	const content = `{"a": "b\u00e9", "c": [1.5e3, true, null, {"d": -1}], "e": {"f": false}}`
	for n := 1; n < len(content); n++ {
		look := lookAll(t, 10, map[string]string{"a.json": content[:n]})["a.json"]
		if look.Format != "json" || !strings.HasSuffix(look.Kind, ", cut off") || n > 5 &&
			!strings.Contains(look.Kind, ": a") || n > 20 && !strings.Contains(look.Kind, "a, c") {
			t.Errorf("%s: %+v", content[:n], look)
		}
	}
}

// A file may be a link within the folder or to what the user has named; other targets are not
// read.
func TestLinks(t *testing.T) {
	base := t.TempDir()
	real, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	data, far := filepath.Join(base, "data"), filepath.Join(base, "far", "far.csv")
	write(t, filepath.Join(data, "sub", "a.csv"), "a,b\n1,2\n")
	write(t, far, "a,b\n1,2\n")
	write(t, filepath.Join(base, "data2", "b.csv"), "a,b\n1,2\n")
	for link, to := range map[string]string{
		"data/near.csv": "sub/a.csv", "data/whole.csv": filepath.Join(data, "sub", "a.csv"),
		"data/again.csv": "../linked/near.csv", "linked": "data",
		"data/far.csv": "../far/far.csv", "data/farther.csv": "../link.csv", "link.csv": far,
		"data/beside.csv": "../data2/b.csv",
		"data/broken.csv": "nowhere", "data/out": "../far", "data/pipe": "/dev/null",
	} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	for _, c := range []struct {
		name    string
		also    []string
		ok      bool
		outside string // the target of the error
	}{
		{"near.csv", nil, true, ""},
		{"whole.csv", nil, true, ""},
		{"again.csv", nil, true, ""},
		{"far.csv", nil, false, "far/far.csv"},
		{"farther.csv", nil, false, "far/far.csv"},
		{"beside.csv", []string{data}, false, "data2/b.csv"},
		{"far.csv", []string{filepath.Join(base, "far")}, true, ""},
		{"far.csv", []string{filepath.Join(base, "nowhere"), far}, true, ""},
		{"farther.csv", []string{filepath.Join(base, "link.csv")}, true, ""},
		{"far.csv", []string{filepath.Join(base, "fa"), filepath.Join(base, "data2")}, false,
			"far/far.csv"},
		{"broken.csv", []string{"/"}, false, ""},
		{"pipe", []string{"/"}, false, ""},
		{"out/far.csv", []string{base}, false, ""},
		{"../far/far.csv", []string{base}, false, ""},
		{".", nil, false, ""},
	} {
		root, f := openRoot(t, filepath.Join(base, "linked"), c.also...), File{Name: c.name}
		look, err := LookAt(root, f, 10)
		if outside, is := errors.AsType[*OutsideError](err); (err == nil) != c.ok || c.ok &&
			look.Format != "csv" || is != (c.outside != "") ||
			is && (outside.Target != filepath.Join(real, c.outside) || outside.Name != c.name) {
			t.Errorf("look at %s, also %s: %+v, %v", c.name, c.also, look, err)
		}
		if sum, err := Sum(root, f); (err == nil) != c.ok || c.ok && len(sum) != 64 {
			t.Errorf("sum of %s: %s, %v", c.name, sum, err)
		}
	}
}

func TestSum(t *testing.T) {
	data := t.TempDir()
	write(t, filepath.Join(data, "a"), "abc")
	root := openRoot(t, data)
	if got, err := Sum(root, File{Name: "a"}); err != nil ||
		got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("got %s, %v", got, err)
	}
	// A large file is sampled; being sparse, it takes no space.
	big, date := filepath.Join(data, "big"), time.Unix(1e9, 0)
	sum := func(size int64, at int64) string {
		t.Helper()
		f, err := os.Create(big)
		if err == nil {
			err = f.Truncate(size)
		}
		if err == nil && at >= 0 {
			_, err = f.WriteAt([]byte("x"), at)
		}
		if err == nil {
			err = f.Close()
		}
		if err == nil {
			err = os.Chtimes(big, date, date)
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := Sum(root, File{Name: "big"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const size = 1 << 30
	seen := map[string]bool{sum(size, -1): true, sum(size, 0): true, sum(size, size-1): true,
		sum(size+1, -1): true, sum(sumWhole, -1): true}
	if same := sum(size, -1); len(seen) != 5 || !seen[same] {
		t.Errorf("sums: %v, and again %s", seen, same)
	}
	if date = date.Add(time.Second); seen[sum(size, -1)] {
		t.Error("the date is not in the sum")
	}
}

// Decompression bombs, and short files with deep or wide structures, must not fill the memory.
func TestBombs(t *testing.T) {
	spaces := strings.Repeat(" ", 32<<20)
	for name, content := range map[string]string{
		"a.gz":   strings.Repeat(gzipped(spaces[:1<<20]), 32),
		"b.gz":   strings.Repeat(gzipped(strings.Repeat("\x00", 1<<20)), 32),
		"a.xlsx": zipped(t, "xl/workbook.xml", spaces),
		"b.xlsx": zipped(t, "xl/workbook.xml",
			`<workbook><sheets><sheet name="A" xmlns:r="http://schemas.openxmlformats.org/`+
				`officeDocument/2006/relationships" r:id="1"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels", `<x><Relationship Id="1" Target="s.xml"/></x>`, "xl/s.xml",
			`<x><row><c r="ZZZZZZZZ1"><v>`+spaces),
		"deep.json": strings.Repeat("[", 300_000),
		"deep.xml":  strings.Repeat("<a>", 100_000),
		"key.json":  "{\"" + strings.Repeat("k", 300_000),
		"quote.csv": "a,b\n\"" + strings.Repeat("x,y\n", 100_000),
		"wide.csv":  strings.Repeat("a,", 100_000) + "\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lookAll(t, 1000, map[string]string{name: content})
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 20<<20 {
			t.Errorf("%s: %d MB were used", name, (after.TotalAlloc-before.TotalAlloc)>>20)
		}
	}
}

func FuzzLook(f *testing.F) {
	for name, c := range map[string]string{
		"a.csv": "Title\n\na;b\n\"1\n\";2\n", "b.csv": encoded(f, "a,b\n1,é\n", "16le+"),
		"a.json": `{"a": [{"b": 1}], "1": {"c": 2}}`, "a.jsonl": "{\"a\": 1}\n[2",
		"a.xml": "<a><b/></a>", "a.html": "<html><title>x", "a.gz": gzipped("a,b\n"),
		"a.zip":  zipped(f, "a.csv", "x"),
		"a.xlsx": xlsx(f, []string{"A"}, []string{"id", "n"}, []string{"1", "x"}),
		"a.db":   database(map[string]string{"t": "CREATE TABLE t (a)"}),
		"a.png":  "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a.bz2": "BZh91AY&SY",
	} {
		f.Add(name, []byte(c), 50)
	}
	data := f.TempDir()
	root := openRoot(f, data)
	f.Fuzz(func(t *testing.T, name string, content []byte, head int) {
		ext := filepath.Ext(name)
		if strings.ContainsAny(ext, "/\\\x00") || len(ext) > 20 {
			ext = ""
		}
		file := File{Name: fmt.Sprintf("f%d%s", os.Getpid(), ext), Size: int64(len(content))}
		if !utf8.ValidString(file.Name) {
			return
		}
		write(t, filepath.Join(data, file.Name), string(content))
		defer os.Remove(filepath.Join(data, file.Name))
		look, err := LookAt(root, file, head)
		if err != nil || look.Kind == "" || look.Format == "" || len(look.Head) > max(0, head) {
			t.Errorf("%+v, %v", look, err)
		}
		if !utf8.ValidString(look.Head) || !utf8.ValidString(look.Kind) || !utf8.ValidString(look.Shape) {
			t.Errorf("not UTF-8: %+v", look)
		}
		if again, _ := LookAt(root, file, head); again != look {
			t.Errorf("%+v, then %+v", look, again)
		}
	})
}
