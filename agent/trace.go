package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	"dsstar/agent/journal"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// tracePatience is the time limit of a program that reads cells.
const tracePatience = time.Minute

// trace returns what a program finds in the code of a cell that gives an answer; nothing if it
// cannot be run, or if there are no data that an answer must rest on.
func (r *run) trace(ctx context.Context, q lineage.Query) (lineage.Found, error) {
	if r.t.Task.Data == "" && len(r.t.Variables) == 0 {
		return lineage.Found{}, nil
	}
	q.Question, q.Cells = r.t.Task.Question, withoutSetUp(q.Cells)
	said, err := r.read(ctx, "origin", q, lineage.Script(q))
	return lineage.Parse(said), err
}

// read returns what a program prints that reads the code of cells; "" if it cannot be run.
func (r *run) read(ctx context.Context, kind string, on any, script string) (string, error) {
	said, err := journal.Once(ctx, r.t.Journal, kind, on, func(ctx context.Context) (string, error) {
		defer r.kernel.Start()()
		x, err := runAlone(ctx, r.cfg.RunScript, script, tracePatience)
		if err == nil && x.Status != notebook.OK {
			err = errors.New("the program that reads cells did not end")
		}
		return x.Stdout(), err
	})
	if err != nil {
		return "", ctx.Err()
	}
	return said, nil
}

// apartFrom returns the earlier questions on which the cells do not build, as far as their code tells.
func (r *run) apartFrom(ctx context.Context) (apart []int, err error) {
	var earlier [][]string
	for k := range r.t.Earlier() {
		earlier = append(earlier, r.t.Part(k).OwnCells())
	}
	if len(earlier) == 0 {
		return nil, nil
	}
	cells := r.t.OwnCells()
	said, err := r.read(ctx, "apart", []any{earlier, cells}, lineage.Apart(earlier, cells))
	var lists [][]int
	if json.Unmarshal([]byte(said), &lists) == nil && len(lists) == 1 {
		apart = lists[0]
	}
	return apart, err
}

// withoutSetUp returns cells without those that set the session up. The program that follows values
// would take their names for data.
func withoutSetUp(cells []string) []string { return cells[min(2, len(cells)):] }

// runAlone runs a script in an empty temporary folder.
func runAlone(ctx context.Context, run RunScript, script string,
	limit time.Duration) (x notebook.Execution, err error) {
	dir, err := disk.TempFolder("", "dsstar-proof-")
	if err != nil {
		return x, err
	}
	defer func() { _ = disk.RemoveTemp(dir) }() // the next start removes what stays
	return runIn(ctx, run, dir, script, limit)
}

// runIn runs a script in a folder.
func runIn(ctx context.Context, run RunScript, dir, script string,
	limit time.Duration) (notebook.Execution, error) {
	if err := os.WriteFile(record.Folder(dir).Script(), []byte(script), 0o600); err != nil {
		return notebook.Execution{}, err
	}
	return run(ctx, dir, limit)
}

// lastWords returns what a failed script said last.
func lastWords(x notebook.Execution) string {
	lines := strings.Split(strings.TrimSpace(x.Stream("stderr")), "\n")
	return cmp.Or(lines[len(lines)-1], x.Reason)
}
