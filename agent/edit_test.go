package agent_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// three is a run of three steps: its cells bind x, y and z.
var three = simple.with(script{
	"step round 1": "One.", "step round 2": "Two.", "step round 3": "Three.", "verdict": no,
	"verdict round 3": yes,
	"cell round 1":    "x = 1\nprint(x)", "cell round 2": "y = x\ny += \"2\"\nprint(y)",
	"cell round 3": "z = y\nz += \"3\"\nprint(z)",
	"last":         "print(z)",
})

// more is a model for runs that are resumed: it says yes to all.
var more = script{
	"verdict": yes, "second": "agreed()", "step": "More.",
	"cell": "y = x\ny += \"b\"\nprint(y)", "last": "print(y)",
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
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

func source(id, from, to string) func(reporter, *notebook.Notebook) {
	return func(t reporter, nb *notebook.Notebook) {
		c := &nb.Cells[cellOf(t, nb, id)]
		if !strings.Contains(c.Source, from) {
			t.Fatalf("%s has no %q:\n%s", id, from, c.Source)
		}
		c.Source = strings.Replace(c.Source, from, to, 1)
	}
}

func remove(ids ...string) func(reporter, *notebook.Notebook) {
	return func(t reporter, nb *notebook.Notebook) {
		for _, id := range ids {
			i := cellOf(t, nb, id)
			nb.Cells = slices.Delete(nb.Cells, i, i+1)
		}
	}
}

func insert(after string, c notebook.Cell) func(reporter, *notebook.Notebook) {
	return func(t reporter, nb *notebook.Notebook) {
		nb.Cells = slices.Insert(nb.Cells, cellOf(t, nb, after)+1, c)
	}
}

func move(id, after string) func(reporter, *notebook.Notebook) {
	return func(t reporter, nb *notebook.Notebook) {
		i := cellOf(t, nb, id)
		c := nb.Cells[i]
		nb.Cells = slices.Delete(nb.Cells, i, i+1)
		nb.Cells = slices.Insert(nb.Cells, cellOf(t, nb, after)+1, c)
	}
}

func all(changes ...func(reporter, *notebook.Notebook)) func(reporter, *notebook.Notebook) {
	return func(t reporter, nb *notebook.Notebook) {
		for _, change := range changes {
			change(t, nb)
		}
	}
}

var mine = notebook.Cell{ID: "mine", Type: notebook.Code, Source: "# Mend y\ny += \"m\""}

func note(text string) notebook.Cell {
	return notebook.Cell{ID: "note", Type: notebook.Markdown, Source: text,
		Metadata: map[string]any{"tags": []any{"dsstar:note"}}}
}

// edited applies a change to the notebook of a run, as an editor would: on the
// file.
func edited(t reporter, tr *record.Trajectory,
	change func(reporter, *notebook.Notebook)) (*record.Trajectory, error) {
	t.Helper()
	nb := readNotebook(t, tr)
	change(t, nb)
	return page.Read(must(notebook.Read(bytes.NewReader(must(nb.Encode())))))
}

// readAgain reads the notebook of a trajectory.
func readAgain(t reporter, tr *record.Trajectory) *record.Trajectory {
	t.Helper()
	return must(page.Read(readNotebook(t, tr)))
}

func readNotebook(t reporter, tr *record.Trajectory) *notebook.Notebook {
	t.Helper()
	return must(notebook.Read(bytes.NewReader(must(page.Draw(tr).Encode()))))
}

// TestAnyEdits: whatever a person does to the cells, nothing of theirs is lost, and the run ends
// within its bounds.
func TestAnyEdits(t *testing.T) {
	once(t)
	p := play(t, three.with(script{
		"verdict round 2": bad, "wrong round 2": "2",
		"cell round 3": "y = x\ny += \"3\"\nprint(y)", "last": "print(y)",
	})).noError(t)
	rapid.Check(t, func(t *rapid.T) {
		tr, e := p.Trajectory, editor{T: t}
		for range rapid.IntRange(1, 2).Draw(t, "resumed") {
			changed, err := edited(t, tr, func(_ reporter, nb *notebook.Notebook) {
				for range rapid.IntRange(0, 3).Draw(t, "changes") {
					if len(nb.Cells) > 0 {
						e.change(nb)
					}
				}
			})
			if _, refused := errors.AsType[*record.EditError](err); refused {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			got := goOn(t, more.with(script{
				"cell": "y = x\nprint(y)", "debugger": "y = 1\nprint(y)",
				"verdict": rapid.SampledFrom([]string{yes, yes, no}).Draw(t, "verdict"),
			}), changed, func(s *stage) {
				s.config.MaxRounds, s.quick = 2, rapid.IntRange(0, 2).Draw(t, "quick") > 0
			})
			if _, refused := errors.AsType[*record.EditError](got.err); got.err != nil && !refused {
				t.Fatal(got.err)
			}
			tr = got.Trajectory
			nb := readNotebook(t, tr)
			for _, id := range e.own {
				cellOf(t, nb, id)
			}
		}
	})
}

// An editor changes notebooks.
type editor struct {
	*rapid.T
	n   int      // changes so far
	own []string // ids of Markdown cells that were added and not deleted
}

func (e *editor) change(nb *notebook.Notebook) {
	e.n++
	i := rapid.IntRange(0, len(nb.Cells)-1).Draw(e.T, "cell")
	c := nb.Cells[i]
	what := []string{"append", "append", "delete", "copy", "move", "insert", "note", "words"}
	switch rapid.SampledFrom(what).Draw(e.T, "what") {
	case "append":
		if c.Type == notebook.Code {
			nb.Cells[i].Source += "\nx = 1"
		}
	case "delete":
		e.own = slices.DeleteFunc(e.own, func(id string) bool { return id == c.ID })
		nb.Cells = slices.Delete(nb.Cells, i, i+1)
	case "copy":
		c.ID = fmt.Sprintf("copy-%d", e.n)
		nb.Cells = slices.Insert(nb.Cells, i+1, c)
	case "move":
		nb.Cells = slices.Delete(nb.Cells, i, i+1)
		to := rapid.IntRange(0, len(nb.Cells)).Draw(e.T, "to")
		nb.Cells = slices.Insert(nb.Cells, to, c)
	case "insert":
		code := rapid.SampledFrom([]string{"", "y = 2", "# hm\nx = 3"}).Draw(e.T, "code")
		nb.Cells = slices.Insert(nb.Cells, i, notebook.Cell{Type: notebook.Code, Source: code})
	case "note":
		c := note(fmt.Sprintf("Mind %d", e.n))
		c.ID = fmt.Sprintf("own-%d", e.n)
		e.own = append(e.own, c.ID)
		nb.Cells = slices.Insert(nb.Cells, i, c)
	case "words":
		if c.Type == notebook.Markdown {
			nb.Cells[i].Source += " Or not."
		}
	}
}
