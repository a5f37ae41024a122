package rerun

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/page"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/human"
)

// A step is a cell to run, with what is expected of it.
type step struct {
	cell     int    // position in the notebook; -1: it is of a round
	id       string // of that cell
	code     string
	attempt  int  // of the round, by its number in the notebook; 0: none
	mayRaise bool // the run goes on after an exception

	was *notebook.Execution // as recorded; nil: it did not run
	is  *notebook.Execution // nil: it did not run, or not yet
}

func recordedRun(c notebook.Cell) *notebook.Execution {
	if c.ExecutionCount == 0 && len(c.Outputs) == 0 {
		return nil
	}
	x := notebook.Execution{Status: notebook.OK, Count: c.ExecutionCount, Outputs: c.Outputs}
	if _, raised := x.Error(); raised {
		x.Status = notebook.Raised
	}
	return &x
}

// notebookSteps returns the cells of the notebook. Their outputs are removed from it, so that an
// unfinished one shows nothing of an earlier run.
func (r *rerun) notebookSteps() (steps []*step) {
	delete(r.nb.Metadata, "widgets") // states that end with their kernel
	for i := range r.nb.Cells {
		c := &r.nb.Cells[i]
		if c.Type != notebook.Code || slices.Contains(c.Tags(), "skip-execution") {
			continue
		}
		s := &step{cell: i, id: c.ID, code: c.Source, was: recordedRun(*c)}
		if other, ok := r.place.code[i]; ok {
			s.code = other
		}
		// A check goes on where the recorded run had an exception.
		s.mayRaise = r.AllowErrors || slices.Contains(c.Tags(), "raises-exception") ||
			r.Check && s.was != nil && s.was.Status == notebook.Raised
		if strings.TrimSpace(c.Source) != "" {
			steps = append(steps, s)
		}
		c.Outputs, c.ExecutionCount = nil, 0
		delete(c.Metadata, "execution") // times of an earlier run
	}
	return steps
}

// roundSteps returns the attempts of a round, and sets the cells before them.
func (r *rerun) roundSteps() (steps []*step, err error) {
	n := r.Round
	t, err := page.Read(r.nb)
	if err != nil {
		return nil, usage.New("--round: "+err.Error(), usage.Without("round"))
	}
	t.Task.Data = cmp.Or(r.place.data, t.Task.Data)
	if rounds := t.RoundsTaken(); n < 1 || n > rounds {
		last := usage.Again("--round", strconv.Itoa(rounds))
		if rounds == 0 {
			last = usage.Without("round")
		}
		return nil, usage.New(fmt.Sprintf("--round: the run has only %s, not %d",
			human.Plural(rounds, "round"), n), last)
	}
	round, base, ok := t.At(n)
	for i, a := range round.Attempts {
		if !a.NotRun() {
			steps = append(steps, &step{cell: -1, code: a.Code, attempt: i + 1, mayRaise: true,
				was: &a.Execution})
		}
	}
	if !ok || len(steps) == 0 {
		return nil, usage.New(fmt.Sprintf("--round: no cell ran in round %d", n),
			usage.Again("--check").But("round"))
	}
	r.base, r.result.Round, r.result.Step = base, n, round.Step
	return steps, nil
}

// Tolerance is the default. It covers differences in the last digits of floats between processors
// and libraries, and in where iterations stop. A relevant change is larger.
const Tolerance = 1e-9

// A verdict is the result of checking a cell.
type verdict string

const (
	same    verdict = "same"
	differs verdict = "differs"
	failed  verdict = "error"   // it fails now and did not before
	notRun  verdict = "not run" // now or in the record: there is nothing to compare
)

// A checkedCell is one cell of a check, or an attempt of a round, as --json shows it.
type checkedCell struct {
	Index       int                  `json:"index"` // -1: it is of a round
	ID          string               `json:"id"`
	Round       int                  `json:"round"` // of a run of dsstar; 0: none
	Attempt     int                  `json:"attempt,omitempty"`
	Verdict     verdict              `json:"verdict"`
	Reason      string               `json:"reason"` // of error and not run
	Differences []compare.Difference `json:"differences"`
	Text        string               `json:"text,omitempty"` // of an attempt's outputs

	label, title string
}

// check compares a cell with the record.
func (r *rerun) check(s *step) checkedCell {
	c := checkedCell{Index: s.cell, ID: s.id, Attempt: s.attempt, Differences: []compare.Difference{},
		label: fmt.Sprintf("cell %d", s.cell+1), title: firstLine(s.code)}
	if s.attempt > 0 {
		c.Round, c.label = r.Round, fmt.Sprintf("try %d", s.attempt)
	} else if c.Round = page.MetaOf(r.nb.Cells[s.cell]).Round; c.Round > 0 {
		c.title = fmt.Sprintf("round %d: %s", c.Round, c.title)
	}
	if s.is != nil && s.attempt > 0 {
		c.Text, c.title = s.is.PlainText(), ended(*s.is)
	}
	c.Verdict, c.Reason = r.verdict(s, &c.Differences)
	return c
}

