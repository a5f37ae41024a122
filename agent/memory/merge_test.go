package memory

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/agent/memory/lesson"
)

// TestMerge: two people teach their clones of a folder, and git merges them.
func TestMerge(t *testing.T) {
	tool := func(name, body string) lesson.Tool {
		return lesson.Tool{Name: name, Imports: []string{"import math"}, Code: "def " + name + "(path: str) -> float:\n    \"\"\"Numbers.\n\n    In EUR.\n    \"\"\"\n" +
			"    rows = open(path)\n    rows = list(rows)\n    rows = rows[1:]\n    rows = sorted(rows)\n    return " + body,
			Test: "assert " + name + "('a') == 1\n"}
	}
	question := func(text, answer string, hour int) Question {
		return Question{Question: text, Answer: answer, Asked: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)}
	}
	learns := func(name string, hour int) func(*Memory) {
		return func(m *Memory) {
			m.Learn([]lesson.Fact{{Text: "Fact of " + name, Source: name + ".md"}, {Text: "Known to both", Source: name + ".md"}},
				[]lesson.Tool{tool("of_"+name, "math.nan")})
			m.AddQuestion(question("By "+name+"?", name, hour))
			m.AddQuestion(question("By both?", name, hour))
		}
	}
	edits := func(old, text string) func(*Memory) {
		return func(m *Memory) { m.texts["tools/fee.py"] = strings.Replace(m.texts["tools/fee.py"], old, text, 1) }
	}
	adds := func(body string) func(*Memory) {
		return func(m *Memory) { m.Learn(nil, []lesson.Tool{tool("new", body)}) }
	}
	base := func(m *Memory) {
		m.Learn([]lesson.Fact{{Text: "Base"}}, []lesson.Tool{tool("fee", "len(rows)"), tool("of", "rows")})
	}
	for _, c := range []struct {
		name           string
		base, ann, bob func(*Memory)
		want           string // functions, facts and answers; in what git leaves
		conflict       string // what is told
	}{
		{"both begin", nil, learns("ann", 2), learns("bob", 1),
			"of_ann of_bob | Fact of bob, Fact of ann, Known to both | bob ann ann", ""},
		{"both add", base, learns("ann", 1), learns("bob", 2),
			"fee of of_ann of_bob | Base, Fact of bob, Fact of ann, Known to both | ann bob bob", ""},
		{"one sets a function aside", base, func(m *Memory) { m.SetAside("fee", "it fell") }, learns("bob", 1),
			"of of_bob | Base, Fact of bob, Known to both | bob bob", ""},
		{"one edits what the other sets aside", base, func(m *Memory) { m.SetAside("fee", "it fell") },
			edits("In EUR", "In USD"), "of | Base | ", ""},
		{"both edit a line", base, edits("len(rows)", "1"), edits("len(rows)", "0"), "of | Base | ", "tools/fee.py, line 13, has"},
		{"both add a function of one name", base, adds("1"), adds("2"), "fee of | Base | ", "tools/new.py, line 13, has"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := read(t, merged(t, dir, c.base, c.ann, c.bob))
			var tools, facts, answers []string
			for _, tool := range m.Tools {
				tools = append(tools, tool.Name)
			}
			for _, f := range m.Facts {
				facts = append(facts, f.Text)
			}
			for _, q := range m.Questions {
				answers = append(answers, q.Answer)
			}
			got := strings.Join(tools, " ") + " | " + strings.Join(facts, ", ") + " | " + strings.Join(answers, " ")
			if problems := strings.Join(m.Problems, "; "); got != c.want || (problems == "") != (c.conflict == "") ||
				!strings.Contains(problems, c.conflict) {
				t.Errorf("%s\nproblems: %s", got, problems)
			}
		})
	}
}

// TestConflict: what is in a file with an unsolved merge conflict is left out, and never overwritten.
func TestConflict(t *testing.T) {
	dir := t.TempDir()
	const conflict = "# Ours\n\n<<<<<<< HEAD\n- One\n=======\n- Two\n>>>>>>> theirs\n"
	write(t, dir, factsFile, conflict)
	m := read(t, dir)
	if len(m.Facts) != 0 || len(m.Problems) != 1 || !strings.HasPrefix(m.Problems[0], "facts.md, line 3, has") {
		t.Errorf("facts %v, problems %q", m.Facts, m.Problems)
	}
	m.AddQuestion(Question{Question: "What?"})
	m = saved(t, m)
	m.Learn([]lesson.Fact{{Text: "Three"}}, nil)
	if err := m.Save(); err == nil {
		t.Error("the file was written")
	}
	if b, err := os.ReadFile(filepath.Join(dir, factsFile)); err != nil || string(b) != conflict {
		t.Errorf("%v, %s", err, b)
	}
}

// merged returns the memory folder of bob's clone after it has taken ann's.
func merged(t *testing.T, dir string, base, ann, bob func(*Memory)) string {
	git(t, dir, "init", "--quiet", "bob")
	change := func(name string, do func(*Memory)) {
		clone := filepath.Join(dir, name)
		if do != nil {
			m := read(t, filepath.Join(clone, Name))
			do(m)
			saved(t, m)
		}
		git(t, clone, "add", "--all")
		git(t, clone, "commit", "--quiet", "--allow-empty", "--message", name)
	}
	change("bob", base)
	git(t, dir, "clone", "--quiet", "bob", "ann")
	change("ann", ann)
	change("bob", bob)
	git(t, filepath.Join(dir, "bob"), "pull", "--quiet", "--no-rebase", "--no-edit", "../ann")
	return filepath.Join(dir, "bob", Name)
}

// git runs git without the user's settings. A merge with conflicts is no failure.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c")
	if out, err := cmd.CombinedOutput(); err != nil && args[0] != "pull" {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}
