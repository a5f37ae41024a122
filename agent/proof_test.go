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

// TestElsewhere: an answer that is the same on what seems to be another computer, with other random
// numbers, does not depend on it, whatever its code looks like.
func TestElsewhere(t *testing.T) {
	const folder = "the answer depends on the order in which a folder lists its files"
	const depends = folder + "\nit depends on chance, on the order in which folders list their files, or on the " +
		"number of processors: with others the script "
	for _, c := range []struct{ question, prints, doubts string }{
		{"How many?", "1", ""},
		{"How many?", "loading\n1", ""},
		{"How many?", "1.0000000000000002", ""},
		{"How many? Save it as out.csv.", "1.0000000000000002", depends + "has not written out.csv"},
		{"How many?", "2", depends + "printed another answer: 2"},
		{"How many?", "", depends + "failed in plain Python: KeyError: 'a'"},
	} {
		p := play(t, saved.with(script{"last": "# of a folder\nprint(x)"}), asking(c.question, ""),
			scripted(map[string]string{"elsewhere()": c.prints})).noError(t)
		if got := strings.Join(p.Doubts(), "\n"); got != c.doubts {
			t.Errorf("%q: %q", c.prints, got)
		}
	}
}
