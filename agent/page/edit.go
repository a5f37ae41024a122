package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// reconcile compares the cells with the record. It appends a round for each cell that the person
// added and, if anything differs, one round for the edit itself.
func (r *reader) reconcile() error {
	t := r.t
	if t.Method.Script {
		return r.refuse()
	}
	for k := range t.Earlier {
		if err := r.earlier(k); err != nil {
			return err
		}
	}
	r.what = nil
	was, now := r.compare(len(t.Earlier))
	first := 0 // the first place that is not as it was
	for first < min(len(was), len(now)) && was[first] == now[first] && !r.changed[now[first]] {
		first++
	}
	steps := first < max(len(was), len(now))
	ordered := !slices.Equal(inBoth(was, now), inBoth(now, was)) || len(r.what) == 0 && steps
	if ordered {
		r.did("the steps were put into another order")
	}
	moved, err := r.reopened()
	if err != nil {
		return err
	}
	r.readNotes()
	if moved || len(r.edits) > 0 {
		first = 0
	}
	if left := len(inBoth(was, t.ToRepeat())); left > 0 {
		first = min(first, len(was)-left) // these are still to be run again
	}
	r.lastCell()
	if len(r.what) > 0 {
		t.Rounds = append(t.Rounds, record.Round{Edit: &record.Edit{
			What: r.what, Plan: record.Numbers(now[:first]), Rest: record.Numbers(now[first:]), Ordered: ordered, Steps: steps,
		}})
		t.Unsettle()
		t.Ended, t.Failure = false, ""
	}
	if len(r.edits) > 0 {
		k := slices.Min(slices.Collect(maps.Keys(r.edits)))
		if len(r.what) > 0 {
			r.edits[len(t.Earlier)] = record.Change{} // its own
		}
		t.ReopenChanged(k, r.edits)
	}
	return nil
}

// did records what the person changed.
func (r *reader) did(format string, args ...any) {
	r.what = append(r.what, fmt.Sprintf(format, args...))
}

// inBoth returns the elements of a that are also in b.
func inBoth(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(i int) bool { return !slices.Contains(b, i) })
}

// compare compares the cells of part k with the record. It returns the rounds that had a cell
// before and those that have one now.
func (r *reader) compare(k int) (was, now []int) {
	t, of := r.t, ""
	if k < len(t.Earlier) {
		of = fmt.Sprintf(" of question %d", k+1)
	}
	was = t.Part(k).CellRounds()
	for _, p := range r.now {
		if min(p.part-1, len(t.Earlier)) != k {
			continue
		}
		i, step := p.round-1, len(now)+1
		switch {
		case p.round == 0:
			i = len(t.Rounds)
			t.Rounds = append(t.Rounds, handMade(p.cell))
			r.did("a cell was added as step %d", step)
		case p.changed:
			t.Rounds[i].ByHand, t.Rounds[i].Was, r.changed[i] = true, p.was, true
			r.did("the cell of step %d%s was changed", step, of)
		}
		now = append(now, i)
	}
	r.reword(now)
	for at, i := range was {
		if !slices.Contains(now, i) {
			r.did("step %d%s was removed", at+1, of)
		}
	}
	return was, now
}

// reword takes over step texts that the person changed.
func (r *reader) reword(now []int) {
	for _, p := range r.words {
		i := p.round - 1
		at, round, text := slices.Index(now, i), &r.t.Rounds[i], stepText(p.cell.Source)
		if at < 0 || text == "" || text == brief.OneLine(cmp.Or(round.Rewrite, round.Step)) {
			continue
		}
		if round.Rewrite = text; r.changed[i] {
			round.Step, round.Rewrite = text, "" // and its cell with them
		}
		r.changed[i] = true
		r.did("the words of step %d were changed", at+1)
	}
}

// earlier compares part k, which is not the last. Its cells may be changed or removed.
func (r *reader) earlier(k int) error {
	part := &r.t.Earlier[k]
	if slices.ContainsFunc(r.now, func(p present) bool { return p.round == 0 && p.part == k+1 }) {
		return &record.EditError{Problem: fmt.Sprintf("a cell was added to question %d, which another has followed: "+
			"add it to the last one", k+1)}
	}
	r.what = nil
	was, now := r.compare(k)
	if !slices.Equal(inBoth(was, now), now) {
		return &record.EditError{Problem: fmt.Sprintf("the cells of question %d, which another has followed, "+
			"were put into another order", k+1)}
	}
	steps := len(r.what) > 0
	final, there := r.finals[k+1]
	if _, drawn := r.t.Part(k).FinalCell(); drawn && !there {
		part.Final = &record.Final{Begun: part.Final.Begun + 1}
		r.did("the last cell of question %d was removed", k+1)
	}
	if final.changed {
		part.Final.ByHand = true
		r.did("the last cell of question %d was changed", k+1)
	}
	if len(r.what) > 0 {
		r.edits[k] = record.Change{What: r.what, Rest: now, Steps: steps}
	}
	return nil
}

