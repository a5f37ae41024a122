package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/definitions"
)

// defines has the user approve a definition.
func defines(text string) func(*stage) {
	return func(s *stage) {
		s.config.Approved = []agent.Approved{{Root: "/terms", Files: []definitions.File{
			{Name: "terms.md", Text: []byte("# Revenue (also: how many)\n\n" + text + "\n")}}}}
	}
}

// TestBinding: the requests of every role show a definition that binds, whatever else they leave out.
func TestBinding(t *testing.T) {
	roles := map[string]bool{}
	for _, name := range []string{"back, with repairs", "readings in doubt", "a mistake of the first derivation", "an open reading",
		"a last cell that does not run", "follow-ups", "out of rounds"} {
		run := slices.Clone(allRecordings()[name])
		for i := range run {
			run[i].change = append(slices.Clip(run[i].change), defines(rule), func(s *stage) { s.config.Context = 2000 })
		}
		for key, r := range run.play(t).model.requests {
			if roles[r.Role] = true; r.Role != "analyzer" && r.Role != "summarizer" {
				if !strings.Contains(r.Messages[len(r.Messages)-1].Text, "(terms.md, line 1)\n\n"+rule) {
					t.Errorf("%s: %s does not show the definition", name, key)
				}
			}
		}
	}
	for _, role := range strings.Fields("solver judge debugger branches finalizer second arbiter") {
		if !roles[role] {
			t.Errorf("there was no request of the %s", role)
		}
	}
}

// TestContradiction: two definitions of one term that differ are an error before a model is asked.
func TestContradiction(t *testing.T) {
	p := play(t, simple, defines(rule), func(s *stage) {
		other := definitions.File{Name: "more.md", Text: []byte("# revenue\n\nAll orders count.\n")}
		s.config.Approved = append(s.config.Approved, agent.Approved{Root: "/more", Files: []definitions.File{other}})
	})
	if p.err == nil || len(p.model.asked) > 0 {
		t.Fatalf("%v, asked %q", p.err, p.model.asked)
	}
	contains(t, p.err.Error(), "terms.md, line 1", "more.md, line 1")
}

// TestOmitted: a definition that the question uses and for which there is no room is told.
func TestOmitted(t *testing.T) {
	long := "# Revenue\n\n" + strings.Repeat("All of it, whatever it is. ", 140) + "\n\n# Net revenue\n\n" + strings.Repeat("Some. ", 200)
	p := play(t, simple, defines(long), func(s *stage) { s.task.Question = "How much revenue and net revenue?" }).noError(t)
	contains(t, strings.Join(p.Warnings, "\n"), "no room for a definition that the question uses")
}

// TestChangedDefinition: another text has changed, and so has one that is gone; another place has not, nor
// has a folder that is gone.
func TestChangedDefinition(t *testing.T) {
	dir := t.TempDir()
	const terms, was = "terms.md", "# Revenue\n\nAll of it.\n"
	write := func(name, text string) { must(0, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
	write(terms, was)
	run := play(t, simple, func(s *stage) {
		s.task.Question = "How much revenue?"
		s.config.Approved = []agent.Approved{{Root: dir, Files: must(definitions.Files(dir))}}
	}).noError(t)
	for text, want := range map[string]string{was: "", "# A\n\nB.\n\n" + was: "", "# Revenue\n\nSome.\n": "Revenue in terms.md, line 1", "": "Revenue in terms.md, line 1"} {
		write(terms, text)
		equal(t, text, agent.ChangedDefinition(t.Context(), run.Trajectory), want)
	}
	write(terms, was)
	must(0, os.Symlink("/etc/hosts", filepath.Join(dir, "more.md")))
	equal(t, "unreadable", agent.ChangedDefinition(t.Context(), run.Trajectory), "Revenue in terms.md, line 1")
	must(0, os.RemoveAll(dir))
	equal(t, "gone", agent.ChangedDefinition(t.Context(), run.Trajectory), "")
}
