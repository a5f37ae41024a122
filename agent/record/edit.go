package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// An EditError is a change by hand that a run cannot go on from. The notebook is
// as the person left it.
type EditError struct{ Problem string }

func (e *EditError) Error() string { return e.Problem }

// reconcile holds what is there now against the record. A difference is a
// person's turn: it is appended as a round, with a round before it for each cell
// that the person has added.
func (r *reader) reconcile() error {
	t := r.t
	if t.Method.Script {
		return r.refuse()
	}
	was := t.CellRounds()
	now, what, err := r.present()
	if err != nil {
		return err
	}
	first := 0 // the first place that is not as it was
	for first < min(len(was), len(now)) && was[first] == now[first] && !r.changed[now[first]] {
		first++
	}
	for at, i := range was {
		if !slices.Contains(now, i) {
			what = append(what, fmt.Sprintf("step %d was removed", at+1))
		}
	}
	if !slices.Equal(inBoth(was, now), inBoth(now, was)) || len(what) == 0 && first < max(len(was), len(now)) {
		what, r.ordered = append(what, "the steps were put into another order"), true
	}
	moved, err := r.reopened()
	if err != nil {
		return err
	}
	if moved != "" {
		what, first = append(what, moved), 0
	}
	if r.fromStart {
		first = 0
	}
	for _, note := range r.notes {
		if !slices.Contains(t.Notes, note) {
			what = append(what, "a note was left: "+note)
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(t.Notes)), slices.Sorted(slices.Values(r.notes))) {
		t.Notes = r.notes // else they stay in the order in which they were left, wherever they are drawn
	}
	if left := len(inBoth(was, t.ToRepeat())); left > 0 {
		first = min(first, len(was)-left) // these are still to be run again
	}
	r.finish(what, now, first)
	return nil
}

// inBoth returns those of a that are in b.
func inBoth(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(i int) bool { return !slices.Contains(b, i) })
}

// present returns the rounds that have a cell in the last part now, those of
// added cells included, and what was done to them.
func (r *reader) present() (now []int, what []string, err error) {
	t := r.t
	r.changed = map[int]bool{}
	if what, err = r.earlierPresent(); err != nil {
		return nil, nil, err
	}
	for _, p := range r.now {
		i := p.round - 1
		switch {
		case p.part <= len(t.Earlier):
			continue
		case p.round == 0:
			i = len(t.Rounds)
			t.Rounds = append(t.Rounds, Round{Step: handStep(p.cell.Source), Attempts: []Attempt{attemptOf(p.cell)}, ByHand: true})
			what = append(what, fmt.Sprintf("a cell was added as step %d", len(now)+1))
		case p.changed:
			t.Rounds[i].ByHand, r.changed[i] = true, true
			what = append(what, fmt.Sprintf("the cell of step %d was changed", len(now)+1))
		}
		now = append(now, i)
	}
	for _, p := range r.words {
		i := p.round - 1
		at := slices.Index(now, i)
		if text := stepText(p.cell.Source); at >= 0 && text != "" && text != brief.OneLine(cmp.Or(t.Rounds[i].Rewrite, t.Rounds[i].Step)) {
			if t.Rounds[i].Rewrite = text; r.changed[i] {
				t.Rounds[i].Step, t.Rounds[i].Rewrite = text, "" // and its cell with them
			}
			r.changed[i] = true
			what = append(what, fmt.Sprintf("the words of step %d were changed", at+1))
		}
	}
	return now, what, nil
}

// earlierPresent tells what was done to the cells of earlier parts. They can be
// changed and removed; what comes after them is the last part's affair.
func (r *reader) earlierPresent() (what []string, err error) {
	t := r.t
	for k := range t.Earlier {
		var now []int
		changes := len(what)
		for _, p := range r.now {
			switch {
			case p.part != k+1:
				continue
			case p.round == 0:
				return nil, &EditError{fmt.Sprintf("a cell was added to question %d, which another has followed: add it to the last one", k+1)}
			case p.changed:
				t.Rounds[p.round-1].ByHand = true
				what = append(what, fmt.Sprintf("the cell of step %d of question %d was changed", len(now)+1, k+1))
			}
			now = append(now, p.round-1)
		}
		was := t.Part(k).CellRounds()
		if !slices.Equal(inBoth(was, now), now) {
			return nil, &EditError{fmt.Sprintf("the cells of question %d, which another has followed, were put into another order", k+1)}
		}
		for _, i := range was {
			if !slices.Contains(now, i) {
				_, t.Rounds[i].Attempts = lastAndRest(t.Rounds[i].Attempts)
			}
		}
		if n := len(was) - len(now); n > 0 {
			what = append(what, fmt.Sprintf("%s of question %d removed", brief.Count(n, "step"), k+1))
		}
		final := t.Earlier[k].Final
		f, there := r.finals[k+1]
		if _, drawn := t.Part(k).FinalCell(); drawn && !there {
			_, final.Attempts = lastAndRest(final.Attempts)
		}
		if f.changed {
			final.ByHand = true
			what = append(what, fmt.Sprintf("the last cell of question %d was changed", k+1))
		}
		if len(what) > changes {
			t.Earlier[k].Proof = nil
			r.fromStart = true
		}
	}
	return what, nil
}

