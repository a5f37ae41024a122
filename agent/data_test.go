package agent_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/describe/profile"
	"dsstar/agent/mask"
	"dsstar/agent/mask/masktest"
	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/page"
	"dsstar/agent/record"
)

// withData gives a run a data folder with real files, by name.
func withData(t testing.TB, content map[string]string) func(*stage) {
	t.Helper()
	data := t.TempDir()
	var list []record.File
	for _, name := range slices.Sorted(maps.Keys(content)) {
		path := filepath.Join(data, name)
		must(0, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content[name]), 0o644)))
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

// profiled gives a run what the program says of files, by name. The others it does not understand.
func profiled(profiles map[string]profile.Profile) func(*stage) {
	return func(s *stage) { s.world.profiles = profiles }
}

// table is the profile of a table whose first column has the values 0, 1, 2, ...
func table(rows int, columns ...string) profile.Profile {
	size := fmt.Sprintf("%d rows, %d columns", rows, len(columns))
	p := profile.Profile{Format: "delimited text", Headline: "delimited text",
		Line:  "delimited text; " + size + ": " + strings.Join(columns, ", "),
		About: strings.Join(columns, "\n"), Structure: strings.Join(columns, "\n"),
		Count:  fmt.Sprintf("%d rows", rows),
		Tables: []profile.Table{{Names: columns, Headline: size}}}
	for _, name := range columns {
		p.Tables[0].Columns = append(p.Tables[0].Columns,
			profile.Column{Name: name, Type: "text", Line: "text"})
	}
	return p
}

// A program describes the files. What is shown stands in the record, so that nothing is profiled
// again on resuming.
func TestProfiles(t *testing.T) {
	content := map[string]string{"odd.bin": "?", "shops.csv": "s", "sales/1.csv": "1", "sales/2.csv": "22",
		"rules.md": "# Rules"}
	known := profiled(map[string]profile.Profile{"shops.csv": table(9, "shop", "town"), "sales/1.csv": table(5, "shop", "amount"),
		"sales/2.csv": table(7, "shop", "amount"), "rules.md": {Format: "text", Document: "# Rules", Whole: true}})
	p := play(t, simple, withData(t, content), known).noError(t)
	planner := p.model.prompt(t, "solver round 1")
	contains(t, planner, "Its whole content:\n\n```\n# Rules\n```", "\na table\n", "- town: ", "9 rows, 2 columns", "sales/\": 2.csv\n")
	equal(t, "descriptions of a family", strings.Count(planner, "- amount: "), 1)
	again := goOn(t, simple, readAgain(p.Trajectory), func(s *stage) { s.task = p.Task })
	equal(t, "sessions that describe files on resuming", len(again.world.of(agent.Describe)), 0)
}

// near has two of five files looked into: of shops, and of Bremen.
func near(s *stage) {
	s.config.TopK, s.task.Question = 2, "What did the shops in Bremen sell?"
	s.task.Files = filesOf("apes.csv", "bremen.csv", "cats.csv", "dogs.csv", "shops.csv")
	s.world.profiles = map[string]profile.Profile{}
	for _, f := range s.task.Files {
		s.world.profiles[f.Name] = table(3, "of_"+f.Name)
	}
}

// crowded has more files than a run looks at.
func crowded(s *stage) {
	s.config.MaxFiles, s.task.Files = 5, filesOf("many/how.csv")
	for i := range 20 {
		s.task.Files = append(s.task.Files, filesOf(fmt.Sprintf("log/%02d.csv", i))...)
	}
}

// recalled is a memory with a fact and two functions, of which cells may use one.
func recalled(code string) func(*stage) {
	return func(s *stage) {
		s.config.Recalled = &record.Recalled{
			Facts: []lesson.Fact{{Text: "An empty list means all.", Source: "manual.md"}},
			Tools: []lesson.Tool{{Name: "tool", Code: code}, {Name: "unused", Code: "unused = 7"}},
		}
	}
}

