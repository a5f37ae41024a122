package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// Read returns the trajectory in the notebook's metadata, with the outputs of the cells. It is
// the inverse of [Draw]. Edits made since become the last round, with an [Edit] that package agent
// carries out. The error is an [*EditError] for edits from which a run cannot continue.
func Read(nb *notebook.Notebook) (*record.Trajectory, error) {
	meta, err := recorded(nb)
	if err != nil {
		return nil, err
	}
	r := &reader{
		t: meta.Trajectory, seen: seen{}, ids: map[string]bool{}, changed: map[int]bool{},
		opening: map[string]present{}, finals: map[int]present{}, edits: map[int]record.Change{},
	}
	r.t.Seal = record.SealOf(nb)
	for _, c := range nb.Cells {
		r.ids[c.ID] = true
	}
	for i, c := range nb.Cells {
		m, err := decodeCell[cellMeta](i, c)
		if err != nil {
			return nil, err
		}
		if err := r.cell(m, c); err != nil {
			return nil, err
		}
	}
	return r.t, r.reconcile()
}

// Recorded returns the trajectory as it was saved, whatever a person has changed in the notebook
// since, without the outputs of its cells.
func Recorded(nb *notebook.Notebook) (*record.Trajectory, error) {
	meta, err := recorded(nb)
	if err != nil {
		return nil, err
	}
	meta.Trajectory.Seal = record.SealOf(nb)
	return meta.Trajectory, nil
}

