package agent_test

import (
	"context"
	"encoding/json"
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
	"dsstar/agent/describe/profile"
	"dsstar/agent/llm"
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

// described returns the description of a file.
func (p *played) described(name string) record.Description {
	return p.Descriptions[slices.IndexFunc(p.Descriptions, func(d record.Description) bool { return d.File == name })]
}

// profiled gives a run what the program says of files, by name. The others it does not understand.
func profiled(profiles map[string]profile.Profile) func(*stage) {
	return func(s *stage) {
		s.world.profiles = map[string]string{}
		for name, p := range profiles {
			s.world.profiles["data/"+name] = string(must(json.Marshal(p)))
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
	for _, name := range columns {
		p.Tables[0].Columns = append(p.Tables[0].Columns,
			profile.Column{Name: name, Type: "text", Line: "text"})
	}
	return p
}

// Of more files than a run looks at some are chosen by their names; the others are named, or else
// counted by folder.
func TestMaxFiles(t *testing.T) {
	content := map[string]string{"many/how.csv": "a,b\n1,2\n2,3\n"}
	for i := range 20 {
		content[fmt.Sprintf("log/%02d.csv", i)] = content["many/how.csv"]
	}
	for room, leftOut := range map[int]string{6000: ", 18.csv, 19.csv\n", 500: "cut here"} {
		p := play(t, simple, withData(t, content), func(s *stage) {
			s.config.MaxFiles, s.config.DescriptionChars = 5, room
		}).noError(t)
		f := p.Task.Files
		if len(f) != 5 || len(p.Descriptions) != 5 || p.Task.Others != 16 ||
			f[0].Name != "log/00.csv" || f[4].Name != "many/how.csv" {
			t.Errorf("chosen are %+v, %d descriptions, %d others", f, len(p.Descriptions), p.Task.Others)
		}
		contains(t, p.model.prompt(t, "solver round 1"), "## More files", leftOut)
	}
}

// A program describes the files. What is shown stands in the record, so that nothing is profiled
// again on resuming; a profile is kept by content, so that another place, model or question needs no
// new one.
func TestProfiles(t *testing.T) {
	content := map[string]string{"odd.bin": "?", "shops.csv": "s", "sales/1.csv": "1", "sales/2.csv": "22",
		"rules.md": "# Rules"}
	known := profiled(map[string]profile.Profile{"shops.csv": table(9, "shop", "town"), "sales/1.csv": table(5, "shop", "amount"),
		"sales/2.csv": table(7, "shop", "amount"), "rules.md": {Format: "text", Document: "# Rules", Whole: true}})
	cache := &describe.Cache{Dir: t.TempDir()}
	stored := func(s *stage) { s.config.Cache = cache }
	p := play(t, simple, withData(t, content), known, stored).noError(t)
	planner := p.model.prompt(t, "solver round 1")
	contains(t, planner, "Its whole content:\n\n```\n# Rules\n```", "\na table\n", "- town: ", "9 rows, 2 columns", "7 rows\n")
	if n := strings.Count(planner, "- amount: "); n != 1 {
		t.Errorf("a family is described %d times in\n%s", n, planner)
	}
	if d := p.described("sales/2.csv"); !d.Profile || d.Like != "sales/1.csv" || d.Code != "" || !p.described("rules.md").Whole {
		t.Errorf("%+v", p.Descriptions)
	}
	again := goOn(t, simple, readAgain(t, p.Trajectory), func(s *stage) { s.task = p.Task })
	if n := len(again.world.of(agent.Describe)); n > 0 {
		t.Errorf("%d sessions describe files on resuming", n)
	}
	moved := withData(t, map[string]string{"b/shops.csv": "s"})
	for _, python := range []string{"", "another"} {
		cache.Python = python
		d := play(t, simple, moved, stored).noError(t).described("b/shops.csv")
		if d.Cached != (python == "") {
			t.Errorf("%+v", d)
		}
	}
}

// A ranker gives each text the score of the first word of scores that it has.
type ranker struct {
	scores map[string]float64
	err    error
	asked  []string // the questions
	model  *model   // whose secrets it hides, too
}

func (r *ranker) Ask(_ context.Context, request llm.Request) (llm.Reply, error) {
	if r.model != nil {
		r.model.hides("the retriever", request)
	}
	r.asked = append(r.asked, request.Messages[0].Text)
	scores := []float64{}
	for _, text := range request.Texts {
		score := 0.0
		for word, s := range r.scores {
			if strings.Contains(text, word) {
				score = s
			}
		}
		scores = append(scores, score)
	}
	return llm.Reply{Text: string(must(json.Marshal(scores))), Model: "e1", Calls: 3,
		Usage: llm.Usage{InputTokens: 500}}, r.err
}

// More than TopK files: those nearest to the question are described to the model, and the others
// named. As published, all are described first.
func TestTopK(t *testing.T) {
	const question = "What did the shops in Bremen sell?"
	five := func(k int, ranker llm.Model) func(*stage) {
		return func(s *stage) {
			s.config.TopK, s.config.Embedder, s.task.Question = k, ranker, question
			s.task.Files = filesOf("apes.csv", "bremen.csv", "cats.csv", "dogs.csv", "shops.csv")
			known := map[string]profile.Profile{}
			for _, f := range s.task.Files {
				known[f.Name] = table(3, "of_"+f.Name)
			}
			profiled(known)(s)
		}
	}
	embed := &ranker{scores: map[string]float64{"cats": 0.9, "apes": 0.8, "dogs": -0.5}}
	for _, c := range []struct {
		name   string
		ranker llm.Model
		shown  []string
		warned string
		calls  int
	}{
		{"by words", nil, []string{"bremen.csv", "shops.csv"}, "no embedding model is set", 0},
		{"by meaning", embed, []string{"apes.csv", "cats.csv"}, "", 3},
		{"by words, when the ranker fails", &ranker{err: errors.New("connection refused")},
			[]string{"bremen.csv", "shops.csv"}, "the embedding model failed: connection refused", 0},
	} {
		p := play(t, simple, five(2, c.ranker)).noError(t)
		for _, key := range []string{"solver round 1", "second the answer"} {
			described, others, _ := strings.Cut(p.model.prompt(t, key), "## More files")
			for _, f := range p.Task.Files {
				shown := strings.Contains(described, "- of_"+f.Name+": ")
				if shown != slices.Contains(c.shown, f.Name) || strings.Contains(others, f.Name) == shown {
					t.Errorf("%s, %s: %s is described: %v, want %q", c.name, key, f.Name, shown, c.shown)
				}
			}
		}
		if w := strings.Join(p.Warnings, "\n"); !strings.Contains(w, c.warned) || (w == "") != (c.warned == "") {
			t.Errorf("warnings %q, want %q", p.Warnings, c.warned)
		}
		own := p.ByRole["retriever"]
		if own.Calls != c.calls || p.Usage.Calls != len(p.model.asked)+c.calls || (c.calls > 0) != (own.InputTokens == 500) {
			t.Errorf("usage %+v, of the retriever %+v", p.Usage, own)
		}
	}
	equal(t, "asked", embed.asked, []string{question})
	badKey := &ranker{err: &llm.CredentialError{Provider: "acme", KeyEnv: "ACME_KEY"}}
	p := play(t, simple, five(2, badKey))
	if _, ok := errors.AsType[*llm.CredentialError](p.err); !ok || p.model.count("solver") > 0 {
		t.Errorf("error %v after %q", p.err, p.model.asked)
	}
	unused := &ranker{}
	if p = play(t, simple, five(5, unused)).noError(t); len(unused.asked) > 0 || len(p.Warnings) > 0 {
		t.Errorf("the ranker was asked %q, warnings %q", unused.asked, p.Warnings)
	}
	if p = play(t, published, five(2, nil), asPublished); p.model.count("analyzer") != 5 {
		t.Errorf("described are %q", p.model.asked)
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
	r := agent.RecallFor(m, "What is the share of the total?")
	has := func(name string) bool {
		for _, tool := range r.Tools {
			if tool.Name == name {
				return true
			}
		}
		return false
	}
	if len(r.Tools) != 3 || !has("share_of") || !has("total_of") || !has("helper") {
		t.Errorf("functions %+v", r.Tools)
	}
	if n := len(r.Facts); n != 3 || !strings.HasPrefix(r.Facts[n-1].Text, "share") {
		t.Errorf("%d facts: %.20v", n, r.Facts)
	}
	r = agent.RecallFor(m, "Fee, tax, rate, cost, price, sum, mean, count, total, share?")
	if len(r.Tools) != 9 { // as many as there is room for
		t.Errorf("functions %+v", r.Tools)
	}
	if agent.RecallFor(nil, "") != nil || agent.RecallFor(&memory.Memory{}, "") != nil {
		t.Error("an empty memory has something")
	}
}

// TestExample: only the first request shows the nearest verified question with its cells, and the
// session has the functions that these use.
func TestExample(t *testing.T) {
	const asked, next, cell = "How many of size 31 are there?", "How many of size 42 are there?", "x = tool"
	about := func(question string) func(*stage) { return func(s *stage) { s.task.Question = question } }
	first := play(t, simple.with(script{"cell": cell + "\nprint(x)"}), about(asked), recalled("tool = 1")).noError(t)
	unproved, of := *first.Trajectory, *first.Question
	of.Proof, unproved.Questions = nil, []*record.Question{&of}
	unproved.Question = &of
	tools := []lesson.Tool{{Name: "tool", Code: "tool = 1", Test: "assert tool == 1\n"}}
	remember := func(tr *record.Trajectory) *memory.Memory {
		path := filepath.Join(t.TempDir(), "notebook.ipynb")
		if err := page.Draw(tr).Save(path); err != nil {
			t.Fatal(err)
		}
		return &memory.Memory{Lesson: lesson.Lesson{Tools: tools}, Questions: []memory.Question{{Question: "Why?", Answer: "none"},
			{Question: asked, Answer: tr.Answer(), Notebook: path}}}
	}
	m := remember(first.Trajectory)
	lost := &memory.Memory{Lesson: lesson.Lesson{Tools: tools}, Questions: []memory.Question{{Question: asked, Notebook: "gone.ipynb"}}}
	for name, r := range map[string]*record.Recalled{"far": agent.RecallFor(m, "Who wrote the manual?"),
		"unproved": agent.RecallFor(remember(&unproved), next), "lost": agent.RecallFor(lost, next)} {
		if r.Example != nil || len(r.Tools) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	p := play(t, simple.with(script{"verdict round 1": no}), about(next), func(s *stage) {
		s.config.Recalled = agent.RecallFor(m, next)
	}).noError(t)
	for _, key := range []string{"solver round 1", "solver round 2", "judge round 1", "judge round 2", "second the answer"} {
		text := p.model.prompt(t, key)
		for _, part := range []string{asked, cell} {
			if strings.Contains(text, part) != (key == "solver round 1") {
				t.Errorf("%s: whether it has %q is wrong:\n%s", key, part, text)
			}
		}
	}
	if !strings.Contains(p.model.prompt(t, "solver round 1"), "tool") || !p.Verified() {
		t.Error(p.Standing())
	}
}
