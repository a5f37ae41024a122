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
		p := play(t, simple.with(script{"cell": cell}), func(s *stage) {
			plain := s.config.RunScript
			s.config.RunScript = func(ctx context.Context, dir string, limit time.Duration) (notebook.Execution, error) {
				code, err := os.ReadFile(filepath.Join(dir, "solution.py"))
				if err != nil {
					return notebook.Execution{}, err
				}
				prints := ""
				switch text := string(code); {
				case strings.Contains(text, "t.sample("):
					prints = c.shuffled
				case strings.Contains(text, "t.iloc["):
					prints = c.halved
				default:
					return plain(ctx, dir, limit)
				}
				if prints == "" {
					return ran(notebook.Raised, "", "KeyError: 'a'"), nil
				}
				return ran(notebook.OK, prints+"\n", ""), nil
			}
		}).noError(t)
		if notes := strings.Join(p.Proof.Notes, "\n"); !p.Proof.Same || !strings.Contains(notes, c.notes) ||
			(notes == "") != (c.notes == "") {
			t.Errorf("%s: %q, notes %q", name, p.Doubts(), notes)
		}
	}
}
