package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// Read reads the trajectory back from its notebook. It is the
// inverse of [Draw]. What a person has changed since then becomes a round of its
// own, the last, whose Edit says so; package agent carries it out. The error is an
// [*EditError] for changes that cannot be.
func Read(nb *notebook.Notebook) (*Trajectory, error) {
	t := &Trajectory{}
	meta := notebookMeta{Trajectory: t}
	if err := metadata(nb.Metadata, &meta); err != nil {
		return nil, err
	}
	if meta.Agent != "" {
		return nil, fmt.Errorf("read the notebook: it is the record of another agent, %s, and not of a run that dsstar can go on with", meta.Agent)
	}
	if meta.Version != 1 {
		return nil, fmt.Errorf("read the notebook: its dsstar metadata has version %d, not 1", meta.Version)
	}
	r := &reader{t: t, plans: meta.Plans, recorded: map[int]string{}, seen: map[string]bool{}, opening: map[string]present{}, finals: map[int]present{}}
	r.ids = map[string]bool{}
	for _, c := range nb.Cells {
		r.ids[c.ID] = true
	}
	for i, c := range nb.Cells {
		var m cellMeta
		if c.Metadata["dsstar"] != nil {
			if err := metadata(c.Metadata, &m); err != nil {
				return nil, fmt.Errorf("cell %d: %w", i+1, err)
			}
		}
		if err := r.cell(m, c); err != nil {
			return nil, fmt.Errorf("read the notebook: cell %d: %w", i+1, err)
		}
	}
	if meta.Last > 0 {
		r.round(meta.Last)
	}
	if r.times == nil {
		r.times = &measured{}
	}
	t.measure(r.times)
	return t, r.reconcile()
}

// A reader reads a notebook cell by cell.
type reader struct {
	t        *Trajectory
	plans    [][]int        // as they were drawn
	recorded map[int]string // the roles of the rounds whose record was found
	anchor   string         // id of the last cell of ours
	seen     map[string]bool
	ids      map[string]bool // of all cells
	times    *measured
	inPart   int // of the cell; from 1

	// What is there now, to be held against the record.
	now     []present    // code cells after the set-up, in their order
	changed map[int]bool // rounds whose cell or words were changed
	words   []present    // headings whose words were changed
	notes   []string
	opening map[string]present // by role
	finals  map[int]present    // the last cells, by part

	ordered   bool // the person has put the cells into another order
	fromStart bool // all cells of the last part are to be run again
}

// A present cell is one as the person left it.
type present struct {
	part, round int // 0: the cell is not one of ours
	changed     bool
	cell        notebook.Cell
}

// cell adds what one cell holds of the trajectory. A cell that has the metadata
// of another, as a copy of it has, is a person's own.
func (r *reader) cell(m cellMeta, c notebook.Cell) error {
	if m.Role == "" || r.copied(m) || (c.Type == notebook.Code) != (slices.Contains([]string{roleParameters, roleSetup, roleVariables, roleStep, roleFinal}, m.Role)) {
		r.foreign(m, c)
		return nil
	}
	r.anchor = c.ID
	p := present{part: max(1, m.Part), round: m.Round, changed: m.Digest != "" && m.Digest != digest(c.Source), cell: c}
	if p.changed && c.Type == notebook.Markdown && (m.Role != roleRound || r.t.partOf(m.Round) <= len(r.t.Earlier)) {
		r.annotated(c)
	}
	switch m.Role {
	case roleQuestion:
		if title, _, _ := strings.Cut(c.Source, "\n"); p.changed && title != "# "+prose(r.t.Part(p.part-1).Task.Question) {
			return &EditError{"the question was changed: undo it, and ask another one with --ask"}
		}
		r.inPart = p.part
	case roleParameters, roleSetup, roleVariables:
		r.opening[m.Role] = p
	case roleData:
		r.t.Descriptions, r.t.Variables = m.Descriptions, m.Variables
	case roleRound, roleDropped:
		if m.Record == nil || m.Round < 1 {
			return fmt.Errorf("a %s cell without its record", m.Role)
		}
		attempts := r.round(m.Round).Attempts // its cell may have been moved to before it
		*r.round(m.Round) = *m.Record
		r.round(m.Round).Attempts = slices.Concat(m.Record.Attempts, attempts)
		r.recorded[m.Round] = m.Role
		if p.changed && m.Role == roleRound {
			r.words = append(r.words, p)
		}
	case roleStep:
		if m.Round < 1 {
			return fmt.Errorf("a step's cell without its round")
		}
		round := r.round(m.Round)
		round.Attempts = append(round.Attempts, attemptOf(m, c))
		p.part = r.t.partOf(m.Round)
		r.now = append(r.now, p)
	case roleAnswer, roleFinal:
		return r.answer(m, p)
	case roleProof:
		r.times = m.Measured
	}
	return nil
}

// copied reports whether the cell is the second with such metadata.
func (r *reader) copied(m cellMeta) bool {
	key := fmt.Sprint(m.Role, " ", m.Part, " ", m.Round)
	if r.seen[key] {
		return true
	}
	r.seen[key] = true
	return false
}

// round returns round n, from 1, and makes those before it that are not there.
func (r *reader) round(n int) *Round {
	for len(r.t.Rounds) < n {
		r.t.Rounds = append(r.t.Rounds, Round{})
	}
	return &r.t.Rounds[n-1]
}