// TestRecallFor: the nearest facts and functions, with those that they call, and nothing far.
func TestRecallFor(t *testing.T) {
	m := &memory.Memory{}
	for _, name := range strings.Fields("fee tax rate cost price sum mean count total share") {
		m.Facts = append(m.Facts, lesson.Fact{Text: name + strings.Repeat(" word", 150)})
		m.Tools = append(m.Tools, lesson.Tool{Name: name + "_of", Test: "assert",
			Code: "def " + name + "_of(a):\n    \"\"\"" + name + "\"\"\"\n    return helper(a)"})
	}
	m.Tools = append(m.Tools, lesson.Tool{Name: "helper", Test: "assert", Code: "def helper(a):\n    return 1"},
		lesson.Tool{Name: "untested", Code: "def untested(a):\n    return 'share'"})
	for question, want := range map[string]string{
		"What is the share of the total?": "total_of share_of helper",
		// as many as there is room for
		"Fee, tax, rate, cost, price, sum, mean, count, total, share?": "fee_of tax_of rate_of cost_of price_of sum_of mean_of count_of helper",
	} {
		r, names := agent.RecallFor(m, question), []string{}
		for _, tool := range r.Tools {
			names = append(names, tool.Name)
		}
		equal(t, "functions", strings.Join(names, " "), want)
		if n := len(r.Facts); n != 3 || want[0] == 't' && !strings.HasPrefix(r.Facts[0].Text, "total") {
			t.Errorf("%d facts: %.20v", n, r.Facts)
		}
	}
	if agent.RecallFor(nil, "") != nil || agent.RecallFor(&memory.Memory{}, "") != nil {
		t.Error("an empty memory has something")
	}
}

// TestExample: only the first request shows the nearest verified question with its cells, and the
// session has the functions that these use.
func TestExample(t *testing.T) {
	const asked, next, cell = "How many of size 31 are there?", "How many of size 42 are there?", "x = tool"
	first := play(t, simple.with(script{"cell": cell + "\nprint(x)"}), asking(asked, aNumber),
		recalled("tool = 1")).noError(t)
	path, tool := filepath.Join(t.TempDir(), "notebook.ipynb"), lesson.Tool{Name: "tool", Code: "tool = 1", Test: "assert tool == 1\n"}
	m := &memory.Memory{Dir: filepath.Join(filepath.Dir(path), memory.Name),
		Lesson: lesson.Lesson{Tools: []lesson.Tool{tool}}, Questions: []memory.Question{
			{Question: "Why?", Answer: "none"}, {Question: asked, Answer: first.Answer(), Notebook: "notebook.ipynb"}}}
	shows := func(what, question string, want bool) {
		if r := agent.RecallFor(m, question); (r.Example != nil) != want || (len(r.Tools) > 0) != want {
			t.Errorf("%s: %+v", what, r)
		}
	}
	shows("no notebook", next, false)
	proved := page.Draw(first.Trajectory)
	first.Proof = nil
	must(0, page.Draw(first.Trajectory).Save(path))
	shows("not proved", next, false)
	must(0, proved.Save(path))
	shows("another question", "Who wrote the manual?", false)
	shows("proved", next, true)
	p := play(t, simple.with(script{"verdict round 1": no}), asking(next, aNumber), func(s *stage) {
		s.config.Recalled = agent.RecallFor(m, next)
	}).noError(t)
	for _, key := range p.model.asked {
		text := p.model.prompt(t, key)
		for _, part := range []string{asked, cell} {
			if strings.Contains(text, part) != (key == "solver round 1") {
				t.Errorf("%s: whether it has %q is wrong:\n%s", key, part, text)
			}
		}
	}
	contains(t, p.model.prompt(t, "solver round 1"), "tool")
	if len(p.model.asked) != 5 || !p.Verified() {
		t.Errorf("%q, %s", p.model.asked, p.Standing())
	}
}

// guarded has no request with a credential.
func guarded(s *stage) {
	for secret := range masktest.Credentials {
		s.model.secrets = append(s.model.secrets, strings.Fields(strings.ToLower(secret))...)
	}
}

// printing returns cells that print each credential, in the line that it stands in or alone.
func printing(dressed bool) string {
	var b strings.Builder
	for secret, line := range masktest.Credentials {
		if !dressed {
			line = "it is %s"
		}
		fmt.Fprintf(&b, "print(%q)\n", fmt.Sprintf(line, secret))
	}
	return b.String()
}