// finish appends the person's turn, if there is one.
func (r *reader) finish(what []string, now []int, first int) {
	t := r.t
	f := t.Final
	final, there := r.finals[len(t.Earlier)+1]
	switch {
	case f == nil:
	case there && final.changed:
		f.ByHand = true
		what = append(what, "the last cell was changed")
	case !there && (f.Answer != "" || f.Again):
		*f = Final{Begun: f.Begun + 1}
		what = append(what, "the last cell was removed")
	}
	if len(what) == 0 {
		return
	}
	if f != nil {
		f.Again, f.Answer = there, ""
	}
	t.Rounds = append(t.Rounds, Round{Edit: &Edit{What: what, Plan: Numbers(now[:first]), Rest: Numbers(now[first:]), Ordered: r.ordered}})
	t.Proof, t.Ended, t.Failure = nil, false, ""
}

// Numbers is the inverse of indexes.
func Numbers(indexes []int) []int {
	all := []int{}
	for _, i := range indexes {
		all = append(all, i+1)
	}
	return all
}

// refuse is reconcile for a run in the paper's way.
func (r *reader) refuse() error {
	changed := slices.ContainsFunc(r.now, func(p present) bool { return p.round == 0 || p.changed }) || len(r.notes) > len(r.t.Notes)
	for _, p := range r.opening {
		changed = changed || p.changed
	}
	final, there := r.finals[1]
	if changed || final.changed || !there && r.t.Answer() != "" {
		return &EditError{"the notebook was edited, and a run in the paper's way has no cells to go on from, but whole scripts"}
	}
	return nil
}

var dataDir = lazy.Regexp(`^data_dir = (".*")\nquestion = (".*")$`)

// reopened looks at the cells before the first step. Only the data folder can be
// changed there; it says so.
func (r *reader) reopened() (what string, err error) {
	if len(r.opening) < 2 {
		return "", &EditError{"the parameters or the set-up cell is gone: undo that, or take it over from solution.py"}
	}
	for _, role := range []string{roleSetup, roleVariables} {
		if r.opening[role].changed {
			return "", &EditError{"the set-up was changed, whose cells are dsstar's own: undo it, and put your code into a cell after them"}
		}
	}
	p := r.opening[roleParameters]
	if !p.changed {
		return "", nil
	}
	m := dataDir().FindStringSubmatch(strings.TrimSpace(p.cell.Source))
	var data, question string
	if m == nil || json.Unmarshal([]byte(m[1]), &data) != nil || json.Unmarshal([]byte(m[2]), &question) != nil {
		return "", &EditError{`the parameters cell has other lines than data_dir = "…" and question = "…": put your code into a cell after the set-up`}
	}
	if question != r.t.Part(0).Task.Question {
		return "", &EditError{"the question was changed: undo it, and ask another one with --ask"}
	}
	r.t.Task.Data, r.t.Described, r.t.Descriptions = data, false, nil
	return "the data folder is now " + data, nil
}

// handStep is what a cell of a person's own is said to do: its first comment.
func handStep(code string) string {
	for line := range strings.Lines(code) {
		line = strings.TrimSpace(line)
		if text := strings.TrimSpace(strings.TrimLeft(line, "#%")); strings.HasPrefix(line, "#") && text != "" {
			return text
		}
		if line != "" {
			break
		}
	}
	return "A cell written by hand."
}

var unescape = strings.NewReplacer(plainBackslash, `\`, "\\`", "`", `\*`, `*`, `\_`, `_`, plainDollar, `$`, `\[`, `[`, `\]`, `]`,
	"&lt;", "<", "&gt;", ">", "&amp;", "&", `\~`, `~`, `\#`, `#`, `\|`, `|`)

var stepHeading = lazy.Regexp(`^## Step \d+(: *|$)`)

// stepText is the text of a step whose heading a person has changed: the inverse
// of showStep.
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
	return unescape.Replace(strings.Join(words, " "))
}

// attemptOf is a cell of a person's own as an attempt.
func attemptOf(c notebook.Cell) Attempt {
	outputs := recounted(c.Outputs, 0)
	return Attempt{Code: c.Source, Execution: notebook.Execution{Status: notebook.OK, Outputs: outputs}}
}
