package profile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// facts are what the script says of a table, as figures.
type facts struct {
	Call     string
	Rows     int
	Warnings []string
	Columns  []struct {
		Name, Type string
		Range      []any
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
		name, file string
		row        string // written thirty times, with N for 101, 102, ...
		columns    string // name type low high | ...
		call       string // "": any
		says       string // a word of a warning or note; "": none is asked for
	}{
		{name: "names.csv", file: "station,depth,level\n", row: "N,5,1.5,\n", call: "pd.read_csv(path, index_col=False)",
			columns: "station number 101 130|depth number 5 5|level number 1.5 1.5", says: "index_col=False"},
		{name: "rows.csv", file: "\"speed\",\"grade\"\n", row: "\"carN\",N,\"B\"\n", call: "pd.read_csv(path, index_col=0)",
			columns: "column 1 (no name; the index in pandas) text|speed number 101 130|grade text"},
		{name: "title.csv", file: "A report\n\nid;qty\n", row: "N;N,5\n",
			call: `pd.read_csv(path, sep=";", skiprows=2, decimal=",")`, columns: "id number 101 130|qty number 101.5 130.5"},
		{name: "mac.csv", file: "id,name\r", row: "N,aN\r", call: "pd.read_csv(path)",
			columns: "id number 101 130|name text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.file
			for n := range 30 {
				text += strings.ReplaceAll(c.row, "N", "1"+string('0'+rune((n+1)/10))+string('0'+rune((n+1)%10)))
			}
			if err := os.WriteFile(filepath.Join(dir, c.name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var found struct{ Tables []facts }
			if err := json.Unmarshal([]byte(p.line(t, c.name)), &found); err != nil || len(found.Tables) != 1 {
				t.Fatalf("%v, %+v", err, found)
			}
			is := found.Tables[0]
			if is.Rows != 30 {
				t.Errorf("%d rows", is.Rows)
			}
			if c.call != "" && is.Call != c.call {
				t.Errorf("the call is %s\nwant        %s", is.Call, c.call)
			}
			var columns []string
			said := strings.Join(is.Warnings, "\n")
			for _, column := range is.Columns {
				words := column.Name + " " + column.Type
				for _, end := range column.Range {
					text, _ := json.Marshal(end)
					words += " " + strings.Trim(string(text), `"`)
				}
				columns = append(columns, words)
				said += strings.Join(column.Notes, "\n")
			}
			if got := strings.Join(columns, "|"); got != c.columns {
				t.Errorf("the columns are %s\nwant            %s", got, c.columns)
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("nothing says %q: %s", c.says, said)
			}
		})
	}
}