// lastCell compares the last cell with the record.
func (r *reader) lastCell() {
	f := r.t.Final
	final, there := r.finals[len(r.t.Earlier)+1]
	switch {
	case f == nil:
		return
	case final.changed:
		f.ByHand = true
		r.did("the last cell was changed")
	case !there && (f.Answer != "" || f.Again):
		*f = record.Final{Begun: f.Begun + 1}
		r.did("the last cell was removed")
	}
	if len(r.what) > 0 {
		f.Again, f.Answer = there, ""
	}
}

// readNotes collects the notes to the agent. The questions below one that was left are judged again,
// and all of them after one was removed. What was chosen with it is open then.
func (r *reader) readNotes() {
	var texts []string
	for _, n := range r.notes {
		if texts = append(texts, n.text); !slices.Contains(r.t.Notes, n.text) {
			r.noted(n.part, "a note was left: "+n.text)
		}
	}
	for _, text := range r.t.Notes {
		if slices.Contains(texts, text) {
			continue
		}
		r.noted(0, "a note was removed: "+text)
		for k := range len(r.t.Earlier) + 1 {
			for i, x := range r.t.Part(k).Readings {
				x.ByUser = x.ByUser && x.Chose() != text
				r.t.Part(k).Readings[i] = x
			}
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(r.t.Notes)), slices.Sorted(slices.Values(texts))) {
		r.t.Notes = texts // else they keep their order
	}
}

// noted records a change of notes that concerns the questions from a part on.
func (r *reader) noted(part int, what string) {
	r.did("%s", what)
	r.t.Noted(what)
	for k := max(0, part-1); k < len(r.t.Earlier); k++ {
		c, is := r.edits[k]
		if !is {
			c.Rest = r.t.Part(k).CellRounds()
		}
		c.What = append(slices.Clone(c.What), what)
		r.edits[k] = c
	}
}

// refuse is reconcile for the paper's method, which allows no edits.
func (r *reader) refuse() error {
	edited := func(p present) bool { return p.round == 0 || p.changed }
	changed := slices.ContainsFunc(r.now, edited) || len(r.notes) > len(r.t.Notes)
	for _, p := range r.opening {
		changed = changed || p.changed
	}
	final, there := r.finals[1]
	if changed || final.changed || !there && r.t.Answer() != "" {
		return &record.EditError{Problem: "the notebook was edited, and a run in the paper's way has no cells " +
			"to go on from, but whole scripts"}
	}
	return nil
}

var dataDir = lazy.Regexp(`^data_dir = (".*")\nquestion = (".*")$`)

// reopened compares the cells before the first step. Only their data folder may change.
func (r *reader) reopened() (moved bool, err error) {
	if len(r.opening) < 2 {
		return false, &record.EditError{Problem: "the parameters or the set-up cell is gone: undo that, " +
			"or take it over from solution.py"}
	}
	if r.opening[record.RoleSetup].changed || r.opening[record.RoleTools].changed ||
		r.opening[record.RoleVariables].changed {
		return false, &record.EditError{Problem: "the set-up was changed, whose cells are dsstar's own: undo it, " +
			"and put your code into a cell after them"}
	}
	p := r.opening[record.RoleParameters]
	if !p.changed {
		return false, nil
	}
	m := dataDir().FindStringSubmatch(strings.TrimSpace(p.cell.Source))
	var data, question string
	if m == nil || json.Unmarshal([]byte(m[1]), &data) != nil ||
		json.Unmarshal([]byte(m[2]), &question) != nil {
		return false, &record.EditError{Problem: "the parameters cell has other lines than " +
			`data_dir = "…" and question = "…": put your code into a cell after the set-up`}
	}
	if question != r.t.Part(0).Task.Question {
		return false, errQuestion
	}
	r.t.Task.Data, r.t.Task.Sources = data, nil
	r.t.Described, r.t.Descriptions = false, nil
	r.did("the data folder is now %s", data)
	for k := range r.t.Earlier {
		if _, is := r.edits[k]; !is {
			r.edits[k] = record.Change{What: r.what[len(r.what)-1:], Rest: r.t.Part(k).CellRounds()}
		}
	}
	return true, nil
}

var errQuestion = &record.EditError{Problem: "the question or its form was changed: undo it, and ask another one with --ask"}

// handMade returns the round for a cell that a person added. Its step is the cell's first comment.
func handMade(c notebook.Cell) record.Round {
	ran := notebook.Execution{Status: notebook.OK, Outputs: record.Recounted(c.Outputs, 0)}
	attempts := []record.Attempt{{Code: c.Source, Execution: ran}}
	return record.Round{Step: handStep(c.Source), Attempts: attempts, ByHand: true}
}

// handStep returns the comment at the start of the code.
func handStep(code string) string {
	for line := range strings.Lines(code) {
		line, comment := strings.CutPrefix(strings.TrimSpace(line), "#")
		if text := strings.TrimSpace(strings.TrimLeft(line, "#%")); text != "" {
			if comment {
				return text
			}
			break
		}
	}
	return "A cell written by hand."
}

var (
	stepHeading = lazy.Regexp(`^## Step \d+(: *|$)`)
	escapes     = lazy.Regexp(`\\(.)|</?span>`)
)

// stepText returns a step's text from its edited heading. It is the inverse of showStep.
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
