package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/lazy"
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
	meta    cellMeta
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
			l.changed = m.Digest != "" && m.Digest != record.Digest(c.Source)
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
func shownBy(asked []record.Cell, m cellMeta) *record.Attempt {
	for _, c := range asked {
		if c.Role == m.Role && c.Question == max(1, m.Part)-1 && c.Round == m.Round {
			return c.Attempt
		}
	}
	return nil
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
		m, _ := drew.Metadata["dsstar"].(cellMeta)
		at := slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool { return c.ID == drew.ID })
		if at >= 0 && (m.Role == roleQuestion || m.Role == roleReport) {
			nb.Cells[at] = drew
		}
	}
}
