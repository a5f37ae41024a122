package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
)

// Read returns the trajectory in the notebook's metadata, with the outputs of the cells. It is
// the inverse of [Draw]. Edits made since become a [record.Start] that package agent
// carries out. The error is a [*record.EditError] for edits from which a run cannot continue.
func Read(nb *notebook.Notebook) (*record.Trajectory, error) {
	t, err := Recorded(nb)
	if err != nil {
		return nil, err
	}
	e := &editing{t: t}
	if err := e.leftIn(nb); err != nil {
		return nil, err
	}
	return t, e.read()
}

// Recorded returns the trajectory as it was saved, whatever a person has changed in the notebook
// since, without the outputs of its cells.
func Recorded(nb *notebook.Notebook) (*record.Trajectory, error) {
	var meta notebookMeta
	t, err := &record.Trajectory{}, decode(nb.Metadata, &meta)
	switch {
	case err != nil:
	case meta.Agent != "":
		err = fmt.Errorf("it is the record of another agent, %s, and not of a run that dsstar can "+
			"go on with", meta.Agent)
	case meta.Version != version:
		err = fmt.Errorf("its dsstar metadata has version %d, not %d", meta.Version, version)
	case meta.Trajectory == nil:
		err = errors.New("its dsstar metadata has no trajectory")
	default:
		err = json.Unmarshal(meta.Trajectory, t)
	}
	if err == nil {
		err = t.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("read the notebook: %w", err)
	}
	if t.Seal = record.SealOf(nb); t.Task.Data != record.DataFolder { // it is a folder of data itself
		t.Task.Sources = nil
	}
	return t, nil
}

// decode decodes the "dsstar" entry of a metadata object, read from a file or just drawn.
func decode(all map[string]any, into any) error {
	if all["dsstar"] == nil {
		return fmt.Errorf("it was not written by dsstar")
	}
	data, err := json.Marshal(all["dsstar"])
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("its dsstar metadata: %w", err)
	}
	return nil
}

// A left is a cell as a person left it.
type left struct {
	notebook.Cell
	meta    Meta
	own     bool // it is dsstar's
	part    int  // from 1: that it shows, or in which it stands
	changed bool
}

// leftIn reads the cells of a notebook but for empty ones that a person added. The trajectory gets
// the code and outputs of those that show an attempt, and the person's own texts: so are the versions
// of dsstar's texts that a person has written. A copy of dsstar's cell is the person's own.
func (e *editing) leftIn(nb *notebook.Notebook) error {
	in, before, seen, ids := 1, "", map[string]bool{}, map[string]bool{}
	for _, c := range nb.Cells {
		ids[c.ID] = true
	}
	asked := e.t.Asked()
	for i, c := range nb.Cells {
		l := left{Cell: c, part: in}
		if c.Metadata["dsstar"] != nil {
			if err := decode(c.Metadata, &l.meta); err != nil {
				return fmt.Errorf("read the notebook: cell %d: %w", i+1, err)
			}
		}
		shows, m := shownBy(asked, l.meta), l.meta
		attempt := m.Role == record.RoleStep || m.Role == record.RoleFinal
		l.own = m.Role != "" && !seen[m.id()] && (shows != nil || !attempt) &&
			(c.Type == notebook.Code) == slices.Contains(codeRoles, m.Role)
		if l.own {
			seen[m.id()], before, l.part = true, m.id(), max(1, m.Part)
			l.changed = Edited(c)
		}
		if l.own && shows != nil {
			l.changed = l.changed || shows.Code != c.Source // whatever the cell says of itself
			shows.Code = c.Source
			shows.Execution.Outputs = record.Recounted(c.Outputs, shows.Execution.Count)
		}
		if l.own && m.Role == roleQuestion {
			in = l.part
		}
		if c.Type != notebook.Code && (!l.own || l.changed) {
			e.t.Remarks = append(e.t.Remarks, l.remark(cmp.Or(m.After, before), ids))
		}
		if l.own || c.Type != notebook.Code || strings.TrimSpace(c.Source) != "" {
			e.cells = append(e.cells, l)
		}
	}
	return nil
}

