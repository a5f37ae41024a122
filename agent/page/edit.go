package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// An editing finds out what a person has changed, by comparing the cells with the record.
type editing struct {
	t      *record.Trajectory
	cells  []left
	starts []*record.Start // of each part, with what was changed
}

// did records what was changed in part k.
func (e *editing) did(k int, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if k < e.t.Earlier() {
		what = fmt.Sprintf("question %d: %s", k+1, what)
	}
	e.starts[k].What = append(e.starts[k].What, what)
}

// since records what was changed for part k and all after it.
func (e *editing) since(k int, what string) {
	for _, s := range e.starts[k:] {
		s.What = append(s.What, what)
	}
}

// role returns dsstar's cell of a role in part k.
func (e *editing) role(role string, k int) (c left, there bool) {
	i := slices.IndexFunc(e.cells, func(c left) bool {
		return c.own && c.meta.Role == role && c.part == k+1
	})
	if i < 0 {
		return c, false
	}
	return e.cells[i], true
}

// refused returns the error for an edit from which a run cannot continue.
func refused(problem string) error { return &record.EditError{Problem: problem} }

// read has the questions begin again of which a person has changed something.
func (e *editing) read() error {
	t := e.t
	for k, q := range t.Questions {
		if e.asksAnother(k) {
			return refused("the question or its form was changed: undo it, and ask another one with --ask")
		}
		e.starts = append(e.starts, q.Again())
	}
	if err := e.opening(); err != nil {
		return err
	}
	e.notes()
	changed := map[int]*record.Start{}
	for k, start := range e.starts {
		e.steps(k, start)
		e.lastCell(k, start)
		if len(start.What) > 0 {
			changed[k] = start
		}
	}
	if len(changed) > 0 && t.Method.Script {
		return refused("the notebook was edited, and a run in the paper's way has " +
			"no cells to go on from, but whole scripts")
	}
	t.Restart(changed)
	return nil
}

// asksAnother reports whether the question of a part, or its form, was changed. A person may write
// below its title.
func (e *editing) asksAnother(k int) bool {
	top, _ := e.role(roleQuestion, k)
	whole, _ := e.role(roleAsked, k)
	p := partOf(e.t, k)
	heading, _, _ := strings.Cut(text(roleQuestion, p), "\n")
	return top.changed && !strings.HasPrefix(top.Source, heading) ||
		whole.changed && brief.OneLine(whole.Source) != brief.OneLine(text(roleAsked, p))
}

// opening compares the cells before the first step. Only their data folder may change.
func (e *editing) opening() error {
	t := e.t
	parameters, is := e.role(record.RoleParameters, 0)
	setup, isToo := e.role(record.RoleSetup, 0)
	tools, _ := e.role(record.RoleTools, 0)
	variables, _ := e.role(record.RoleVariables, 0)
	line, rest, _ := strings.Cut(strings.TrimSpace(parameters.Source), "\n")
	literal, named := strings.CutPrefix(line, "data_dir = ")
	_, was, _ := strings.Cut(t.Opening()[0].Code, "\n")
	var data string
	switch moved := parameters.changed; {
	case !is || !isToo || setup.changed || tools.changed || variables.changed,
		moved && (!named || rest != was || json.Unmarshal([]byte(literal), &data) != nil):
		return refused(`the parameters or the set-up was changed, of which only data_dir = "…" may: ` +
			"undo it, put your code into a cell after them, and ask another question with --ask")
	case moved:
		t.Task.Data, t.Task.Sources = data, nil
		t.Described, t.Descriptions = false, nil
		e.since(0, "the data folder is now "+data)
	}
	return nil
}

// notes collects the notes to the agent. The questions below one that was left are judged again,
// and all of them after one was removed. What was chosen with it is open then.
func (e *editing) notes() {
	t, was := e.t, slices.Clone(e.t.Notes)
	known, stays := map[string]bool{}, map[string]bool{}
	for _, n := range was {
		known[n.Text] = true
	}
	for _, d := range journal.All[record.Decision](t.Journal, record.Decided) {
		known[d.Note] = true // perhaps it is still to be noted again
	}
	for _, c := range e.cells {
		text := strings.TrimSpace(c.Source)
		if c.own || c.Type == notebook.Code || text == "" || !slices.Contains(c.Tags(), record.NoteTag) {
			continue
		}
		if !known[text] {
			t.Notes = append(t.Notes, record.Note{Text: text, Part: c.part})
			e.since(c.part-1, "a note was left: "+text)
		}
		known[text], stays[text] = true, true
	}
	for _, n := range was {
		if !stays[n.Text] {
			e.removed(n.Text)
		}
	}
}

// removed takes a note back.
func (e *editing) removed(note string) {
	t := e.t
	t.Notes = slices.DeleteFunc(t.Notes, func(n record.Note) bool { return n.Text == note })
	journal.Drop(t.Journal, record.Decided, func(d record.Decision) bool { return d.Note == note })
	for _, s := range e.starts {
		for i, r := range s.Readings {
			s.Readings[i].ByUser = r.ByUser && r.Chose() != note
		}
	}
	e.since(0, "a note was removed: "+note)
}

// steps compares the steps of part k with the record, and gives them to its start as they are left.
func (e *editing) steps(k int, start *record.Start) {
	was, next, before := start.Given, e.t.Questions[k].Count()+1, len(start.What)
	if e.t.Method.Script { // the scripts before the last are no cells
		was = was[len(was)-len(e.t.Questions[k].Drawn(true)):]
	}
	var now []record.Round
	var kept []int // places of the steps that were there
	for _, c := range e.cells {
		if c.Type != notebook.Code || c.part != k+1 || c.own && c.meta.Role != record.RoleStep {
			continue
		}
		number, r := len(now)+1, handMade(c.Cell, next)
		if c.own {
			at := slices.IndexFunc(was, func(r record.Round) bool { return r.Number == c.meta.Round })
			kept, r = append(kept, at), was[at]
		} else {
			next++
			e.did(k, "a cell was added as step %d", number)
		}
		if c.changed {
			r.ByHand = true
			e.did(k, "the cell of step %d was changed", number)
		}
		r.Place = number
		now = append(now, r)
	}
	for at := range was {
		if !slices.Contains(kept, at) {
			e.did(k, "step %d was removed", at+1)
		}
	}
	if start.Ordered = !slices.IsSorted(kept); start.Ordered {
		e.did(k, "the steps were put into another order")
	}
	start.Given, start.Less, start.Steps = now, len(now) < len(was), len(start.What) > before
}

// lastCell compares the last cell of part k with the record.
func (e *editing) lastCell(k int, start *record.Start) {
	final, there := e.role(record.RoleFinal, k)
	if _, drawn := e.t.Questions[k].FinalCell(); drawn && !there {
		start.Last, start.ByHand = "", false
		e.did(k, "the last cell was removed")
	}
	if final.changed {
		start.ByHand = true
		e.did(k, "the last cell was changed")
	}
}

// handMade returns the round, with a number, for a cell that a person added. Its step is the comment
// that the cell begins with.
func handMade(c notebook.Cell, number int) record.Round {
	step, _, _ := strings.Cut(strings.TrimSpace(c.Source), "\n")
	if !strings.HasPrefix(step, "#") {
		step = ""
	}
	step = cmp.Or(strings.TrimLeft(step, "#% "), "A cell written by hand.")
	return record.Round{Number: number, Step: step, Given: true, ByHand: true, Attempts: record.Left(c.Source)}
}
