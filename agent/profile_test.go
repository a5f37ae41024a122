package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/describe"
	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
)

// profiled gives a run the program that describes files, and what it says of them, by name. The
// others it does not understand.
func profiled(profiles map[string]profile.Profile) func(*stage) {
	return func(s *stage) {
		s.config.Method = record.Method{}
		s.world.profiles = map[string]string{}
		for name, p := range profiles {
			data, _ := json.Marshal(p) // plain values cannot fail
			s.world.profiles["data/"+name] = string(data)
		}
	}
}

// table is the profile of a table whose first column has the values 0, 1, 2, ...
func table(rows int, columns ...string) profile.Profile {
	size := fmt.Sprintf("%d rows, %d columns", rows, len(columns))
	p := profile.Profile{Format: "delimited text", Headline: "delimited text",
		Line:  "delimited text; " + size + ": " + strings.Join(columns, ", "),
		About: strings.Join(columns, "\n"), Structure: strings.Join(columns, "\n"),
		Count:  fmt.Sprintf("%d rows", rows),
		Tables: []profile.Table{{Names: columns, Headline: size}}}
	for n, name := range columns {
		c := profile.Column{Name: name, Type: "text", Line: "text", Unique: n == 0, Distinct: rows}
		for v := range rows {
			c.Sketch = append(c.Sketch, uint32(1000*n+v))
		}
		p.Tables[0].Columns = append(p.Tables[0].Columns, c)
	}
	return p
}

// A program describes the files. What is shown stands in the record, so that nothing is profiled
// again on resuming.
func TestProfiles(t *testing.T) {
	shops, sales := table(9, "shop", "town"), table(5, "shop", "amount")
	content := map[string]string{"odd.bin": "?", "shops.csv": "s", "sales/1.csv": "1", "sales/2.csv": "22",
		"rules.md": "# Rules"}
	known := map[string]profile.Profile{"shops.csv": shops, "sales/1.csv": sales,
		"sales/2.csv": table(7, "shop", "amount"), "rules.md": {Format: "text", Document: "# Rules", Whole: true}}
	files := withData(t, content)
	p := play(t, simple, files, profiled(known)).noError(t)
	planner := p.model.prompt(t, "solver round 1")
	contains(t, planner, "Its whole content:\n\n```\n# Rules\n```", "\na table\n", "- town: ", "9 rows, 2 columns", "7 rows\n",
		"## Columns that match", "shop of shops.csv, a key, has the values of shop of sales/1.csv")
	if n := strings.Count(planner, "- amount: "); n != 1 {
		t.Errorf("a family is described %d times in\n%s", n, planner)
	}
	if d := p.described(t, "sales/2.csv"); !d.Profile || d.Like != "sales/1.csv" || d.Code != "" {
		t.Errorf("%+v", d)
	}
	if d := p.described(t, "rules.md"); !d.Whole {
		t.Errorf("%+v", d)
	}
	again := goOn(t, simple, readAgain(t, p.Trajectory), func(s *stage) { s.task = p.Task })
	if n := len(again.world.of(agent.Describe)); n > 0 {
		t.Errorf("%d sessions describe files on resuming", n)
	}
}

// A profile is kept by content: another place, model or question needs no new one.
func TestProfilesAreKept(t *testing.T) {
	cache := &describe.Cache{Dir: t.TempDir()}
	stored := func(s *stage) { s.config.Cache = cache }
	known := map[string]profile.Profile{"a.csv": table(3, "a")}
	play(t, simple, withData(t, tables("a.csv")), profiled(known), stored).noError(t)
	moved := map[string]string{"b/a.csv": tables("a.csv")["a.csv"]}
	p := play(t, simple, withData(t, moved), profiled(nil), stored).noError(t)
	if d := p.described(t, "b/a.csv"); !d.Profile || !d.Cached {
		t.Errorf("%+v", d)
	}
	cache.Python = "another"
	p = play(t, simple, withData(t, moved), profiled(nil), stored).noError(t)
	if d := p.described(t, "b/a.csv"); d.Cached {
		t.Errorf("%+v", d)
	}
}
