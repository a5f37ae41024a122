package definitions

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dsstar/kernel/pyenv/pyenvtest"
)

// python runs a script as those who call [Parse] do, but without a sandbox.
func python(t testing.TB) func(ctx context.Context, script string) (string, error) {
	return func(ctx context.Context, script string) (string, error) {
		path := filepath.Join(t.TempDir(), "script.py")
		pyenvtest.OK(t, os.WriteFile(path, []byte(script), 0o600))
		out, err := exec.CommandContext(ctx, pyenvtest.Python(t), path).Output()
		return string(out), err
	}
}

// workbook writes a glossary of Excel: its head stands below a title, on the second sheet.
const workbook = `
import openpyxl, sys
book = openpyxl.Workbook()
book.active.title = "Notes"
book.active.append(["Read me"])
rows = [["Our glossary"], [], ["Term", "Definition", "Unit"], ["Margin", "Revenue less cost", "EUR"], [], ["Days", 5]]
sheet = book.create_sheet("Terms")
for row in rows:
    sheet.append(row)
book.save(sys.argv[1])
`

var update = flag.Bool("update", false, "write what files say into testdata/said.txt")

// TestFormats: a file of each format says what testdata/said.txt has.
func TestFormats(t *testing.T) {
	dir := t.TempDir()
	pyenvtest.OK(t, os.CopyFS(dir, os.DirFS("testdata")))
	pyenvtest.OK(t, exec.Command(pyenvtest.Python(t), "-c", workbook, filepath.Join(dir, "glossary.xlsx")).Run())
	files := pyenvtest.Must(Files(dir))
	all := pyenvtest.Must(Parse(t.Context(), files, python(t)))
	pyenvtest.OK(t, Conflict(all))
	var said strings.Builder
	for _, d := range all {
		fmt.Fprintf(&said, "%s\n  %s %q\n  %s\n", d.Place, d.Term, d.Also, strings.ReplaceAll(d.Text, "\n", "\n  "))
	}
	if *update {
		pyenvtest.OK(t, os.WriteFile("testdata/said.txt", []byte(said.String()), 0o644))
	}
	want := string(pyenvtest.Must(os.ReadFile("testdata/said.txt")))
	if diff := cmp.Diff(want, said.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestForeignErrors: what is wrong with a file is said, with its name and line, whatever it does to the program.
func TestForeignErrors(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		laughs += fmt.Sprintf("a%d: &a%[1]d [%s]\n", i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	for i, c := range []struct{ name, text, want string }{
		{"a.yaml", "tables: {}\nglossary:\n  a: [\n", ", line 4: is no YAML"},
		{"a.yaml", "glossary:\n  ARR: x\n  CAC: z\n  ARR: y\n", ", line 4: ARR is there already, in line 2"},
		{"a.yaml", "glossary: {a: x}\n---\nglossary: {b: y}\n", ", line 3: is more than one document"},
		{"a.yaml", "glossary: {a: !!python/object/apply:os.system [ls]}\n", ""},
		{"a.yaml", laughs + "glossary: {a: *a12}\n", ""},
		{"a.yaml", laughs + "metrics: *a12\n", ""},
		{"a.yaml", laughs + "metrics: [{name: a, type: simple, filter: *a12}]\n", ""},
		{"a.yaml", "x: &x {a: b}\nglossary: &g [*g]\n", ", line 2: *g stands for nothing"},
		{"a.yaml", "glossary: " + strings.Repeat("[", 1000000), ", line 1: is nested in more than 60 levels"},
		{"a.yaml", "glossary: " + strings.Repeat("{a: ", 1000000), ", line 1: is nested in more than 60 levels"},
		{"a.yaml", "columns: []\n", " is none of the formats that are known"},
		{"a.yaml", "just words", " has no keys"},
		{"a.yaml", "\xff\xfea\x00", " is no text in UTF-8"},
		{"a.json", "{\n\"metrics\": [,]}", ", line 2: is no JSON: Expecting value"},
		{"a.json", strings.Repeat("[", 1000000), " is nested too deeply"},
		{"a.json", "{\"metrics\": {\"a\": [1, {}], \"b\": {\"type_params\": 3, \"filter\": {\"x\": 1}}}, \"models\": 4}", ""},
		{"a.json", "{\"metrics\": [{\"name\": \"a\", \"label\": \"L\", \"type\": \"simple\"}, " +
			"{\"name\": \"b\", \"label\": \"L\", \"type\": \"derived\"}]}", ""}, // which contradict each other in no way
		{"a.csv", "a,b\n1,2\n", " has no header with a column such as term"},
		{"a.csv", "term,definition\na,b\n,\"c\n", ", line 3: is no table of CSV: unexpected end of data"},
		{"a.csv", "term,definition\na,b\n,c\n", ", line 3: this meaning has no term: c"},
		{"a.xlsx", "PK\x03\x04", " is no workbook of Excel"},
	} {
		begun := time.Now()
		all, err := Parse(t.Context(), []File{{Name: c.name, Text: []byte(c.text)}}, python(t))
		pyenvtest.Check(t, Conflict(all))
		if c.want != "" {
			c.want = c.name + c.want
		}
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.HasPrefix(got, c.want) && err != nil {
			t.Errorf("%d, %.60q: got %s, want %s", i, c.text, got, c.want)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%.60q took %v", c.text, took)
		}
	}
}

// TestForeignLarge: two megabytes of terms are read, and a description that no request could hold is cut.
func TestForeignLarge(t *testing.T) {
	var glossary strings.Builder
	glossary.WriteString("glossary:\n  long: " + strings.Repeat("é word ", 1000) + "\n")
	for i := range 10000 {
		fmt.Fprintf(&glossary, "  term number %d: %s\n", i, strings.Repeat("all that is asked for ", 9))
	}
	all := pyenvtest.Must(Parse(t.Context(), []File{{Name: "a.yaml", Text: []byte(glossary.String())}}, python(t)))
	if n := len(all[0].Text); len(all) != 10001 || n > 3600 || !strings.HasSuffix(all[0].Text, " … (more in a.yaml)") {
		t.Errorf("%d definitions, the first of %d bytes", len(all), n)
	}
}

// TestDocs: the examples of docs/definitions.md are definitions.
func TestDocs(t *testing.T) {
	page := string(pyenvtest.Must(os.ReadFile("../../docs/definitions.md")))
	example := regexp.MustCompile("(?ms)^````(markdown)\n(.*?)^````\n|^```(yaml|csv)\n(.*?)^```\n")
	examples := example.FindAllStringSubmatch(page, -1)
	var files []File
	for i, m := range examples {
		end := strings.ReplaceAll(m[1]+m[3], "markdown", "md")
		files = append(files, File{Name: fmt.Sprintf("%d.%s", i, end), Text: []byte(m[2] + m[4])})
	}
	for i, f := range files {
		if all, err := Parse(t.Context(), []File{f}, python(t)); err != nil || len(all) == 0 || len(files) != 5 {
			t.Errorf("example %d of %d: %v, %v", i, len(files), all, err)
		} else if i == 0 && (all[0].Code == "" || len(all) != 2) {
			t.Errorf("a function and two terms are %+v", all)
		}
	}
}
