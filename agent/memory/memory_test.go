package memory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/memory/lesson"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook/disk"
)

const fee = `# From: What does the account A pay?
def fee(account: str, *,
        year: int = 2023) -> float:
    """Fees of an account in a year, in EUR.

    An empty list of account types means all.
    """
    return rate(account) * year`

const rate = `def rate(account):
    return math.floor(2.5)`

func read(t *testing.T, dir string) *Memory { return pyenvtest.Must(Read(t.Context(), dir)) }

func saved(t *testing.T, m *Memory) *Memory {
	t.Helper()
	pyenvtest.OK(t, m.Save())
	return read(t, m.Dir)
}

// TestSave: what was added is read again, in files that people can read. A function that is known
// by its name is not replaced.
func TestSave(t *testing.T) {
	m := read(t, filepath.Join(t.TempDir(), Name))
	m.Learn([]lesson.Fact{{Text: "An empty list means\nall.", Source: "manual.md, section 5"},
		{Text: "An empty list means all."}}, []lesson.Tool{
		{Name: "fee", Imports: []string{"import math"}, Code: fee, Test: "# What?\nassert fee('A') == 4046\n"},
		{Name: "rate", Imports: []string{"from os import sep as s, path", "import math"}, Code: rate}})
	m.AddQuestion(Question{Question: "What?", Answer: "1"})
	taken := m.Learn(nil, []lesson.Tool{{Name: "rate", Code: "def rate():\n    return 3"},
		{Name: "fee", Code: fee}})
	again := saved(t, m)
	if again.Problems != nil || strings.Join(taken, " ") != "rate" || m.Tools[1].Code != rate {
		t.Errorf("%v, taken %q, functions %v", again.Problems, taken, m.Tools)
	}
	for what, diff := range map[string]string{
		"facts":     cmp.Diff([]lesson.Fact{{Text: "An empty list means all.", Source: "manual.md, section 5"}}, again.Facts),
		"tools":     cmp.Diff(m.Tools, again.Tools),
		"questions": cmp.Diff(m.Questions, again.Questions),
		"source": cmp.Diff("from os import sep as s, path\nimport math\n\n\n"+fee+"\n\n\n"+rate,
			lesson.Module(lesson.Needed(again.Tools, "fee"))),
	} {
		if diff != "" {
			t.Errorf("%s: -want +got\n%s", what, diff)
		}
	}
	if head := again.Tools[0].Head(); !strings.HasPrefix(head, "def fee(account: str, *,\n") ||
		!strings.HasSuffix(head, "all.\n    \"\"\"") {
		t.Errorf("head %q", head)
	}
}

// TestReadHostile: only imports and plain functions count, links are not followed.
func TestReadHostile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "tools/rate.py", "import os\nimport sys; os.remove('x')\nos.remove('y')\n@cached\n"+rate+"\n\nclass A:\n    pass\n")
	write(t, dir, "tools/good.py", "import math\n\ndef good():\n    return 1\n\ndef other():\n    return 2\n")
	write(t, dir, questionsFile, "{\n{\"question\": \"A\", \"answer\": \"1\"}\nnull\n")
	m := read(t, dir)
	if code := lesson.Module(m.Tools); len(m.Questions) != 1 || len(m.Problems) != 3 || strings.Contains(code, "os.") ||
		strings.Contains(code, "@") || strings.Contains(code, "class") {
		t.Errorf("questions %v, tools %v, problems %q", m.Questions, m.Tools, m.Problems)
	}
	write(t, dir, factsFile, "- A fact\n")
	out := t.TempDir()
	for _, name := range []string{"definitions", "tools"} {
		pyenvtest.OK(t, os.Rename(filepath.Join(dir, name), filepath.Join(out, name)))
		pyenvtest.OK(t, os.Symlink(filepath.Join(out, name), filepath.Join(dir, name)))
	}
	if m = read(t, dir); len(m.Facts)+len(m.Tools) > 0 {
		t.Errorf("a link was followed: %v, %v", m.Facts, m.Tools)
	}
	m.Learn([]lesson.Fact{{Text: "Another"}}, nil)
	if err := m.Save(); err == nil {
		t.Error("a link was written through or replaced")
	}
}

