package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/notebook"
)

// TestChangedRows: what a script prints with changed rows is a note of the proof, and no doubt.
func TestChangedRows(t *testing.T) {
	cell := "x = 1\n# pandas.read_csv\nprint(x)"
	for name, c := range map[string]struct {
		shuffled, halved string // what the script prints then; "": it fails
		notes            string
	}{
		"neither":      {"1", "2", ""},
		"the order":    {"2", "2", "in another order the script printed another answer"},
		"not the rows": {"1", "1", "without every second row"},
		"they fail":    {"", "", ""},
	} {
		p := play(t, simple.with(script{"cell": cell}), scripted(map[string]string{
			"t.sample(": c.shuffled, "t.iloc[": c.halved})).noError(t)
		if notes := strings.Join(p.Proof.Notes, "\n"); !p.Proof.Same || !strings.Contains(notes, c.notes) ||
			(notes == "") != (c.notes == "") {
			t.Errorf("%s: %q, notes %q", name, p.Doubts(), notes)
		}
	}
}

// scripted has scripts with some words print something; "": they fail.
func scripted(prints map[string]string) func(*stage) {
	return func(s *stage) {
		plain := s.config.RunScript
		s.config.RunScript = func(ctx context.Context, dir string, limit time.Duration) (notebook.Execution, error) {
			code, err := os.ReadFile(filepath.Join(dir, "solution.py"))
			if err != nil {
				return notebook.Execution{}, err
			}
			for words, text := range prints {
				if strings.Contains(string(code), words) && text == "" {
					return ran(notebook.Raised, "", "KeyError: 'a'"), nil
				} else if strings.Contains(string(code), words) {
					return marked(dir, ran(notebook.OK, text+"\n", "")), nil
				}
			}
			return plain(ctx, dir, limit)
		}
	}
}

// TestElsewhere: an answer that is the same on what seems to be another computer does not depend on
// it, whatever its code looks like.
func TestElsewhere(t *testing.T) {
	const folder = "the answer depends on the order in which a folder lists its files"
	for _, c := range []struct{ prints, doubts string }{
		{"1", ""},
		{"loading\n1", ""},
		{"1.0000000000000002", folder},
		{"2", folder + "\nit depends on the order in which folders list their files, or on the number of processors: " +
			"with others the script printed another answer: 2"},
		{"", folder + "\nit depends on the order in which folders list their files, or on the number of processors: " +
			"with others the script failed in plain Python: KeyError: 'a'"},
	} {
		p := play(t, simple.with(script{"cell": "x = 1", "last": "# of a folder\nprint(x)"}),
			scripted(map[string]string{"elsewhere()": c.prints})).noError(t)
		if got := strings.Join(p.Doubts(), "\n"); got != c.doubts {
			t.Errorf("%q: %q", c.prints, got)
		}
	}
}
