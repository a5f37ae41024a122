package profile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A member of a family says whatever changes how it is read, and nothing where it is like the
// first.
func TestFamilyReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, header, row string) string {
		path := filepath.Join(dir, name)
		text := header
		for n := range 40 {
			text += strings.ReplaceAll(row, "N", fmt.Sprint(n%28+1))
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const header, row = "day,town,price,note\n", "2024-03-N,Rome N,N.5,done\n"
	first := profiled(t, dir, write("first.csv", header, row))
	for _, c := range []struct {
		name, header, row string
		says              []string
	}{
		{"same", header, row, nil},
		{"delimiter", strings.ReplaceAll(header, ",", ";"), strings.ReplaceAll(row, ",", ";"), []string{`fields between ";"`}},
		{"header", "Prices of towns\n\n" + header, row, []string{"header in line 3", "skiprows=2"}},
		{"encoding", header, "2024-03-N,M\xfcnchen N,N.5,done\n", []string{"encoding cp1252"}},
		{"decimal", strings.ReplaceAll(header, ",", ";"), "2024-03-N;Rome N;N,5;done\n", []string{"decimal commas", `decimal=","`}},
		{"type", header, "2024-03-N,Rome N,cheap N,done\n", []string{"price: text"}},
		{"missing", header, row + row + "2024-03-N,Rome N,no data,done\n", []string{"no data"}},
		{"form", header, "N.03.2024,Rome N,N.5,done\n", []string{"%d.%m.%Y"}},
		{"values", header, row + "2024-03-N,Rome N,N.5,Done\n", []string{"Done"}},
	} {
		member := profiled(t, dir, write(c.name+".csv", c.header, c.row))
		if member.Structure != first.Structure {
			t.Errorf("%s: another family", c.name)
			continue
		}
		text := member.Beyond(first, 300)
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in %s", c.name, want, text)
			}
		}
		if c.says == nil && text != "40 rows" {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}