// verdict judges a cell, and adds how its outputs differ. Those of a cell that was stopped depend
// on timing.
func (r *rerun) verdict(s *step, found *[]compare.Difference) (v verdict, reason string) {
	switch {
	case s.is == nil:
		return notRun, "the run had ended before it"
	case s.was == nil && outcome(*s.is) == notebook.OK:
		return notRun, "the notebook has no outputs of it"
	case s.was == nil:
		return failed, problem(*s.is)
	}
	is, was := outcome(*s.is), outcome(*s.was)
	switch {
	case is != was && is != notebook.OK && s.attempt == 0:
		return failed, problem(*s.is)
	case is != was:
		return differs, "in the record it " + ended(*s.was)
	case is == notebook.OK || is == notebook.Raised:
		*found = append(*found, compare.Outputs(s.was.Outputs, s.is.Outputs, r.Tolerance)...)
	}
	if len(*found) > 0 {
		return differs, ""
	}
	return same, ""
}

// outcome is how a cell ended. One that ran but was rejected counts as OK.
func outcome(x notebook.Execution) notebook.Status {
	if _, raised := x.Error(); x.Status == notebook.Raised && !raised && x.Reason != "" {
		return notebook.OK
	}
	return x.Status
}

func ended(x notebook.Execution) string {
	if outcome(x) == notebook.OK {
		return "ran"
	}
	return problem(x)
}

// sameAnswer compares the answer to a question with the recorded one.
type sameAnswer struct {
	Question string `json:"question"`
	Same     bool   `json:"same"`
	Was      string `json:"was"`
	Is       string `json:"is"` // "": there is none

	part int // the number of the question, from 1
}

// findAnswers compares the answers with the recorded ones.
func (r *rerun) findAnswers() (all []sameAnswer) {
	printed := func(text string) []notebook.Output {
		return []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: text}}
	}
	for _, s := range r.steps {
		record := page.MetaOf(r.nb.Cells[s.cell])
		record.Part = max(1, record.Part)
		if !r.place.own || record.Role != "final" || s.was == nil || strings.TrimSpace(s.was.Stdout()) == "" {
			continue
		}
		now := notebook.Execution{Outputs: r.nb.Cells[s.cell].Outputs}
		is := sameAnswer{Was: strings.TrimSpace(s.was.Stdout()), Is: strings.TrimSpace(now.Stdout()),
			part: record.Part}
		if questions := r.place.run.Questions; record.Part <= len(questions) {
			is.Question = questions[record.Part-1].Text
		}
		is.Same = len(compare.Outputs(printed(is.Was), printed(is.Is), r.Tolerance)) == 0
		all = append(all, is)
	}
	return all
}

// injected is papermill's tag for the cell that overrides the parameters.
const injected = "injected-parameters"

// A parameter is a variable with its value, as a Python expression.
type parameter struct{ name, value string }

var (
	assignment = regexp.MustCompile(`^\s*([\p{L}_][\p{L}\p{N}_]*)\s*=(?s:(.*))$`)
	number     = regexp.MustCompile(`^([+-]?)(?:0*(\d+)|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)$`)
	words      = map[string]string{"True": "True", "true": "True", "False": "False", "false": "False",
		"None": "None", "null": "None", "nan": `float("nan")`}
)

// parametersOf reads parameters as --parameters has them.
func parametersOf(flags []string) (all []parameter, err error) {
	for _, flag := range flags {
		part := assignment.FindStringSubmatch(flag)
		if part == nil {
			return nil, usage.New(fmt.Sprintf("--parameters: %q is not name=value", flag),
				usage.Again("--parameters", "year=2024"))
		}
		all = append(all, parameter{part[1], inPython(part[2])})
	}
	return all, nil
}

// inPython returns a value as papermill reads it: a truth value, None, a number, or else text.
// Unlike there, quotes around it make it text.
func inPython(value string) string {
	word := strings.TrimSpace(value)
	if python, ok := words[word]; ok {
		return python
	}
	if number.MatchString(word) {
		return number.ReplaceAllString(word, "$1$2$3$4") // Python has no 007
	}
	if text, ok := pythonString(word); ok {
		return brief.Python(text)
	}
	return brief.Python(value)
}

// inject has the cell with the tag for it set variables. A new cell goes directly after the cell
// with the tag parameters, or before the first cell with code if none has that tag.
func inject(set []parameter, nb *notebook.Notebook) {
	if len(set) == 0 {
		return
	}
	at := codeCell(nb, injected)
	if at < 0 {
		if at = codeCell(nb, "parameters") + 1; at == 0 {
			at = max(0, codeCell(nb, ""))
		}
		id := injected
		for slices.ContainsFunc(nb.Cells, func(c notebook.Cell) bool { return c.ID == id }) {
			id += "-1"
		}
		cell := notebook.Cell{ID: id, Type: notebook.Code, Source: "# Parameters\n",
			Metadata: map[string]any{"tags": []any{injected}}}
		nb.Cells = slices.Insert(nb.Cells, at, cell)
	}
	for _, v := range set {
		nb.Cells[at].Source = assign(nb.Cells[at].Source, v)
	}
}

// codeCell returns the position of the first cell with code that has a tag, or of the first of all
// without one; -1 if there is none.
func codeCell(nb *notebook.Notebook, tag string) int {
	return slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool {
		return c.Type == notebook.Code && (tag == "" || slices.Contains(c.Tags(), tag))
	})
}

// assign returns a source that gives a variable a value: in place of the first line that sets it,
// or at the end.
func assign(source string, v parameter) string {
	line := v.name + " = " + v.value
	at := regexp.MustCompile(`(?m)^` + v.name + `[ \t]*=(?:[^=\n].*)?$`).FindStringIndex(source)
	if at == nil {
		return strings.TrimRight(source, "\n") + "\n" + line + "\n"
	}
	return source[:at[0]] + line + source[at[1]:]
}
