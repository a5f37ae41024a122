package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
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
		all[name] = "day,shop,amount\n" + strings.Repeat("2024-05-01,"+strings.TrimSuffix(filepath.Base(name), ".csv")+",17\n", 150)
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
	p := play(t, simple.with(script{"analyzer": "print(\"a table of sales by day and shop\")\nprint(path)"}),
		withData(t, tables("s1.csv", "s2.csv", "s3.csv", "s4.csv", "s5.csv", "s6.csv", "s7.csv"))).noError(t)
	equal(t, "calls", p.asks(), []string{"analyzer s1.csv"})
	first := p.described(t, "s1.csv")
	if first.Code != "print(\"a table of sales by day and shop\")\nprint(path)" || first.Like != "" || first.Kind != "CSV, 3 columns" {
		t.Errorf("the first: %+v", first)
	}
	for _, name := range []string{"s2.csv", "s7.csv"} {
		if d := p.described(t, name); d.Text != "a table of sales by day and shop\ndata/"+name || d.Like != "s1.csv" || d.Code != "" || d.Tries != 1 {
			t.Errorf("%+v", d)
		}
	}
	contains(t, p.model.prompt(t, "analyzer s1.csv"), `"data/s1.csv" (2.6 kB): CSV, 3 columns`, "one of 7 files",
		"\"data/s2.csv\"\n", "\"data/s4.csv\"\nand 3 more", "It begins:\n\n```\nday,shop,amount\n2024-05-01,s1,17")
	// The others are shown by what they add.
	planner := p.model.prompt(t, "planner round 1")
	if n := strings.Count(planner, "a table of sales"); n != 1 {
		t.Errorf("what all have in common is shown %d times in\n%s", n, planner)
	}
	contains(t, planner, "## File 3\n\n```\n\"data/s3.csv\" (2.6 kB)\n```\n\nOf the same structure as file 1. What its description has that is not in that one's:\n\n```\ndata/s3.csv\n```")
}

// Where the families' files have nothing to add, that is said.
func TestFamilyAllTheSame(t *testing.T) {
	p := play(t, simple, withData(t, tables("s1.csv", "s2.csv"))).noError(t)
	contains(t, p.model.prompt(t, "planner round 1"), "not in that one's:\n\n```\nnothing\n```")
}

// A family is one call however many kernels share it.
func TestLargeFamily(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("s%02d.csv", i))
	}
	p := play(t, simple.with(script{"analyzer": "fail_on(path, \"s59\")\nprint(path)", "debugger": "print(path)"}),
		withData(t, tables(names...)), func(s *stage) { s.config.Jobs = 3 }).noError(t)
	equal(t, "calls", p.asks(), []string{"analyzer s00.csv", "debugger s59.csv, try 2"})
	told := 0
	for _, e := range p.events {
		if e.Kind == agent.Described {
			told++
		}
	}
	// The model is shown eight of the family, which is what the record has.
	if told != len(names) || len(p.Descriptions) != 9 || len(p.Task.Files) != 9 || p.Task.Others != len(names)-9 {
		t.Errorf("%d files described, %d recorded, %d others", told, len(p.Descriptions), p.Task.Others)
	}
	for _, d := range p.Descriptions {
		if d.Text != "data/"+d.File {
			t.Errorf("%+v", d)
		}
	}
	contains(t, p.model.prompt(t, "planner round 1"), "Of the same structure:", "51 files, such as \"s08.csv\"")
	contains(t, p.model.prompt(t, "debugger s59.csv, try 2"), "It works for 59 other files")
}

