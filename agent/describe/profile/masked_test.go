package profile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/kernel/pyenv/pyenvtest"
)

// TestValues: the values of columns are listed as files have them, and as pandas reads them.
func TestValues(t *testing.T) {
	dir, _ := made(t, "binaries.py")
	people := "id,Full Name,born,n\n0012345,Ann,1980-01-05,7\n1234567,\"O'Brien, Bob\",2001-02-03,8\n,,,9\n"
	if err := os.WriteFile(filepath.Join(dir, "people.csv"), []byte(people), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ file, column, has string }{
		{"people.csv", "id", "0012345|1234567"}, {"people.csv", "Full Name", "Ann|O'Brien, Bob"},
		{"people.csv", "born", "1980-01-05|2001-02-03"}, {"merged.xlsx", "shop", ""},
		{"shop.sqlite", "note", ""}, {"typed.parquet", "sort", ""},
	}
	var paths []string
	for _, c := range cases {
		paths = append(paths, brief.Python(filepath.Join(dir, c.file)))
	}
	script := filepath.Join(t.TempDir(), "list.py")
	code := profile.Values(paths, []string{"id", "*NAME", "born", "shop", "note", "sort"}, 60, time.Minute, "mark")
	if err := os.WriteFile(script, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(pyenvtest.Python(t), "-I", script).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for n, c := range cases {
		var l profile.Listing
		if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[n], fmt.Sprintf("mark %d ", n))), &l); err != nil {
			t.Fatal(err, lines[n])
		}
		for want := range strings.SplitSeq(c.has, "|") {
			if l.Problem != "" || len(l.Columns[c.column]) == 0 || want != "" && !slices.Contains(l.Columns[c.column], want) {
				t.Errorf("%s: %s has %q, %s", c.file, c.column, l.Columns[c.column], l.Problem)
			}
		}
		if _, ok := l.Columns["n"]; ok {
			t.Error("a column that no pattern matches is listed")
		}
	}
}
