package learn

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/memory"
)

// A play is a loop on three questions, of which the last is held back. Each lesson teaches a fact and a
// function; the held-back answer is verified without memory, and with the memories that do not lose it.
type play struct {
	loses    string // "revised", "draft": the held-back answer is lost with these
	revision *memory.Revision
	asked    []string
	said     string
}

func (p *play) run(t *testing.T, m *memory.Memory, questions ...string) bool {
	t.Helper()
	var lessons []Lesson
	for _, q := range questions {
		lessons = append(lessons, Lesson{Question: q})
	}
	kept, err := Loop{Dir: t.TempDir(), Ask: p.ask,
		Revise: func(context.Context, string) (*memory.Revision, error) {
			p.asked = append(p.asked, "revise")
			return p.revision, nil
		},
		Show: func(trials []Trial, title string) { p.said += title + " " },
		Warn: func(format string, args ...any) { p.said += fmt.Sprintf(format, args...) + " " },
	}.Run(t.Context(), m, lessons)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func (p *play) ask(ctx context.Context, l Lesson, dir string, learns bool) (Outcome, error) {
	with := map[string]string{memory.Name: "draft", "revised": "revised", "off": "off"}[filepath.Base(dir)]
	p.asked = append(p.asked, l.Question+" "+with)
	if learns {
		m, err := memory.Read(ctx, dir)
		if err != nil {
			return Outcome{}, err
		}
		m.Learn([]memory.Fact{{Text: "of " + l.Question, Source: "a.csv"}}, nil,
			[]memory.Tool{{Name: "f_" + l.Question, Code: "def f_" + l.Question + "():\n    return 1", Test: "assert 1 == 1\n"}})
		return Outcome{Verified: true}, m.Save()
	}
	return Outcome{Verified: !strings.Contains(p.loses, with)}, nil
}

// TestKeeps: what is kept loses no held-back answer, as it was revised or else without that.
func TestKeeps(t *testing.T) {
	revision := func() *memory.Revision {
		return &memory.Revision{Facts: []memory.Merger{{Old: []string{"of a"}}}, Tools: []memory.Replacement{{
			Old: []string{"f_a", "mine"}, New: []memory.Tool{{Name: "g", Code: "def g():\n    return 1", Test: "assert g() == 1\n"}}}}}
	}
	for name, c := range map[string]struct {
		loses    string
		revision *memory.Revision
		kept     bool
		asked    string
		said     string
		memory   string // functions and facts
	}{
		"revised": {revision: revision(), kept: true, asked: "a draft, b draft, revise, c off, c revised",
			said: "REVISED", memory: "f_b g / of b"},
		"not revised": {revision: &memory.Revision{}, kept: true, asked: "a draft, b draft, revise, c off, c draft",
			said: "WITH", memory: "mine f_a f_b / of a of b"},
		"the revision loses": {loses: "revised", revision: revision(), kept: true,
			asked: "a draft, b draft, revise, c off, c revised, c draft",
			said:  "REVISED the revision is withdrawn: with it 1 answer of those held back is lost WITH", memory: "mine f_a f_b / of a of b"},
		"both lose": {loses: "revised draft", revision: revision(),
			asked: "a draft, b draft, revise, c off, c revised, c draft",
			said: "REVISED the revision is withdrawn: with it 1 answer of those held back is lost WITH " +
				"the memory is as it was: with what was learned, 1 answer of those held back is lost", memory: "mine /"},
		"nothing is lost that was not there": {loses: "revised draft off", revision: revision(), kept: true,
			asked: "a draft, b draft, revise, c off, c revised", said: "REVISED", memory: "f_b g / of b"},
	} {
		m := read(t, t.TempDir())
		m.AddTool(memory.Tool{Name: "mine", Code: "def mine():\n    return 1", Test: "assert mine() == 1\n"}, nil)
		p := &play{loses: c.loses, revision: c.revision}
		if kept := p.run(t, m, "a", "b", "c"); kept != c.kept {
			t.Errorf("%s: kept %v", name, kept)
		}
		var has []string
		for _, tool := range m.Tools {
			has = append(has, tool.Name)
		}
		has = append(has, "/")
		for _, f := range m.Facts {
			has = append(has, f.Text)
		}
		for what, diff := range map[string]string{
			"asked": cmp.Diff(c.asked, strings.Join(p.asked, ", ")), "said": cmp.Diff(c.said, strings.TrimSpace(p.said)),
			"memory": cmp.Diff(c.memory, strings.Join(has, " ")),
		} {
			if diff != "" {
				t.Errorf("%s: %s: -want +got\n%s", name, what, diff)
			}
		}
	}
}

// TestNoneHeldBack: without a question to try it on, nothing is revised.
func TestNoneHeldBack(t *testing.T) {
	m, p := read(t, t.TempDir()), &play{}
	if kept := p.run(t, m, "a", "b"); !kept || strings.Join(p.asked, ", ") != "a draft, b draft" || len(m.Tools) != 2 {
		t.Errorf("kept %v, asked %q, functions %v", kept, p.asked, m.Tools)
	}
}

// TestRead: a question in each line, perhaps with its answer.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.txt")
	if err := os.WriteFile(path, []byte("# ours\nA? => 42 \n\n  B?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if diff := cmp.Diff([]Lesson{{Question: "A?", Answer: "42"}, {Question: "B?"}}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := os.WriteFile(path, []byte("# none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err != ErrNone {
		t.Error(err)
	}
}

// TestGood: an answer counts if it is right or, where none is given, verified.
func TestGood(t *testing.T) {
	for l, want := range map[Lesson]bool{{Answer: "42.0"}: true, {Answer: "43"}: false, {}: false} {
		if got := l.good(Outcome{Answer: "42"}); got != want {
			t.Errorf("%+v: %v", l, got)
		}
	}
	var b strings.Builder
	Print(&b, []Trial{{Lesson{Question: "A?", Answer: "42"}, Outcome{Answer: "42", Verified: true, Calls: 3}, Outcome{Answer: "7"}}}, "WITH")
	if !strings.Contains(b.String(), "42, right, verified  3") || !strings.Contains(b.String(), "7, wrong") {
		t.Error(b.String())
	}
}

func read(t *testing.T, dir string) *memory.Memory {
	t.Helper()
	m, err := memory.Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
