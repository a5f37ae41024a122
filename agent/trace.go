package agent

import (
	"context"
	"errors"
	"os"
	"time"

	"dsstar/agent/journal"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// tracePatience is the time limit of the program that follows values through cells.
const tracePatience = time.Minute

// trace returns what a program finds in the code of a cell that gives an answer; nothing if it
// cannot be run, or if there are no data that an answer must rest on.
func (r *run) trace(ctx context.Context, q lineage.Query) (lineage.Found, error) {
	if r.t.Task.Data == "" && len(r.t.Variables) == 0 {
		return lineage.Found{}, nil
	}
	q.Question, q.Cells = r.t.Task.Question, withoutSetUp(q.Cells)
	said, err := journal.Once(ctx, r.t.Journal, "trace", q, func(ctx context.Context) (string, error) {
		defer r.kernel.Start()()
		x, err := runAlone(ctx, r.cfg.RunScript, lineage.Script(q), tracePatience)
		if err == nil && x.Status != notebook.OK {
			err = errors.New("the program that follows values did not end")
		}
		return x.Stdout(), err
	})
	if err != nil {
		return lineage.Found{}, ctx.Err()
	}
	return lineage.Parse(said), nil
}

// traceLast records what a program finds in the last cell, with the cells before it. The problem is
// for whoever writes the cell anew. A person may type in what they know.
func (r *run) traceLast(ctx context.Context, cells []string, code string) (problem string, err error) {
	found, err := r.trace(ctx, lineage.Query{Kind: lineage.Last, Cells: cells, Code: code})
	r.t.Final.Doubts = found.Doubts
	if err != nil || found.Problem == "" || r.t.Mine(1) > 0 {
		return "", err
	}
	r.t.Final.Doubts = append([]string{found.Problem}, found.Doubts...)
	return found.Problem, nil
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
	if err := os.WriteFile(record.Folder(dir).Script(), []byte(script), 0o600); err != nil {
		return x, err
	}
	return run(ctx, dir, limit)
}