// answer takes the heading of a last cell, or that cell.
func (r *reader) answer(m cellMeta, p present) error {
	final := &r.t.Final
	if p.part <= len(r.t.Earlier) {
		final = &r.t.Earlier[p.part-1].Final
	}
	if *final == nil {
		*final = &Final{}
	}
	if m.Role == roleAnswer {
		if m.Final == nil {
			return fmt.Errorf("the heading of a last cell without its record")
		}
		attempts := (*final).Attempts
		**final = *m.Final
		(*final).Attempts = slices.Concat(m.Final.Attempts, attempts)
		return nil
	}
	(*final).Attempts = append((*final).Attempts, attemptOf(m, p.cell))
	r.finals[p.part] = p
	return nil
}

// noteTag marks a Markdown cell that a person has written for the agent.
const noteTag = "dsstar:note"

// foreign takes a cell that is a person's own.
func (r *reader) foreign(m cellMeta, c notebook.Cell) {
	if c.Type == notebook.Code {
		if strings.TrimSpace(c.Source) != "" {
			r.now = append(r.now, present{part: max(1, r.inPart), cell: c})
		}
		return
	}
	c.Metadata = without(c.Metadata, "dsstar")
	if ownID().MatchString(c.ID) {
		c.ID = r.newID(c.ID) // it stands where a copy of it has taken its place
	}
	r.t.Kept = append(r.t.Kept, Kept{cmp.Or(m.After, r.anchor), c})
	if text := strings.TrimSpace(c.Source); slices.Contains(c.Tags(), noteTag) && text != "" {
		r.notes = append(r.notes, text)
	}
}

// ownID matches the ids that [Draw] gives.
var ownID = lazy.Regexp(`^((question|answer|final)(-\d+)?|data|parameters|setup|variables|proof|(round|step|verdict)-\d+)$`)

// newID makes an id for a person's cell of one of ours.
func (r *reader) newID(id string) string {
	made := id + "-by-hand"
	for n := 2; r.ids[made]; n++ {
		made = fmt.Sprintf("%s-by-hand-%d", id, n)
	}
	r.ids[made] = true
	return made
}

// annotated keeps what a person has made of a text of ours, which is drawn anew:
// after it, as a cell of the person's own.
func (r *reader) annotated(c notebook.Cell) {
	r.t.Kept = append(r.t.Kept, Kept{c.ID, notebook.Cell{
		ID: r.newID(c.ID), Type: notebook.Markdown, Source: c.Source, Metadata: without(c.Metadata, "dsstar"), Attachments: c.Attachments,
	}})
}

func without(all map[string]any, key string) map[string]any {
	rest := map[string]any{}
	for k, v := range all {
		if k != key {
			rest[k] = v
		}
	}
	return rest
}

func attemptOf(m cellMeta, c notebook.Cell) Attempt {
	a := Attempt{Code: c.Source, Execution: notebook.Execution{Status: notebook.OK}}
	if m.Execution != nil {
		a.Execution = *m.Execution
	}
	a.Execution.Outputs = append(a.Execution.Outputs, c.Outputs...)
	recount(&a.Execution, 0)
	return a
}

// metadata decodes the "dsstar" entry of a metadata object, whether it was
// read from a file or is still the value that was drawn.
func metadata(all map[string]any, into any) error {
	if all["dsstar"] == nil {
		return fmt.Errorf("read the notebook: it was not written by dsstar")
	}
	data, err := json.Marshal(all["dsstar"])
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("read the notebook: its dsstar metadata: %w", err)
	}
	return nil
}

// Questions returns those of the notebook of a run, in order; nil if it cannot be
// read.
func Questions(nb *notebook.Notebook) (all []string) {
	t, err := Read(nb)
	if err != nil {
		return nil
	}
	for k := range len(t.Earlier) + 1 {
		all = append(all, t.Part(k).Task.Question)
	}
	return all
}

// Restate makes the notebook of a run, which somebody has executed since, say what
// the last cells of some questions, by number from 1, print now, and that these
// answers are not proved. Nothing else is changed.
func Restate(nb *notebook.Notebook, answers map[int]string) {
	t, err := Read(nb)
	meta, ok := nb.Metadata["dsstar"].(map[string]any)
	if err != nil || !ok {
		return // it says no more than it did
	}
	earlier, _ := meta["earlier"].([]any)
	for part, answer := range answers {
		final := &Final{Answer: answer}
		if k := part - 1; k < len(t.Earlier) {
			t.Earlier[k].Final, t.Earlier[k].Proof = final, nil
			if record, ok := earlier[k].(map[string]any); ok {
				delete(record, "proof")
			}
			continue
		}
		delete(meta, "proof")
		meta["answer"], meta["verified"] = answer, false
		t.Final, t.Proof, t.Ended, t.Failure = final, nil, true, ""
	}
	for i := range nb.Cells {
		c := &nb.Cells[i]
		own, ok := c.Metadata["dsstar"].(map[string]any)
		if !ok || own["role"] != roleQuestion {
			continue
		}
		for k := range len(t.Earlier) + 1 {
			if c.ID == questionID(k) {
				text := showQuestion(t.Part(k))
				if k == 0 {
					text = showTop(t)
				}
				c.Source = strings.TrimSpace(text)
				own["digest"] = digest(c.Source)
			}
		}
	}
}

// questionID is the id of the cell with the question of part k, from 0.
func questionID(k int) string {
	if k == 0 {
		return "question"
	}
	return fmt.Sprintf("question-%d", k+1)
}
