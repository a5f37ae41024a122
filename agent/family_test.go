package agent_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/describe"
	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// withData gives a run a data folder with real files, by name.
func withData(t testing.TB, content map[string]string) func(*stage) {
	t.Helper()
	data := t.TempDir()
	var list []record.File
	for _, name := range slices.Sorted(maps.Keys(content)) {
		path := filepath.Join(data, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content[name]), 0o644); err != nil {
			t.Fatal(err)
		}
		list = append(list, record.File{Name: name, Size: int64(len(content[name]))})
	}
	return func(s *stage) { s.task.Data, s.task.Files = data, list }
}

// tables are files of one structure, too long to be their own descriptions.
func tables(names ...string) map[string]string {
	all := map[string]string{}
	for _, name := range names {
		line := "2024-05-01," + strings.TrimSuffix(filepath.Base(name), ".csv") + ",17\n"
		all[name] = "day,shop,amount\n" + strings.Repeat(line, 150)
	}
	return all
}

// described returns the description of a file.
func (p *played) described(t reporter, name string) record.Description {
	t.Helper()
	for _, d := range p.Descriptions {
		if d.File == name {
			return d
		}
	}
	t.Fatalf("%s is not described", name)
	return record.Description{}
}

// asks are the requests of the roles that describe, sorted.
func (p *played) asks() (all []string) {
	for _, key := range p.model.asked {
		if role, _, _ := strings.Cut(key, " "); role == "analyzer" || role == "debugger" {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

func TestFamily(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("s%02d.csv", i))
	}
	lead := "fail_on(path, \"s59\")\nprint(\"a table of sales\")\nprint(path)"
	p := play(t, simple.with(script{"analyzer": lead, "debugger": "print(path)"}),
		withData(t, tables(names...)), func(s *stage) { s.config.Jobs = 3 }).noError(t)
	equal(t, "calls", p.asks(), []string{"analyzer s00.csv", "debugger s59.csv, try 2"})
	told := 0
	for _, e := range p.events {
		if e.Kind == agent.Described {
			told++
		}
	}
	// The model is shown eight of the family, which is what the record has.
	if told != 60 || len(p.Descriptions) != 9 || len(p.Task.Files) != 9 || p.Task.Others != 51 {
		t.Errorf("%d files described, %d recorded, %d others", told, len(p.Descriptions), p.Task.Others)
	}
	first, third := p.described(t, "s00.csv"), p.described(t, "s02.csv")
	if first.Code != lead || first.Like != "" || first.Kind != "CSV" ||
		third.Text != "a table of sales\ndata/s02.csv" || third.Like != "s00.csv" || third.Code != "" {
		t.Errorf("the first: %+v; the third: %+v", first, third)
	}
	contains(t, p.model.prompt(t, "analyzer s00.csv"), "CSV", "one of 60 files",
		"\"data/s01.csv\"\n", "day,shop,amount\n2024-05-01,s00,17")
	contains(t, p.model.prompt(t, "debugger s59.csv, try 2"), "It works for 59 other files")
	// The others are shown by what they add.
	planner := p.model.prompt(t, "solver round 1")
	if n := strings.Count(planner, "a table of sales"); n != 1 {
		t.Errorf("what all have in common is shown %d times in\n%s", n, planner)
	}
	contains(t, planner, "that one's:\n\n```\ndata/s02.csv\n```", `"data/s*.csv": 51 files, * is 08 to 58`)
}

// A member for which the shared script fails gets it repaired, and the repaired one is tried on
// the others that failed before anybody is asked again.
func TestFamilyWithOddMembers(t *testing.T) {
	files := withData(t, tables("a1.csv", "b1.csv", "odd1.csv", "odd2.csv", "odd3.csv", "z1.csv"))
	lead := "fail_on(path, \"odd\")\nprint(\"a table\")"
	second := "fail_on(path, \"odd2\")\nprint(\"mended\")"
	p := play(t, simple.with(script{"analyzer": lead, "debugger odd1.csv, try 2": second,
		"debugger odd2.csv, try 2": `print("mended again")`}), files).noError(t)
	equal(t, "calls", p.asks(),
		[]string{"analyzer a1.csv", "debugger odd1.csv, try 2", "debugger odd2.csv, try 2"})
	contains(t, p.model.prompt(t, "debugger odd1.csv, try 2"), "It works for 3 other files", lead,
		"ValueError: odd value in data/odd1.csv", "day,shop,amount")
	contains(t, p.model.prompt(t, "debugger odd2.csv, try 2"), "It works for 5 other files", second)
	for name, want := range map[string]record.Description{
		"odd1.csv": {Text: "mended", Code: second, Tries: 2},
		"odd2.csv": {Text: "mended again", Code: `print("mended again")`, Tries: 2},
		"odd3.csv": {Text: "mended", Like: "odd1.csv", Tries: 1},
		"z1.csv":   {Text: "a table", Like: "a1.csv", Tries: 1},
	} {
		d := p.described(t, name)
		if d.Text != want.Text || d.Code != want.Code || d.Like != want.Like || d.Tries != want.Tries {
			t.Errorf("%+v, want %+v", d, want)
		}
	}
	// One that nothing helps leaves the others.
	p = play(t, simple.with(script{"analyzer": lead,
		"debugger": "fail_on(path, \"odd1\")\nprint(\"mended\")"}), files).noError(t)
	odd := p.described(t, "odd1.csv")
	if odd.Text != "" || !strings.HasPrefix(odd.Error, "ValueError") || odd.Tries != 3 ||
		p.described(t, "odd3.csv").Text != "mended" {
		t.Errorf("%+v", odd)
	}
}

// After three files that no script could describe the family is given up.
func TestHopelessFamily(t *testing.T) {
	p := play(t, simple.with(script{"analyzer": "die()", "debugger": "die()"}),
		withData(t, tables("a.csv", "b.csv", "c.csv", "d.csv", "e.csv", "f.csv"))).noError(t)
	if p.model.count("analyzer") != 3 || p.model.count("debugger") != 6 {
		t.Errorf("asked %q", p.model.asked)
	}
	for i, d := range p.Descriptions {
		if d.Text != "" || d.Error == "" || (d.Error == "the kernel died") != (i < 3) {
			t.Errorf("%+v", d)
		}
	}
	contains(t, p.model.prompt(t, "solver round 1"), "No description: "+p.Descriptions[5].Error)
}

// What a person has written is what counts, whatever the file is.
func TestCorrections(t *testing.T) {
	content := tables("a.csv", "b.csv")
	content["manual.md"], content["none.csv"] = "# Old rules", ""
	all := map[string]string{"manual.md": "Out of date.", "b.csv": "By hand.", "none.csv": "To come."}
	p := play(t, simple, withData(t, content), func(s *stage) {
		s.config.Corrections = maps.Clone(all)
		s.config.Corrections["gone.csv"] = "?"
	}).noError(t)
	equal(t, "calls", p.asks(), []string{"analyzer a.csv"})
	planner := p.model.prompt(t, "solver round 1")
	for name, want := range all {
		d := p.described(t, name)
		if d.Text != want || !d.Corrected || d.Code != "" || d.Like != "" {
			t.Errorf("%+v", d)
		}
		contains(t, planner, want)
	}
	lacks(t, planner, "Old rules")
}

// Files of one family share a script, and so all of them are described where one is chosen: what
// they hold decides which are shown.
func TestPreselectFamilies(t *testing.T) {
	content := tables("shops/1.csv", "shops/2.csv", "shops/3.csv")
	for i := range 4 {
		text := strings.Repeat(fmt.Sprintf("text %c ", 'a'+i), 1000)
		content[fmt.Sprintf("other/%c.dat", 'a'+i)] = text
	}
	p := play(t, simple.with(script{"analyzer": "print(path)"}), withData(t, content),
		func(s *stage) { s.config.TopK, s.task.Question = 2, "How many shops?" }).noError(t)
	equal(t, "asked", p.asks(), []string{"analyzer shops/1.csv"})
	if p.Task.Others != 5 || len(p.Task.Files) != 2 {
		t.Errorf("%+v, %d others", p.Task.Files, p.Task.Others)
	}
	contains(t, p.model.prompt(t, "solver round 1"), `"data/other/a.dat"`, `"data/shops/3.csv"`)
}

// What describing takes is told before it is paid, and can be refused.
func TestAgree(t *testing.T) {
	content := tables("1.csv", "2.csv")
	content["x.dat"] = strings.Repeat("x", 10_000)
	refused := errors.New("too much")
	for _, want := range []error{nil, refused} {
		var told []describe.Estimate
		p := play(t, simple, withData(t, content), func(s *stage) {
			s.config.Agree = func(_ context.Context, e describe.Estimate) error {
				if told = append(told, e); len(s.model.asked) > 0 {
					t.Error("asked after a call")
				}
				return want
			}
			price := llm.Price{Input: 1e6, Cached: 1e6}
			s.config.Price = func(string) (llm.Price, bool) { return price, true }
		})
		if !errors.Is(p.err, want) || want != nil && len(p.model.asked) > 0 || len(told) != 1 {
			t.Fatalf("%v after %q, told %d times", p.err, p.model.asked, len(told))
		}
		if e := told[0]; e.Files != 3 || e.Calls != 2 || e.InputTokens < 1000 || e.InputTokens > 5000 ||
			e.Cost == nil || *e.Cost < 1000 {
			t.Errorf("%+v", e)
		}
	}
}

// What a .gitignore leaves out may be what the question is about: the record warns of it.
func TestIgnoredData(t *testing.T) {
	all, err := files.List(t.Context(), repository(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := play(t, simple, func(s *stage) { s.task.Skipped = all.Skipped }).noError(t)
	p.warned(t, "raw/")
	lacks(t, p.Warnings[0], "node_modules")
}

// repository is a data folder of which Git ignores raw/.
func repository(t *testing.T) string {
	data := t.TempDir()
	for name, text := range map[string]string{".gitignore": "raw/\n", ".git/HEAD": "",
		"raw/x.csv": "", "node_modules/y.js": ""} {
		path := filepath.Join(data, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// A run that is ended begins no further calls.
func TestNoCallsAfterTheEnd(t *testing.T) {
	content := map[string]string{}
	for i := range 60 {
		content[fmt.Sprintf("%c%c.dat", 'a'+i%26, 'a'+i/26)] = strings.Repeat("x", 10_000)
	}
	p := play(t, simple, withData(t, content), func(s *stage) {
		cancel := s.cancellable(t)
		s.model.before = func(ctx context.Context, _ string) error { cancel(); return ctx.Err() }
	})
	const atOnce = 8
	if n := p.model.count("analyzer"); !errors.Is(p.err, context.Canceled) || n > atOnce {
		t.Errorf("%d calls, %v", n, p.err)
	}
}

// Of more files than a run looks at the names are chosen, and some of all; the others are named, or
// else counted by folder.
func TestMaxFiles(t *testing.T) {
	content := map[string]string{"many/how.csv": "a,b\n1,2\n2,3\n"}
	for i := range 20 {
		content[fmt.Sprintf("log/%02d.csv", i)] = content["many/how.csv"]
	}
	for room, leftOut := range map[int]string{6000: "\"data/log/19.csv\"\n",
		500: "\"data/log/*.csv\": 16 files, * is "} {
		p := play(t, simple, withData(t, content), func(s *stage) {
			s.config.MaxFiles, s.config.DescriptionChars = 5, room
		}).noError(t)
		var names []string
		for _, f := range p.Task.Files {
			names = append(names, f.Name)
		}
		if len(names) != 5 || len(p.Descriptions) != 5 || p.Task.Others != 16 ||
			names[0] != "log/00.csv" || names[3] < "log/10.csv" || names[4] != "many/how.csv" {
			t.Errorf("chosen are %q, %d descriptions, %d others", names, len(p.Descriptions), p.Task.Others)
		}
		contains(t, p.model.prompt(t, "solver round 1"), "## More files", leftOut)
	}
}
