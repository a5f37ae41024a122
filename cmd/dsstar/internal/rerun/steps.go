package rerun

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/page"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
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

// recordedRun returns the recorded execution of a cell, or nil.
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

// cellRecord is dsstar's metadata of a cell.
type cellRecord struct {
	Role  string
	Round int
	Part  int // the number of the question, from 1
}

func recordOf(c notebook.Cell) (r cellRecord) {
	data, _ := json.Marshal(c.Metadata["dsstar"])
	_ = json.Unmarshal(data, &r) // what is not read is not there
	r.Part = max(1, r.Part)
	return r
}
