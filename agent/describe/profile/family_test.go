package profile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/describe/profile"
)

// A member of a family says whatever changes how it is read, and nothing where it is like the
// first.
func TestFamilyReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
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
	first := p.profile(t, write("first.csv", header, row))
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
		{"columns", "day,town,price,comment\n", row, []string{"also has comment", "has no note"}},
	} {
		member := p.profile(t, write(c.name+".csv", c.header, c.row))
		if !member.Akin(first) {
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

// Columns without names make no family of tables that have some number of them each.
func TestUnnamedAreNotAkin(t *testing.T) {
	table := func(names string, columns int) profile.Profile {
		var all []profile.Column
		for n := range columns {
			all = append(all, profile.Column{Name: fmt.Sprint(names, n+1)})
		}
		return profile.Profile{Format: "text", Tables: []profile.Table{{Columns: all}}}
	}
	if table("column ", 5).Akin(table("column ", 4)) || !table("depth", 5).Akin(table("depth", 4)) {
		t.Error("names that a file does not give are taken for its own")
	}
}
