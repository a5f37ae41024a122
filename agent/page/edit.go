package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// An editing finds out what a person has changed, by comparing the cells with the record.
type editing struct {
	t     *record.Trajectory
	cells []left
	what  []string              // was changed in the part in work, in words
	edits map[int]*record.Start // by part, from 0
}

// did records what the person changed.
func (e *editing) did(format string, args ...any) {
	e.what = append(e.what, fmt.Sprintf(format, args...))
}

// role returns dsstar's cell of a role in a part, from 1.
func (e *editing) role(role string, part int) (c left, there bool) {
	i := slices.IndexFunc(e.cells, func(c left) bool {
		return c.own && c.meta.Role == role && c.part == part
	})
	if i < 0 {
		return c, false
	}
	return e.cells[i], true
}

// read has the questions begin again of which a person has changed something.
func (e *editing) read() error {
	t := e.t
	for k := range t.Questions {
		if e.asksAnother(partOf(t, k)) {
			return errQuestion
		}
	}
	if t.Method.Script {
		return e.refuse()
	}
	for k := range t.Questions {
		if err := e.part(k); err != nil {
			return err
		}
	}
	if len(e.edits) > 0 {
		t.Restart(e.edits)
	}
	return nil
}

// part finds out what was changed in part k.
func (e *editing) part(k int) error {
	last, of := k == e.t.Earlier(), ""
	if !last {
		of = fmt.Sprintf(" of question %d", k+1)
	}
	e.what = nil
	q := e.t.Questions[k]
	start := q.Again()
	was, now := numbers(start.Given), e.steps(k, of, start.Given)
	kept := inBoth(numbers(now), was)
	if start.Ordered = !slices.Equal(inBoth(was, kept), kept); start.Ordered {
		e.did("the steps%s were put into another order", of)
	}
	start.Steps, start.Less = len(e.what) > 0, len(now) < len(was)
	start.Given = now
	if last {
		if err := e.opening(); err != nil {
			return err
		}
		e.notes()
	}
	if e.lastCell(k, of, start); len(e.what) == 0 {
		return nil
	}
	start.What = e.what
	start.Readings = q.Again().Readings // a note that was removed may have chosen one
	e.edits[k] = start
	return nil
}

var errQuestion = refused("the question or its form was changed: undo it, " +
	"and ask another one with --ask")

// refused returns the error for an edit from which a run cannot continue.
func refused(format string, args ...any) error {
	return &record.EditError{Problem: fmt.Sprintf(format, args...)}
}

// asksAnother reports whether the question of a part, or its form, was changed. A person may write
// below its title.
func (e *editing) asksAnother(p part) bool {
	top, _ := e.role(roleQuestion, p.k+1)
	whole, _ := e.role(roleAsked, p.k+1)
	heading, _, _ := strings.Cut(text(roleQuestion, p), "\n")
	return top.changed && !strings.HasPrefix(top.Source, heading) ||
		whole.changed && brief.OneLine(whole.Source) != brief.OneLine(text(roleAsked, p))
}

// inBoth returns the elements of a that are also in b.
func inBoth(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(i int) bool { return !slices.Contains(b, i) })
}

func numbers(rounds []record.Round) (all []int) {
	for _, r := range rounds {
		all = append(all, r.Number)
	}
	return all
}

// steps compares the steps of part k with the record, and returns them as they are left.
func (e *editing) steps(k int, of string, was []record.Round) (now []record.Round) {
	changed, next := map[int]bool{}, e.t.Questions[k].Count()+1
	for _, c := range e.cells {
		step, number := c.own && c.meta.Role == roleStep, len(now)+1
		if c.Type != notebook.Code || c.own && !step || c.part-1 != k {
			continue
		}
		r := handMade(c.Cell, next)
		if i := slices.Index(numbers(was), c.meta.Round); c.own && i >= 0 {
			r = was[i]
		} else {
			next++
			e.did("a cell was added as step %d%s", number, of)
		}
		if c.changed {
			r.ByHand, r.Was, changed[r.Number] = true, c.was, true
			e.did("the cell of step %d%s was changed", number, of)
		}
		r.Place = number
		now = append(now, r)
	}
	for _, c := range e.cells {
		if c.changed && c.words() && c.part == k+1 {
			e.reword(c, of, now, changed)
		}
	}
	for at, r := range was {
		if !slices.Contains(numbers(now), r.Number) {
			e.did("step %d%s was removed", at+1, of)
		}
	}
	return now
}

// words reports whether the cell has the words of a step.
func (c left) words() bool { return c.own && c.meta.Role == roleRound }

// reword takes over the words of a step that the person changed.
func (e *editing) reword(c left, of string, now []record.Round, changed map[int]bool) {
	at, words := slices.Index(numbers(now), c.meta.Round), stepText(c.Source)
	if at < 0 || words == "" {
		return
	}
	r := &now[at]
	if words == brief.OneLine(cmp.Or(r.Rewrite, r.Step)) {
		return
	}
	if r.Rewrite = words; changed[r.Number] {
		r.Step, r.Rewrite = words, "" // and its cell with them
	}
	changed[r.Number] = true
	e.did("the words of step %d%s were changed", at+1, of)
}

// lastCell compares the last cell of part k with the record.
func (e *editing) lastCell(k int, of string, start *record.Start) {
	final, there := e.role(roleFinal, k+1)
	if _, drawn := e.t.Questions[k].FinalCell(); drawn && !there {
		start.Last, start.ByHand = "", false
		e.did("the last cell%s was removed", of)
	}
	if final.changed {
		start.ByHand = true
		e.did("the last cell%s was changed", of)
	}
}