// A member for which the shared script fails gets it repaired, and the repaired
// one is tried on the others that failed before anybody is asked again.
func TestFamilyWithOddMembers(t *testing.T) {
	files := withData(t, tables("a1.csv", "b1.csv", "odd1.csv", "odd2.csv", "odd3.csv", "z1.csv"))
	lead := "fail_on(path, \"odd\")\nprint(\"a table\")"
	t.Run("mended at once", func(t *testing.T) {
		p := play(t, simple.with(script{"analyzer": lead, "debugger": `print("mended")`}), files).noError(t)
		equal(t, "calls", p.asks(), []string{"analyzer a1.csv", "debugger odd1.csv, try 2"})
		contains(t, p.model.prompt(t, "debugger odd1.csv, try 2"), "It works for 3 other files", lead, "ValueError: odd value in data/odd1.csv", "day,shop,amount")
		odd := p.described(t, "odd1.csv")
		if odd.Text != "mended" || odd.Code != `print("mended")` || odd.Like != "" || odd.Tries != 2 || len(odd.Failed) != 1 || odd.Failed[0].Code != lead {
			t.Errorf("%+v", odd)
		}
		if d := p.described(t, "odd3.csv"); d.Text != "mended" || d.Like != "odd1.csv" || d.Code != "" {
			t.Errorf("%+v", d)
		}
		if d := p.described(t, "z1.csv"); d.Text != "a table" || d.Like != "a1.csv" {
			t.Errorf("%+v", d)
		}
	})
	t.Run("mended twice", func(t *testing.T) {
		second := "fail_on(path, \"odd2\")\nprint(\"mended\")"
		p := play(t, simple.with(script{"analyzer": lead, "debugger odd1.csv, try 2": second, "debugger odd2.csv, try 2": `print("mended again")`}), files).noError(t)
		equal(t, "calls", p.asks(), []string{"analyzer a1.csv", "debugger odd1.csv, try 2", "debugger odd2.csv, try 2"})
		contains(t, p.model.prompt(t, "debugger odd2.csv, try 2"), "It works for 5 other files", second)
		for name, want := range map[string]string{"odd1.csv": "mended", "odd2.csv": "mended again", "odd3.csv": "mended"} {
			if d := p.described(t, name); d.Text != want {
				t.Errorf("%+v, want %q", d, want)
			}
		}
	})
	t.Run("one that nothing helps", func(t *testing.T) {
		p := play(t, simple.with(script{"analyzer": lead, "debugger": "fail_on(path, \"odd1\")\nprint(\"mended\")"}), files).noError(t)
		if d := p.described(t, "odd1.csv"); d.Text != "" || !strings.HasPrefix(d.Error, "ValueError") || d.Tries != 3 {
			t.Errorf("%+v", d)
		}
		for _, name := range []string{"odd2.csv", "odd3.csv"} {
			if d := p.described(t, name); d.Text != "mended" {
				t.Errorf("%+v", d)
			}
		}
	})
}

// After three files that no script could describe the family is given up.
func TestHopelessFamily(t *testing.T) {
	p := play(t, simple.with(script{"analyzer": "die()", "debugger": "die()"}),
		withData(t, tables("a.csv", "b.csv", "c.csv", "d.csv", "e.csv", "f.csv"))).noError(t)
	if p.model.count("analyzer") != 3 || p.model.count("debugger") != 6 {
		t.Errorf("asked %q", p.model.asked)
	}
	for i, d := range p.Descriptions {
		want := "the kernel died"
		if i > 2 {
			want = "no script could describe files of this kind"
		}
		if d.Text != "" || d.Error != want {
			t.Errorf("%+v, want %q", d, want)
		}
	}
	contains(t, p.model.prompt(t, "planner round 1"), "No description: no script could describe files of this kind")
}

func TestNoFamilies(t *testing.T) {
	p := play(t, simple, withData(t, tables("a.csv", "b.csv", "c.csv")), func(s *stage) { s.config.Method.NoFamilies = true }).noError(t)
	equal(t, "calls", p.asks(), []string{"analyzer a.csv", "analyzer b.csv", "analyzer c.csv"})
	for _, d := range p.Descriptions {
		if d.Like != "" || d.Code == "" {
			t.Errorf("%+v", d)
		}
	}
	lacks(t, p.model.prompt(t, "analyzer a.csv"), "one of 3 files")
}