// TestCorrections: a file's text ends at another file's name or at a heading that is not below its own.
func TestCorrections(t *testing.T) {
	for text, want := range map[string]string{
		"## `a.csv`\nOne.\n### Columns\nv: kg\n":      "One.\n### Columns\nv: kg",
		"## a.csv\nOne.\n## Other\nTwo.\n":            "One.",
		"# a.csv\nSold are:\n#1 of the list\n":        "Sold are:\n#1 of the list", // which is no heading
		"# a.csv\nOne.\n## b.csv\nx\n# a.csv\nTwo.\n": "One.\nTwo.",
		"~~~\n# a.csv\nx\n```\n~~~\n# a.csv\nOne.\n":  "One.",
		"# a.csv\n````\n```\n# c\n````\n# c\nafter\n": "````\n```\n# c\n````",
	} {
		dir := t.TempDir()
		write(t, dir, "definitions/a.md", text)
		write(t, dir, "definitions/b.md", "Of no file.\n")
		write(t, dir, "definitions/.x.md", "# a.csv\nNobody is asked to approve this.\n")
		write(t, dir, "definitions/~$x.md", "# a.csv\nNor this.\n")
		if got := read(t, dir).Corrections([]string{"a.csv", "b.csv"})["a.csv"]; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestNear: a question in almost the same words, but not any about the same things.
func TestNear(t *testing.T) {
	m := &Memory{Questions: []Question{{Question: "How many merchants have account type R?"},
		{Question: "What is the mean fee of GlobalCard in 2023?"}}}
	for question, want := range map[string]int{ // among these
		"How many merchants have account type D?": 0, "What was the mean fee of GlobalCard in 2023": 1,
		"What is the mean fee of all cards that merchants have, by year?": -1,
	} {
		near := m.Near(question, 0.6, 2)
		if len(near) != min(1, want+1) || want >= 0 && near[0].Question != m.Questions[want].Question {
			t.Errorf("%s: %v", question, near)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	pyenvtest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	pyenvtest.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestMeanwhile: what another run has learned since stays.
func TestMeanwhile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), Name)
	first := read(t, dir)
	first.Learn([]lesson.Fact{{Text: "Zero.", Source: "a.csv"}}, nil)
	first = saved(t, first)
	second := read(t, dir)
	first.Learn([]lesson.Fact{{Text: "One.", Source: "a.csv"}},
		[]lesson.Tool{{Name: "rate", Code: rate, Test: "assert rate(1) == 2\n"}})
	saved(t, first)
	second.Learn([]lesson.Fact{{Text: "Two.", Source: "a.csv"}}, nil)
	got := saved(t, second)
	if diff := cmp.Diff([]lesson.Fact{{Text: "Zero.", Source: "a.csv"}, {Text: "One.", Source: "a.csv"},
		{Text: "Two.", Source: "a.csv"}}, got.Facts); diff != "" || len(got.Tools) != 1 {
		t.Error(diff, got.Tools)
	}
	second.Learn(nil, []lesson.Tool{{Name: "rate", Code: fee}})
	if err := second.Save(); err == nil {
		t.Error("a function that another run has added was replaced")
	}
}

// TestReadMuch: there are limits on a file, and on all files together.
func TestReadMuch(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		write(t, dir, fmt.Sprintf("tools/g%d.py", i), strings.Repeat("#", maxFile))
	}
	if _, err := Read(t.Context(), dir); err == nil {
		t.Error("there is no limit on all files together")
	}
	write(t, dir, factsFile, strings.Repeat("- A fact\n", maxFile))
	if _, err := Read(t.Context(), dir); !errors.Is(err, disk.ErrTooLong) {
		t.Error(err)
	}
}