// noteTexts returns the notes to the agent that stand in the notebook, with the cells.
func (e *editing) noteTexts() (texts []string, notes []left) {
	for _, c := range e.cells {
		text := strings.TrimSpace(c.Source)
		if !c.own && c.Type != notebook.Code && text != "" && slices.Contains(c.Tags(), record.NoteTag) {
			texts, notes = append(texts, text), append(notes, c)
		}
	}
	return texts, notes
}

// notes collects the notes to the agent. The questions below one that was left are judged again,
// and all of them after one was removed. What was chosen with it is open then.
func (e *editing) notes() {
	t := e.t
	texts, notes := e.noteTexts()
	decided := map[string]bool{}
	for _, d := range journal.All[record.Decision](t.Journal, record.Decided) {
		decided[d.Note] = true // perhaps it is still to be noted again
	}
	for i, text := range texts {
		left := slices.ContainsFunc(t.Left, func(n record.Left) bool { return n.Text == text })
		if !left && !slices.Contains(t.Notes, text) && !decided[text] {
			t.Notes = append(t.Notes, text)
			t.Left = append(t.Left, record.Left{Text: text, Part: max(1, notes[i].part)})
			e.noted(notes[i].part-1, "a note was left: "+text)
		}
	}
	known := slices.Clone(t.Notes)
	for _, n := range t.Left { // some are for later questions
		if !slices.Contains(known, n.Text) {
			known = append(known, n.Text)
		}
	}
	for _, text := range known {
		if slices.Contains(texts, text) {
			continue
		}
		t.Notes = slices.DeleteFunc(t.Notes, func(n string) bool { return n == text })
		t.Left = slices.DeleteFunc(t.Left, func(n record.Left) bool { return n.Text == text })
		journal.Drop(t.Journal, record.Decided, func(d record.Decision) bool { return d.Note == text })
		for _, q := range t.Questions {
			for i, r := range q.Readings {
				q.Readings[i].ByUser = r.ByUser && r.Chose() != text
			}
		}
		e.noted(0, "a note was removed: "+text)
	}
}

// noted records a change that concerns the questions from part k on.
func (e *editing) noted(k int, what string) {
	e.did("%s", what)
	for k = max(k, 0); k < e.t.Earlier(); k++ {
		if e.edits[k] == nil {
			e.edits[k] = e.t.Questions[k].Again()
		}
		e.edits[k].What = append(e.edits[k].What, what)
		e.edits[k].Readings = e.t.Questions[k].Again().Readings
	}
}

// refuse is read for the paper's method, which allows no edits.
func (e *editing) refuse() error {
	texts, _ := e.noteTexts()
	_, there := e.role(roleFinal, 1)
	edited := func(c left) bool { return c.Type == notebook.Code && (c.changed || !c.own) }
	gone := !there && e.t.Answer() != ""
	if gone || slices.ContainsFunc(e.cells, edited) || len(texts) > len(e.t.Notes) {
		return refused("the notebook was edited, and a run in the paper's way has " +
			"no cells to go on from, but whole scripts")
	}
	return nil
}

var dataDir = lazy.Regexp(`^data_dir = (".*")\nquestion = (".*")$`)

// opening compares the cells before the first step. Only their data folder may change.
func (e *editing) opening() error {
	parameters, there := e.role(record.RoleParameters, 1)
	for _, role := range []string{record.RoleSetup, record.RoleTools, record.RoleVariables} {
		c, is := e.role(role, 1)
		if c.changed {
			return refused("the set-up was changed, whose cells are dsstar's " +
				"own: undo it, and put your code into a cell after them")
		}
		there = there && (is || role != record.RoleSetup)
	}
	if !there {
		return refused("the parameters or the set-up cell is gone: " +
			"undo that, or take it over from solution.py")
	}
	if !parameters.changed {
		return nil
	}
	m := dataDir().FindStringSubmatch(strings.TrimSpace(parameters.Source))
	var data, question string
	if m == nil || json.Unmarshal([]byte(m[1]), &data) != nil ||
		json.Unmarshal([]byte(m[2]), &question) != nil {
		return refused("the parameters cell has other lines than " +
			`data_dir = "…" and question = "…": put your code into a cell after the set-up`)
	}
	if question != e.t.Questions[0].Text {
		return errQuestion
	}
	e.t.Task.Data, e.t.Task.Sources = data, nil
	e.t.Described, e.t.Descriptions = false, nil
	e.noted(0, "the data folder is now "+data)
	return nil
}

// handMade returns the round, with a number, for a cell that a person added. Its step is the cell's
// first comment.
func handMade(c notebook.Cell, number int) record.Round {
	ran := notebook.Execution{Status: notebook.OK, Outputs: record.Recounted(c.Outputs, 0)}
	step := "A cell written by hand."
	for line := range strings.Lines(c.Source) {
		line, comment := strings.CutPrefix(strings.TrimSpace(line), "#")
		if text := strings.TrimSpace(strings.TrimLeft(line, "#%")); text != "" {
			if comment {
				step = text
			}
			break
		}
	}
	return record.Round{Number: number, Step: step, Given: true, ByHand: true,
		Attempts: []record.Attempt{{Code: c.Source, Execution: ran}}}
}

var (
	stepHeading = lazy.Regexp(`^## Step \d+(: *|$)`)
	escapes     = lazy.Regexp(`\\(.)|</?span>`)
)

// stepText returns a step's text from its edited heading. It is the inverse of the heading's
// template.
func stepText(source string) string {
	source, _, _ = strings.Cut(source, "\n<details>")
	var words []string
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if at := stepHeading().FindString(line); at != "" {
			if line = line[len(at):]; strings.HasSuffix(line, "…") {
				continue // all of it stands below
			}
		}
		if line != "" && line != handMark {
			words = append(words, line)
		}
	}
	return html.UnescapeString(escapes().ReplaceAllString(strings.Join(words, " "), "$1"))
}