// recorded returns the record in the notebook's metadata, without the outputs of the cells.
func recorded(nb *notebook.Notebook) (*notebookMeta, error) {
	meta := &notebookMeta{}
	if err := decode(nb.Metadata, meta); err != nil {
		return nil, fmt.Errorf("read the notebook: %w", err)
	}
	switch {
	case meta.Agent != "":
		return nil, fmt.Errorf("read the notebook: it is the record of another agent, %s, "+
			"and not of a run that dsstar can go on with", meta.Agent)
	case meta.Version != 2:
		return nil, fmt.Errorf("read the notebook: its dsstar metadata has version %d, not 2",
			meta.Version)
	case meta.Trajectory == nil:
		return nil, fmt.Errorf("read the notebook: its dsstar metadata has no trajectory")
	}
	if err := meta.Trajectory.Check(); err != nil {
		return nil, fmt.Errorf("read the notebook: %w", err)
	}
	return meta, nil
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

// decodeCell decodes the metadata of cell i. A cell without metadata is the person's own.
func decodeCell[M any](i int, c notebook.Cell) (m M, err error) {
	if c.Metadata["dsstar"] != nil {
		if err = decode(c.Metadata, &m); err != nil {
			err = fmt.Errorf("read the notebook: cell %d: %w", i+1, err)
		}
	}
	return m, err
}

// A reader compares the cells of a notebook with its record.
type reader struct {
	t      *record.Trajectory
	anchor string // id of the last cell of ours
	seen   seen
	ids    map[string]bool // of all cells
	inPart int             // of the cell; from 1

	// The notebook as it is now.
	now     []present    // code cells after the set-up, in their order
	changed map[int]bool // rounds whose cell or words were changed
	words   []present    // headings whose words were changed
	notes   []noted
	opening map[string]present    // by role
	finals  map[int]present       // the last cells, by part
	what    []string              // the person did, in words, to the part in work
	edits   map[int]record.Change // of parts before the last
}

// A present is a cell as the person left it.
type present struct {
	part, round int // 0: the cell is not one of ours
	changed     bool
	cell        notebook.Cell
	was         string // the cell as it was drawn, if it has changed
}

// A noted is a note to the agent, and the part, from 1, in which it stands; 0: above all.
type noted struct {
	part int
	text string
}

// seen holds the ids of dsstar's cells that were read.
type seen map[string]bool

// own reports whether the cell is dsstar's. A copy of such a cell is the person's own.
func (s seen) own(m cellMeta, c notebook.Cell) bool {
	key := fmt.Sprint(m.Role, " ", m.Part, " ", m.Round)
	if m.Role == "" || s[key] || (c.Type == notebook.Code) != slices.Contains(codeRoles, m.Role) {
		return false
	}
	s[key] = true
	return true
}

// cell compares one cell with the record.
func (r *reader) cell(m cellMeta, c notebook.Cell) error {
	shown := r.shown(m)
	if !r.seen.own(m, c) || shown == nil && (m.Role == roleStep || m.Role == roleFinal) {
		r.foreign(m, c)
		return nil
	}
	r.anchor = c.ID
	p := present{part: max(1, m.Part), round: m.Round, cell: c,
		changed: m.Digest != "" && m.Digest != record.Digest(c.Source)}
	if shown != nil {
		p.changed = p.changed || shown.Code != c.Source // whatever the cell says of itself
		p.was = shown.Code
		shown.Code, shown.Execution.Outputs = c.Source, record.Recounted(c.Outputs, shown.Execution.Count)
	}
	switch m.Role {
	case roleQuestion:
		title, _, _ := strings.Cut(c.Source, "\n")
		question := r.t.Part(p.part - 1).Task.Question
		if p.changed && title != "# "+prose(questionTitle(question)) && title != "# "+prose(question) {
			return errQuestion
		}
		r.inPart = p.part
	case roleAsked:
		if p.changed && brief.OneLine(c.Source) != brief.OneLine(showAsked(r.t, p.part-1)) {
			return errQuestion
		}
	case record.RoleParameters, record.RoleSetup, record.RoleTools, record.RoleVariables:
		r.opening[m.Role] = p
	case roleStep:
		p.part = r.t.PartOf(m.Round)
		r.now = append(r.now, p)
	case roleFinal:
		r.finals[p.part] = p
	}
	if !p.changed || c.Type == notebook.Code {
		return nil
	}
	if m.Role == roleRound && r.t.PartOf(m.Round) > len(r.t.Earlier) {
		r.words = append(r.words, p)
	} else {
		r.annotated(c)
	}
	return nil
}

// shown returns the attempt that a cell shows, or nil.
func (r *reader) shown(m cellMeta) *record.Attempt {
	var attempts []record.Attempt
	switch part := max(1, m.Part); {
	case m.Role == roleStep && m.Round >= 1 && m.Round <= len(r.t.Rounds):
		attempts = r.t.Rounds[m.Round-1].Attempts
	case m.Role == roleFinal && part <= len(r.t.Earlier)+1:
		if f := r.t.Part(part - 1).Final; f != nil {
			attempts = f.Attempts
		}
	}
	if _, ok := record.Accepted(attempts); !ok {
		return nil
	}
	return &attempts[len(attempts)-1]
}

// foreign handles a cell that is the person's own.
func (r *reader) foreign(m cellMeta, c notebook.Cell) {
	if c.Type == notebook.Code {
		if strings.TrimSpace(c.Source) != "" {
			r.now = append(r.now, present{part: max(1, r.inPart), cell: c})
		}
		return
	}
	c.Metadata = without(c.Metadata, "dsstar")
	if ownID().MatchString(c.ID) {
		c.ID = r.newID(c.ID) // a copy of it has taken its place
	}
	r.t.Remarks = append(r.t.Remarks, record.Remark{After: cmp.Or(m.After, r.anchor), Cell: c})
	if text := strings.TrimSpace(c.Source); slices.Contains(c.Tags(), record.NoteTag) && text != "" {
		r.notes = append(r.notes, noted{r.inPart, text})
	}
}

// ownID matches the ids that [Draw] gives.
var ownID = lazy.Regexp(`^(data|parameters|setup|tools|variables|proof` +
	`|(question|report|asked|answer|final|readings|second|tried)(-\d+)?|(round|step|verdict)-\d+)$`)

// newID returns a new id for a person's cell that has the id of one of dsstar's.
func (r *reader) newID(id string) string {
	made := id + "-by-hand"
	for n := 2; r.ids[made]; n++ {
		made = fmt.Sprintf("%s-by-hand-%d", id, n)
	}
	r.ids[made] = true
	return made
}

// annotated keeps a person's version of one of dsstar's texts in a cell after it. The text itself
// is redrawn.
func (r *reader) annotated(c notebook.Cell) {
	r.t.Remarks = append(r.t.Remarks, record.Remark{After: c.ID, Cell: notebook.Cell{
		ID: r.newID(c.ID), Type: notebook.Markdown, Source: c.Source,
		Metadata: without(c.Metadata, "dsstar"), Attachments: c.Attachments,
	}})
}

func without(all map[string]any, key string) map[string]any {
	rest := maps.Clone(all)
	delete(rest, key)
	return rest
}

// Questions returns the questions of a run's notebook, in order; nil if it cannot be read.
func Questions(nb *notebook.Notebook) []string {
	t, err := Recorded(nb)
	if err != nil {
		return nil
	}
	return t.Questions()
}

// Restate replaces the recorded answers of some questions, by number from 1, with what their last
// cells print now. The new answers are not proved. Of the cells, only the texts about the answers
// change.
func Restate(nb *notebook.Notebook, answers map[int]string) {
	meta, err := recorded(nb)
	if err != nil {
		return // it says no more than it did
	}
	t := meta.Trajectory
	r := &reader{t: t}
	for i, c := range nb.Cells {
		if m, err := decodeCell[cellMeta](i, c); err == nil {
			if a := r.shown(m); a != nil && c.Type == notebook.Code {
				a.Execution.Outputs = c.Outputs // whoever has edited the cell: that stays an edit
			}
		}
	}
	view := *t.Restate(answers)
	nb.Metadata["dsstar"] = newMeta(t)
	for i := range nb.Cells {
		r.restate(&view, &nb.Cells[i])
	}
}

// restate draws a text about the answer of a part again.
func (r *reader) restate(view *record.Trajectory, c *notebook.Cell) {
	own, ok := c.Metadata["dsstar"].(map[string]any)
	if !ok || own["role"] != roleQuestion && own["role"] != roleReport {
		return
	}
	for k := range len(view.Earlier) + 1 {
		switch c.ID {
		case record.PartID(roleQuestion, k):
			c.Source = showQuestion(view, k)
		case record.PartID(roleReport, k):
			c.Source, c.Attachments = showReport(view, k)
		default:
			continue
		}
		c.Source = strings.TrimSpace(c.Source)
		own["digest"] = record.Digest(c.Source)
	}
}

// SetData records another data folder. The parameters cell already names it.
func SetData(nb *notebook.Notebook, folder string) {
	if meta, err := recorded(nb); err == nil {
		meta.Trajectory.Task.Data, meta.Trajectory.Task.Sources = folder, nil
		nb.Metadata["dsstar"] = meta
	}
}

// Sources returns what the names in a notebook's data folder lead to: none if it is a folder of
// data itself.
func Sources(nb *notebook.Notebook) []files.Source {
	meta, err := recorded(nb)
	if err != nil || meta.Trajectory.Task.Data != record.DataFolder {
		return nil
	}
	return meta.Trajectory.Task.Sources
}

// LinkedData returns the links to data in a notebook's data folder, whose path is data, and the
// companions of the data: none if it is a folder of data itself.
func LinkedData(nb *notebook.Notebook, data string) (paths []string) {
	for _, s := range Sources(nb) {
		at := filepath.Join(data, s.Name)
		paths = append(paths, at)
		for _, c := range files.Companions(at, s.Name) {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// Counts returns when the answer of a notebook was proved and how many rows tables had then.
func Counts(nb *notebook.Notebook) (at time.Time, counts []record.TableCount) {
	meta, err := recorded(nb)
	if err != nil || meta.Trajectory.Proof == nil {
		return at, nil
	}
	return meta.Trajectory.Proof.At, meta.Trajectory.Proof.Counts
}

// Rewritten reports whether a text or picture that dsstar has drawn into a notebook, whose trajectory
// is t, or an output of its cells is another one now, or is gone.
func Rewritten(nb *notebook.Notebook, t *record.Trajectory) bool {
	if record.SealOf(nb).Reshown {
		return true
	}
	now := map[string]notebook.Cell{}
	for _, c := range nb.Cells {
		now[c.ID] = c
	}
	for k := range len(t.Earlier) + 1 { // who would show another answer must remove the one that was given
		if now[record.PartID(roleQuestion, k)].Type != notebook.Markdown {
			return true
		}
	}
	return slices.ContainsFunc(Draw(t).Cells, func(drew notebook.Cell) bool {
		is, there := now[drew.ID]
		return there && is.Type == notebook.Markdown && (is.Source != drew.Source ||
			len(is.Attachments)+len(drew.Attachments) > 0 && !reflect.DeepEqual(is.Attachments, drew.Attachments))
	})
}