// TestCredentialsStay: no request of a run has a credential of a file, of a variable of the user's or of
// an output, with its context or printed alone, wherever a run with a follow-up is killed; each file and
// line is named once.
func TestCredentialsStay(t *testing.T) {
	content, profiles, variables := map[string]string{}, map[string]profile.Profile{}, []record.Variable(nil)
	for secret, line := range masktest.Credentials {
		name, text := fmt.Sprintf("f%d.env", len(content)), fmt.Sprintf(line, secret)
		content[name], profiles[name] = text, profile.Profile{Format: "text", Headline: "text", Document: text}
		variables = append(variables, record.Variable{Name: fmt.Sprintf("v%d", len(content)), Type: "str", Text: text})
	}
	replies := simple.with(script{"cell": printing(false) + "x = 1"})
	paper := published.with(script{"coder": printing(false) + "x = 1\nprint(x)", "analyzer": printing(true)})
	for n, run := range []turns{of(replies), of(paper, asPublished)} {
		run[0].change = append(run[0].change, guarded, withData(t, content), quickly, profiled(profiles))
		p := run[0].play(t, nil)
		if p.Answer() == "" {
			t.Errorf("%d: by role %+v, %v", n, p.ByRole, p.err)
		}
		told := strings.Join(p.Warnings, "\n")
		for name := range content {
			if strings.Count(told, name+", line ") != 1 {
				t.Errorf("no warning names %s:\n%s", name, told)
			}
		}
	}
	for code, has := range map[string][]record.Variable{printing(false): variables, printing(true): nil} {
		change := func(s *stage) {
			s.quick, s.config.ContextChars, s.task.Guidelines = true, 200, ""
			hosting(s, has) // none are shown
		}
		replies := simple.with(script{"cell": code + "x = 1\nprint(x)", "last": printing(false),
			"cell round 2": "b = x\nprint(b)"})
		got := goldenOf(t, of(replies, guarded, change).on(next, replies, guarded, change).on(nil, replies, guarded))
		contains(t, got, "answer 2: ", "tr0ub4dor")
	}
}

// private are the values of three columns of a run of [masking].
var private = map[string][]string{"name": {" Ann Smith ", "Bob O'Brien", "Zoë Quux"},
	"id": {"1234567", "2345678.0"}, "born": {"1980-01-05"}}

// masking has columns masked with one key, in each life of a run, and no request with a value as it
// stands, trimmed or in another case.
func masking(s *stage) {
	s.config.Mask, s.world.columns = mask.New([]byte("k")), private
	s.config.TopK, s.task.Files = 1, filesOf("Ann Smith.csv", "b.csv")
	rows := profile.Profile{Format: "text", Headline: "text", Document: "Ann Smith,1234567,1980-01-05\nzoë quux"}
	s.world.profiles = map[string]profile.Profile{"Ann Smith.csv": rows, "b.csv": rows}
	for _, v := range append(slices.Concat(slices.Collect(maps.Values(private))...), "smith", "brien", "1,234,567") {
		s.model.secrets = append(s.model.secrets, strings.TrimSuffix(strings.ToLower(strings.TrimSpace(v)), ".0"))
	}
	if s.resume == nil {
		s.task.Question, s.task.Guidelines = "Who is Ann Smith, 1,234,567?", ""
		s.config.Columns = []string{"name", "id", "born"}
	}
}

// says is code with a value as the model knows it.
func says(code, value string) string {
	known := mask.New([]byte("k"))
	for _, all := range private {
		known.Add(all)
	}
	return fmt.Sprintf(code, known.Mask(value))
}

// TestMasked: wherever a run with masked columns is killed, or goes on by a person's edit, choice or
// next question, no request has a value, and neither has the notebook, unless a cell has printed it.
func TestMasked(t *testing.T) {
	replies := simple.with(script{
		"solver round 1": strings.Replace(reads(isOpen), "x = 1", says("x = %q", "ANN SMITH 1234567"), 1),
		"branches":       branches(says("z = %q\nz", "Ann Smith")), "second": says("w = %q\nprint(w)\nagreed()", "zoë quux")})
	ann := says("x = %q\nprint(x)", "Ann Smith")
	paper := published.with(script{"coder": ann, "finalizer": ann, "analyzer": `print("Ann Smith")`})
	follow := fresh.with(script{"cell": says("b = %q\nprint(b)", "Ann Smith")})
	for name, c := range map[string]struct {
		run    turns
		answer string // of the last turn
	}{
		"readings":       {of(replies, masking), "ANN SMITH 1234567"},
		"a choice":       {of(replies, masking, choosing(1)), "Ann Smith"},
		"as published":   {of(paper, masking, asPublished), "Ann Smith"},
		"a later choice": {of(replies, masking).on(chooses(0, 0, 1), replies, masking), "Ann Smith"},
		"a follow-up after an edit": {of(replies, masking).on(edit(source("step-1", "ANN SMITH", "Zoë Quux")), replies, masking).
			on(question("And Ann Smith?", ""), follow, masking), "Ann Smith"},
	} {
		got := goldenOf(t, c.run)
		answers := strings.Split(got, ": \""+c.answer+"\", ")
		if len(answers) < 2 || strings.Contains(answers[len(answers)-1], "answer ") || strings.Contains(got, "masked") {
			t.Errorf("%s: want %q in\n%s", name, c.answer, got)
		}
	}
	p := play(t, replies, masking).noError(t)
	lacks(t, string(must(page.Draw(p.Trajectory).Encode())), "Bob O'Brien")
}
