package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/journal"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A change is what an editor does to a notebook.
type change func(reporter, *notebook.Notebook)

// edited applies a change to the notebook of a run, as an editor would: on the
// file.
func edited(t reporter, tr *record.Trajectory, does change) (*record.Trajectory, error) {
	t.Helper()
	nb := readNotebook(t, tr)
	does(t, nb)
	return page.Read(must(notebook.Read(bytes.NewReader(must(nb.Encode())))))
}

func edit(changes ...change) act {
	return func(t reporter, tr *record.Trajectory) *record.Trajectory {
		return must(edited(t, tr, func(t reporter, nb *notebook.Notebook) {
			for _, does := range changes {
				does(t, nb)
			}
		}))
	}
}

// cellOf returns the position of the cell with an id.
func cellOf(t reporter, nb *notebook.Notebook, id string) int {
	t.Helper()
	i := slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("there is no cell %s", id)
	}
	return i
}

// shown is the source of a cell of the notebook.
func (p *played) shown(t reporter, id string) string {
	t.Helper()
	nb := readNotebook(t, p.Trajectory)
	return nb.Cells[cellOf(t, nb, id)].Source
}

func source(id, from, to string) change {
	return func(t reporter, nb *notebook.Notebook) {
		c := &nb.Cells[cellOf(t, nb, id)]
		contains(t, c.Source, from)
		c.Source = strings.Replace(c.Source, from, to, 1)
	}
}

func remove(ids ...string) change {
	return func(t reporter, nb *notebook.Notebook) {
		for _, id := range ids {
			i := cellOf(t, nb, id)
			nb.Cells = slices.Delete(nb.Cells, i, i+1)
		}
	}
}

func insert(after string, c notebook.Cell) change {
	return func(t reporter, nb *notebook.Notebook) {
		nb.Cells = slices.Insert(nb.Cells, cellOf(t, nb, after)+1, c)
	}
}

func move(id, after string) change {
	return func(t reporter, nb *notebook.Notebook) {
		c := nb.Cells[cellOf(t, nb, id)]
		remove(id)(t, nb)
		insert(after, c)(t, nb)
	}
}

var mine = notebook.Cell{ID: "mine", Type: notebook.Code, Source: "# Mend y\ny += \"m\""}

func note(text string) notebook.Cell {
	return notebook.Cell{ID: "note", Type: notebook.Markdown, Source: text,
		Metadata: map[string]any{"tags": []any{"dsstar:note"}}}
}

// changed changes a record.
func changed(change func(*record.Trajectory)) act {
	return func(_ reporter, tr *record.Trajectory) *record.Trajectory {
		change(tr)
		return tr
	}
}

// then does all of these, one after the other.
func then(acts ...act) act {
	return func(t reporter, tr *record.Trajectory) *record.Trajectory {
		for _, does := range acts {
			tr = does(t, tr)
		}
		return tr
	}
}

func question(text, form string) act {
	return changed(func(tr *record.Trajectory) { must(0, tr.Ask(text, form)) })
}

func refused(err error) {
	if err == nil {
		panic("it is not refused")
	}
}

// chooses takes an option of reading i of question k.
func chooses(k, i, option int) act {
	return changed(func(tr *record.Trajectory) { must(0, agent.Choose(tr, k, i, option)) })
}

// dropped has a person drop a step.
func dropped(step int) act {
	return changed(func(tr *record.Trajectory) { must(0, tr.Drop(step)) })
}

// journaled is a run whose cells have given something else, which is a part of a text.
func journaled(was, is string) act {
	in := func(text string) string { return strings.Trim(string(must(json.Marshal(text))), `"`) }
	return changed(func(tr *record.Trajectory) {
		data := strings.ReplaceAll(string(must(json.Marshal(tr.Journal))), in(was), in(is))
		tr.Journal = &journal.Journal{}
		must(0, json.Unmarshal([]byte(data), tr.Journal))
	})
}

// choosing has a person choose an option of each reading that matters.
func choosing(option int) func(*stage) {
	return func(s *stage) {
		s.config.ChooseReading = func(context.Context, record.Reading, string) (int, error) { return option, nil }
	}
}

// deciding has a person say the same to all proposals.
func deciding(d agent.Decision, err error) func(*stage) {
	return func(s *stage) {
		s.config.Review = func(context.Context, agent.Proposal) (agent.Decision, error) { return d, err }
	}
}

// prints is a run whose script has run so in plain Python.
func prints(x notebook.Execution, err error) func(*stage) {
	return func(s *stage) {
		s.config.RunScript = func(_ context.Context, dir string, _ time.Duration) (notebook.Execution, error) {
			return marked(dir, x), err
		}
	}
}

// elsewhere is a run whose script prints this on what seems to be another computer; or "": it fails.
func elsewhere(prints string) func(*stage) {
	return func(s *stage) {
		s.config.RunScript = func(ctx context.Context, dir string, limit time.Duration) (notebook.Execution, error) {
			switch code := must(os.ReadFile(filepath.Join(dir, "solution.py"))); {
			case !bytes.Contains(code, []byte("elsewhere()")):
				return s.world.RunScript(ctx, dir, limit)
			case prints == "":
				return ran(notebook.Raised, "", "KeyError: 'a'"), nil
			}
			return marked(dir, ran(notebook.OK, prints+"\n", "")), nil
		}
	}
}

// refuses has a session of a purpose fail to open.
func refuses(purpose agent.Purpose, err error) func(*stage) {
	return func(s *stage) {
		s.world.open = func(_ context.Context, p agent.Purpose) error { return map[bool]error{true: err}[p == purpose] }
	}
}

// asking is a run with another question and form.
func asking(q, form string) func(*stage) {
	return func(s *stage) { s.task.Question, s.task.Guidelines = q, form }
}

// resized has a data file of another size.
func resized(s *stage) { s.task.Files[0].Size = 7 }
