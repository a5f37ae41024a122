package solver

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"dsstar/agent"
	"dsstar/agent/bench/runner"
	"dsstar/agent/memory"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// dsstar is this program's own loop, configured by cfg.
type dsstar struct{ learn string }

// saveEvery is the minimum time between saves of the notebook while files are described.
const saveEvery = 500 * time.Millisecond

func (d dsstar) Solve(ctx context.Context, cfg agent.Config, task record.Task) (runner.Record, error) {
	folder := record.Folder(cfg.Dir)
	var saved time.Time
	cfg.Observe = func(e agent.Event, t *record.Trajectory) error {
		if e.Kind == agent.Described && time.Since(saved) < saveEvery {
			return nil
		}
		saved = time.Now()
		nb := page.Draw(t)
		cfg.Key.Seal(nb)
		if err := nb.Save(folder.Notebook()); err != nil {
			return err
		}
		return disk.WriteFile(folder.Script(), []byte(t.Script()))
	}
	known, err := d.recall(ctx, &cfg, task)
	if err != nil {
		return runner.Record{}, err
	}
	t, err := agent.Run(ctx, cfg, task)
	if err == nil {
		err = d.keep(known, t, folder)
	}
	return resultOf(t, err == nil), err
}

// recall reads what earlier tasks have taught about the data of this one.
func (d dsstar) recall(ctx context.Context, cfg *agent.Config, task record.Task) (*memory.Memory, error) {
	if d.learn == "" {
		return nil, nil
	}
	known, err := memory.Read(ctx, filepath.Join(d.learn, record.Digest(task.Data)))
	if err != nil {
		return nil, err
	}
	cfg.Learn, cfg.Recalled = true, agent.RecallFor(known, task.Question)
	return known, nil
}

// keep adds what a verified answer teaches, and the question as an example for others.
func (d dsstar) keep(known *memory.Memory, t *record.Trajectory, folder record.Folder) error {
	if known == nil || !t.Verified() {
		return nil
	}
	if t.Learned != nil {
		known.Learn(t.Learned.Facts, t.Learned.Imports, t.Learned.Tools)
	}
	err := known.AddQuestion(memory.Question{Question: t.Task.Question, Guidelines: t.Task.Guidelines,
		Answer: t.Answer(), Verified: true, Notebook: folder.Notebook(), Asked: t.Started.UTC()})
	return cmp.Or(err, known.Save())
}

// resultOf summarizes a trajectory for a benchmark. A run is finished if its plan was judged
// sufficient within the rounds, and an answer was printed.
func resultOf(t *record.Trajectory, ended bool) runner.Record {
	r := runner.Record{
		Answer: t.Answer(), Finished: ended && t.Sufficient() && t.Answer() != "",
		Verified: ended && t.Verified(), Rounds: len(t.Rounds),
		Usage: t.Usage, ByRole: t.ByRole, Cost: t.Cost, Seconds: t.Seconds,
		Derivations: t.Derivations(),
	}
	for _, d := range t.Descriptions {
		if d.Like == "" && !d.Cached {
			r.Executions += d.Tries
			r.Failed += len(d.Failed)
			r.DebugTries += max(0, d.Tries-1)
		}
	}
	for _, round := range t.Rounds {
		if round.Verdict != nil {
			r.Verdicts = append(r.Verdicts, round.Verdict.Word())
		}
		if route := round.Route; route != nil && route.Back > 0 {
			r.Routes = append(r.Routes, fmt.Sprintf("step %d", route.Back))
		} else if route != nil {
			r.Routes = append(r.Routes, "add step")
		}
		tried(&r, round.Attempts)
	}
	if t.Final != nil {
		tried(&r, t.Final.Attempts)
	}
	return r
}

// tried counts the attempts at one cell.
func tried(r *runner.Record, attempts []record.Attempt) {
	for i, a := range attempts {
		r.Executions++
		if a.Execution.Status != notebook.OK {
			r.Failed++
		}
		if i > 0 && attempts[i-1].Execution.Status != notebook.OK {
			r.DebugTries++
		}
	}
}