// MetaOf returns the metadata of a cell, none if it cannot be read.
func MetaOf(c notebook.Cell) (m Meta) {
	if decode(c.Metadata, &m) != nil {
		return Meta{}
	}
	return m
}

// Edited reports whether a cell of a run's notebook was changed since it was drawn, or is code that was added.
func Edited(c notebook.Cell) bool {
	m := MetaOf(c)
	if m.Role == "" {
		return c.Type == notebook.Code && strings.TrimSpace(c.Source) != ""
	}
	return m.Digest != "" && m.Digest != record.Digest(c.Source)
}

// ownID matches the ids that [Draw] gives.
var ownID = lazy.Regexp(`^(data|parameters|setup|tools|variables|proof` +
	`|(question|report|asked|answer|final|readings|second|tried)(-\d+)?|(round|step|verdict)(-\d+){1,2})$`)

// remark returns the cell as the person's own, whose id is none of dsstar's, and of no other cell.
func (c left) remark(after string, ids map[string]bool) record.Remark {
	r := record.Remark{After: after, Cell: c.Cell}
	r.Cell.Metadata = maps.Clone(c.Metadata)
	delete(r.Cell.Metadata, "dsstar")
	for n := 1; (c.own || ownID().MatchString(c.ID)) && ids[r.Cell.ID]; n++ {
		r.Cell.ID = fmt.Sprintf("%s-by-hand-%d", c.ID, n)
	}
	ids[r.Cell.ID] = true
	return r
}

// shownBy returns the attempt that a cell shows, of those of all questions, or nil.
func shownBy(asked []record.Cell, m Meta) *record.Attempt {
	return lists.First(asked, func(c record.Cell) bool {
		return c.Role == m.Role && c.Question == max(1, m.Part)-1 && c.Round == m.Round
	}).Attempt
}

// Restate replaces the recorded answers of some questions, by number from 1, with what their last
// cells print now. The new answers are not proved. Of the cells, only the texts about the answers
// change.
func Restate(nb *notebook.Notebook, answers map[int]string) {
	t, err := Recorded(nb)
	if err != nil {
		return // it says no more than it did
	}
	for part, answer := range answers {
		q := t.Questions[part-1]
		if q.Unsettle(); q.Final == nil {
			q.Final = &record.Final{}
		}
		q.Final.Answer, q.Final.Summary = answer, ""
	}
	nb.Metadata["dsstar"] = newMeta(t)
	t.Ended, t.Failure = true, "" // as it is drawn
	for _, drew := range Draw(t).Cells {
		m, _ := drew.Metadata["dsstar"].(Meta)
		at := slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool { return c.ID == drew.ID })
		if at >= 0 && (m.Role == roleQuestion || m.Role == roleReport) {
			nb.Cells[at] = drew
		}
	}
}

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

// role returns dsstar's cell of a role in part k, one that is not its own if there is none.
func (e *editing) role(role string, k int) left {
	return lists.First(e.cells, func(c left) bool {
		return c.own && c.meta.Role == role && c.part == k+1
	})
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
	top, whole := e.role(roleQuestion, k), e.role(roleAsked, k)
	p := partOf(e.t, k)
	heading, _, _ := strings.Cut(text(roleQuestion, p), "\n")
	return top.changed && !strings.HasPrefix(top.Source, heading) ||
		whole.changed && brief.OneLine(whole.Source) != brief.OneLine(text(roleAsked, p))
}

// opening compares the cells before the first step. Only their data folder may change.
func (e *editing) opening() error {
	t := e.t
	parameters, setup := e.role(record.RoleParameters, 0), e.role(record.RoleSetup, 0)
	tools, variables := e.role(record.RoleTools, 0), e.role(record.RoleVariables, 0)
	line, rest, _ := strings.Cut(strings.TrimSpace(parameters.Source), "\n")
	literal, named := strings.CutPrefix(line, "data_dir = ")
	_, was, _ := strings.Cut(t.Opening()[0].Code, "\n")
	var data string
	switch moved := parameters.changed; {
	case !parameters.own || !setup.own || setup.changed || tools.changed || variables.changed,
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
	final := e.role(record.RoleFinal, k)
	if e.t.Questions[k].FinalCell().IsCell() && !final.own {
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
