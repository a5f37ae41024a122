package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
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
	cells, err := leftIn(nb, t)
	if err != nil {
		return nil, err
	}
	t.Remarks = remarks(nb, cells)
	return t, (&editing{t: t, cells: cells}).read()
}

// Recorded returns the trajectory as it was saved, whatever a person has changed in the notebook
// since, without the outputs of its cells.
func Recorded(nb *notebook.Notebook) (*record.Trajectory, error) {
	var meta struct {
		Version    int             `json:"version"`
		Agent      string          `json:"agent"`
		Trajectory json.RawMessage `json:"trajectory"`
	}
	t, err := &record.Trajectory{}, decode(nb.Metadata, &meta)
	switch {
	case err != nil:
	case meta.Agent != "":
		err = fmt.Errorf("it is the record of another agent, %s, and not of a run that dsstar can "+
			"go on with", meta.Agent)
	case meta.Version != version && meta.Version != olderVersion:
		err = fmt.Errorf("its dsstar metadata has version %d, not %d", meta.Version, version)
	case meta.Trajectory == nil:
		err = errors.New("its dsstar metadata has no trajectory")
	case meta.Version == olderVersion:
		t, err = fromOlder(nb, meta.Trajectory)
	default:
		err = json.Unmarshal(meta.Trajectory, t)
	}
	if err == nil {
		err = t.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("read the notebook: %w", err)
	}
	t.Seal = record.SealOf(nb)
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
	was     string // the code as it was drawn
}

// leftIn returns the cells of a notebook but for empty ones that a person added. The trajectory
// gets the code and outputs of those that show an attempt. A copy of dsstar's cell is the person's
// own.
func leftIn(nb *notebook.Notebook, t *record.Trajectory) (all []left, err error) {
	in, seen := 1, map[string]bool{}
	for i, c := range nb.Cells {
		l := left{Cell: c, part: in}
		if c.Metadata["dsstar"] != nil {
			if err := decode(c.Metadata, &l.meta); err != nil {
				return nil, fmt.Errorf("read the notebook: cell %d: %w", i+1, err)
			}
		}
		shows, m := shownBy(t, l.meta), l.meta
		attempt := m.Role == roleStep || m.Role == roleFinal
		if m.Role == "" || seen[m.id()] || attempt && shows == nil ||
			(c.Type == notebook.Code) != slices.Contains(codeRoles, m.Role) {
			if c.Type != notebook.Code || strings.TrimSpace(c.Source) != "" {
				all = append(all, l)
			}
			continue
		}
		seen[m.id()], l.own, l.part = true, true, max(1, m.Part)
		l.changed = m.Digest != "" && m.Digest != record.Digest(c.Source)
		if shows != nil {
			l.changed = l.changed || shows.Code != c.Source // whatever the cell says of itself
			l.was = shows.Code
			shows.Code = c.Source
			shows.Execution.Outputs = record.Recounted(c.Outputs, shows.Execution.Count)
		}
		if m.Role == roleQuestion {
			in = l.part
		}
		all = append(all, l)
	}
	return all, nil
}

// shownBy returns the attempt that a cell shows, or nil.
func shownBy(t *record.Trajectory, m cellMeta) *record.Attempt {
	k := max(1, m.Part) - 1
	if k >= len(t.Questions) {
		return nil
	}
	q := t.Questions[k]
	if _, drawn := q.FinalCell(); drawn && m.Role == roleFinal {
		return &q.Final.Attempts[len(q.Final.Attempts)-1]
	}
	for _, r := range q.Drawn(t.Method.Script) {
		if m.Role == roleStep && r.Number == m.Round {
			return &r.Attempts[len(r.Attempts)-1]
		}
	}
	return nil
}

// ownID matches the ids that [Draw] gives.
var ownID = lazy.Regexp(`^(data|parameters|setup|tools|variables|proof` +
	`|(question|report|asked|answer|final|readings|second|tried)(-\d+)?|(round|step|verdict)(-\d+){1,2})$`)

// remarks returns the person's own texts, and the versions of dsstar's texts that a person has
// written, which are drawn as they were. The words of steps are no such version.
func remarks(nb *notebook.Notebook, cells []left) (all []record.Remark) {
	ids := map[string]bool{}
	for _, c := range nb.Cells {
		ids[c.ID] = true
	}
	before := "" // the id of dsstar's cell
	for _, c := range cells {
		if c.own {
			before = c.meta.id()
		}
		if c.Type == notebook.Code || c.own && (!c.changed || c.words()) {
			continue
		}
		kept := c.Cell
		kept.Metadata = maps.Clone(kept.Metadata)
		delete(kept.Metadata, "dsstar")
		if c.own || ownID().MatchString(c.ID) {
			for n := 1; ids[kept.ID]; n++ {
				kept.ID = fmt.Sprintf("%s-by-hand-%d", c.ID, n)
			}
			ids[kept.ID] = true
		}
		all = append(all, record.Remark{After: cmp.Or(c.meta.After, before), Cell: kept})
	}
	return all
}

// Restate replaces the recorded answers of some questions, by number from 1, with what their last
// cells print now. The new answers are not proved. Of the cells, only the texts about the answers
// change.
func Restate(nb *notebook.Notebook, answers map[int]string) {
	t, err := Recorded(nb)
	if err != nil {
		return // it says no more than it did
	}
	for _, c := range nb.Cells {
		var m cellMeta
		if decode(c.Metadata, &m) == nil && c.Type == notebook.Code {
			if shown := shownBy(t, m); shown != nil {
				shown.Execution.Outputs = c.Outputs // whoever has edited the cell: that stays an edit
			}
		}
	}
	shown := Draw(t.Restate(answers)).Cells
	nb.Metadata["dsstar"] = newMeta(t)
	for i, c := range nb.Cells {
		at := slices.IndexFunc(shown, func(drew notebook.Cell) bool { return drew.ID == c.ID })
		if at < 0 || c.Metadata["dsstar"] == nil {
			continue
		}
		if m, _ := shown[at].Metadata["dsstar"].(cellMeta); m.Role == roleQuestion || m.Role == roleReport {
			nb.Cells[i].Source, nb.Cells[i].Attachments = shown[at].Source, shown[at].Attachments
			c.Metadata["dsstar"] = m
		}
	}
}

// SetData records another data folder. The parameters cell already names it.
func SetData(nb *notebook.Notebook, folder string) {
	if t, err := Recorded(nb); err == nil {
		t.Task.Data, t.Task.Sources = folder, nil
		nb.Metadata["dsstar"] = newMeta(t)
	}
}

// Rewritten reports whether a text or picture that dsstar has drawn into a notebook, whose
// trajectory is t, or an output of its cells is another one now, or is gone.
func Rewritten(nb *notebook.Notebook, t *record.Trajectory) bool {
	if record.SealOf(nb).Reshown {
		return true
	}
	if older := decode(nb.Metadata, &notebookMeta{}) != nil; older {
		return false // its texts were others
	}
	now := map[string]notebook.Cell{}
	for _, c := range nb.Cells {
		now[c.ID] = c
	}
	for k := range t.Questions { // who would show another answer must remove the given one
		if now[partOf(t, k).meta(roleQuestion).id()].Type != notebook.Markdown {
			return true
		}
	}
	return slices.ContainsFunc(Draw(t).Cells, func(drew notebook.Cell) bool {
		is, there := now[drew.ID]
		attached := len(is.Attachments)+len(drew.Attachments) > 0
		return there && is.Type == notebook.Markdown && (is.Source != drew.Source ||
			attached && !reflect.DeepEqual(is.Attachments, drew.Attachments))
	})
}