func picture(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Documents and small files are their own descriptions, and images are what
// they are: nobody is asked.
func TestDocuments(t *testing.T) {
	manual := "# Manual\n\n" + strings.Repeat("Staff rides do not count. ", 120) + "Nor do tests."
	content := map[string]string{"manual.md": manual, "small.csv": "a;b\n1;2\n3;4\n5;6\n", "plot.png": picture(t), "big.txt": strings.Repeat("A line of prose.\n", 500)}
	maps.Copy(content, tables("table.csv"))
	files := withData(t, content)
	t.Run("shown as they are", func(t *testing.T) {
		p := play(t, simple, files).noError(t)
		equal(t, "calls", p.asks(), []string{"analyzer big.txt", "analyzer table.csv"})
		for name, want := range map[string]string{"manual.md": manual, "small.csv": "a;b\n1;2\n3;4\n5;6"} {
			if d := p.described(t, name); strings.TrimRight(d.Text, "\n") != want || !d.Whole || d.Code != "" {
				t.Errorf("%+v", d)
			}
		}
		if d := p.described(t, "plot.png"); !strings.Contains(d.Text, "30") || d.Text != d.Kind || d.Whole {
			t.Errorf("%+v", d)
		}
		contains(t, p.model.prompt(t, "planner round 1"), manual, "3;4", "Its whole content:")
	})
	t.Run("NoDocuments", func(t *testing.T) {
		p := play(t, simple, files, func(s *stage) { s.config.Method.NoDocuments = true }).noError(t)
		if n := p.model.count("analyzer"); n != 5 {
			t.Errorf("%d calls: %q", n, p.asks())
		}
	})
}

// Contents leave room for descriptions: three quarters of what is shown at most.
func TestRoomForDocuments(t *testing.T) {
	content := map[string]string{}
	for _, name := range []string{"a.md", "b.md", "c.md", "d.md", "e.md"} {
		content[name] = strings.Repeat("All is said in "+name+".\n", 4000/22)
	}
	p := play(t, simple, withData(t, content)).noError(t)
	equal(t, "calls", p.asks(), []string{"analyzer d.md", "analyzer e.md"})
	for _, d := range p.Descriptions {
		if d.Whole != (d.File < "d") {
			t.Errorf("%+v", d)
		}
	}
}

func TestPDF(t *testing.T) {
	content := map[string]string{"rules.pdf": "%PDF-1.4\n" + strings.Repeat("\x00\x01 stream", 300)}
	rules := "PDF document of 2 pages; its whole text:\n[page 1]\n" + strings.Repeat("Only completed rides count. ", 20)
	for _, c := range []struct {
		name, text string
		whole      bool
	}{{"text", rules, true}, {"a scan", "PDF document of 1 pages; its whole text:\n[page 1]\n\n", false}, {"too long", strings.Repeat(rules, 20), false}, {"unreadable", "", false}} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple, withData(t, content), func(s *stage) { s.world.pdf = c.text }).noError(t)
			d := p.Descriptions[0]
			if d.Whole != c.whole || (p.model.count("analyzer") == 0) != c.whole {
				t.Errorf("%+v; asked %q", d, p.asks())
			}
			if c.whole {
				contains(t, p.model.prompt(t, "planner round 1"), "Only completed rides count.")
			}
		})
	}
}

// What a person has written is what counts, whatever the file is.
func TestCorrections(t *testing.T) {
	content := map[string]string{"manual.md": "# Old rules", "none.csv": ""}
	maps.Copy(content, tables("a.csv", "b.csv"))
	p := play(t, simple, withData(t, content), func(s *stage) {
		s.config.Corrections = map[string]string{"manual.md": "Out of date.", "b.csv": "By hand.", "none.csv": "To come.", "gone.csv": "?"}
	}).noError(t)
	equal(t, "calls", p.asks(), []string{"analyzer a.csv"})
	for name, want := range map[string]string{"manual.md": "Out of date.", "b.csv": "By hand.", "none.csv": "To come."} {
		if d := p.described(t, name); d.Text != want || !d.Corrected || d.Code != "" || d.Like != "" || d.Whole {
			t.Errorf("%+v", d)
		}
	}
	planner := p.model.prompt(t, "planner round 1")
	contains(t, planner, "Out of date.", "By hand.", "To come.")
	lacks(t, planner, "Old rules")
}

// Files of one family share a script, and so all of them are described where one is
// chosen: what they hold decides which are shown.
func TestPreselectFamilies(t *testing.T) {
	content := tables("shops/1.csv", "shops/2.csv", "shops/3.csv")
	for i := range 4 {
		content[fmt.Sprintf("other/%c.dat", 'a'+i)] = strings.Repeat(fmt.Sprintf("text %c ", 'a'+i), 1000)
	}
	p := play(t, simple.with(script{"analyzer": "print(path)"}), withData(t, content), func(s *stage) {
		s.config.TopK, s.task.Question = 2, "How many shops?"
	}).noError(t)
	equal(t, "asked", p.asks(), []string{"analyzer shops/1.csv"})
	if p.Task.Others != 5 || len(p.Task.Files) != 2 {
		t.Errorf("%+v, %d others", p.Task.Files, p.Task.Others)
	}
	contains(t, p.model.prompt(t, "planner round 1"), `"data/other/a.dat"`, `"data/shops/3.csv"`)
}

// Source code is shown by its beginning, and costs no call.
func TestSourceCode(t *testing.T) {
	p := play(t, simple, withData(t, map[string]string{
		"load.py": "first = 1\n" + strings.Repeat("x = 1\n", 1000), "short.go": "package short\n", "query.sql": "SELECT first\n" + strings.Repeat("-- x\n", 1000),
	})).noError(t)
	equal(t, "asked", p.asks(), []string(nil))
	for name, want := range map[string]string{"load.py": "first = 1", "short.go": "package short", "query.sql": "SELECT first"} {
		if d := p.described(t, name); !strings.HasPrefix(d.Text, want) || len(d.Text) > 1000 || strings.Contains(d.Text, "goes on") == d.Whole {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// What describing takes is told before it is paid, and can be refused.
func TestAgree(t *testing.T) {
	content := tables("1.csv", "2.csv")
	content["x.dat"], content["notes.md"] = strings.Repeat("x", 10_000), "# Notes"
	var told []describe.Estimate
	refused := errors.New("too much")
	ask := func(err error, asked func() int) func(context.Context, describe.Estimate) error {
		return func(_ context.Context, e describe.Estimate) error {
			if told = append(told, e); asked() > 0 {
				t.Error("asked after a call")
			}
			return err
		}
	}
	for _, want := range []error{nil, refused} {
		p := play(t, simple, withData(t, content), func(s *stage) {
			s.config.Agree = ask(want, func() int { return len(s.model.asked) })
			s.config.Price = func(string) (llm.Price, bool) { return llm.Price{Input: 1e6, Cached: 1e6, Output: 1e6}, true }
		})
		if !errors.Is(p.err, want) || want != nil && len(p.model.asked) > 0 {
			t.Errorf("%v after %q", p.err, p.model.asked)
		}
	}
	if len(told) != 2 {
		t.Fatalf("told %d times", len(told))
	}
	if e := told[0]; e.Files != 3 || e.Calls != 2 || e.InputTokens < 1000 || e.InputTokens > 5000 || e.Cost == nil || *e.Cost < 1000 {
		t.Errorf("%+v", told)
	}
}

// What a .gitignore leaves out may be what the question is about: the record warns of it.
func TestIgnoredData(t *testing.T) {
	data := t.TempDir()
	for _, name := range []string{".git/HEAD", "raw/x.csv", "node_modules/y.js", "z.csv"} {
		path := filepath.Join(data, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("a\n1\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(data, ".gitignore"), []byte("raw/\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	all, err := files.List(t.Context(), data, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := play(t, simple, withData(t, tables("z.csv")), func(s *stage) { s.task.Skipped = all.Skipped }).noError(t)
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "raw/") || strings.Contains(p.Warnings[0], "node_modules") {
		t.Errorf("%q", p.Warnings)
	}
}

// A run that is ended begins no further calls.
func TestNoCallsAfterTheEnd(t *testing.T) {
	content := map[string]string{}
	for i := range 60 {
		content[fmt.Sprintf("%c%c.dat", 'a'+i%26, 'a'+i/26)] = strings.Repeat("x", 10_000)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := play(t, simple, withData(t, content), func(s *stage) {
		s.ctx = ctx
		s.model.before = func(ctx context.Context, _ string) error { cancel(); return ctx.Err() }
	})
	const atOnce = 8
	if n := p.model.count("analyzer"); !errors.Is(p.err, context.Canceled) || n > atOnce {
		t.Errorf("%d calls, %v", n, p.err)
	}
}

// Of more files than a run looks at the names are chosen; the others are named,
// or else counted by folder.
func TestMaxFiles(t *testing.T) {
	content := map[string]string{}
	for i := range 20 {
		content[fmt.Sprintf("log/%02d.csv", i)] = "a,b\n1,2\n2,3\n"
	}
	content["many/how.csv"] = "a,b\n1,2\n2,3\n"
	for _, c := range []struct {
		name    string
		room    int
		leftOut string
	}{{"named", 6000, "\"data/log/19.csv\"\n"}, {"counted", 500, "\"data/log/\": 16 files, such as \""}} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple, withData(t, content), func(s *stage) {
				s.config.MaxFiles, s.config.DescriptionChars = 5, c.room
			}).noError(t)
			if len(p.Task.Files) != 5 || len(p.Descriptions) != 5 || p.Task.Others != 16 {
				t.Errorf("%d files, %d descriptions, %d others", len(p.Task.Files), len(p.Descriptions), p.Task.Others)
			}
			var names []string
			for _, f := range p.Task.Files {
				names = append(names, f.Name)
			}
			if !slices.Contains(names, "many/how.csv") || !slices.Contains(names, "log/00.csv") || !slices.IsSorted(names) {
				t.Errorf("chosen are %q for %q", names, p.Task.Question)
			}
			contains(t, p.model.prompt(t, "planner round 1"), "## More files", c.leftOut)
		})
	}
}
