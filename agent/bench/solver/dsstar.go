package solver

import (
	"dsstar/agent"
	"dsstar/agent/bench/runner"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// saving returns what saves notebook and script after each event.
func saving(cfg agent.Config) func(agent.Event, *record.Trajectory) error {
	folder := record.Folder(cfg.Dir)
	return func(e agent.Event, t *record.Trajectory) error {
		if e.Kind == agent.Described {
			return nil // there are many, and other events follow
		}
		nb := page.Draw(t)
		cfg.Key.Seal(nb)
		if err := nb.Save(folder.Notebook()); err != nil || t.Method.Agent != "" {
			return err
		}
		return disk.WriteFile(folder.Script(), []byte(t.Script()))
	}
}

// resultOf summarizes a trajectory for a benchmark. A run is finished if its plan was judged
// sufficient within the rounds, and an answer was printed.
func resultOf(t *record.Trajectory, ended bool) runner.Record {
	r := runner.Record{
		Answer: t.Answer(), Finished: ended && t.Sufficient() && t.Answer() != "",
		Verified: ended && t.Verified(), Rounds: t.RoundsTaken(),
		Usage: t.Usage, ByRole: t.ByRole, Cost: t.Cost, Seconds: t.Seconds,
		Derivations: t.Derivations(),
	}
	for _, d := range t.Descriptions {
		r.DebugTries += max(0, d.Tries-1)
	}
	for _, round := range t.Rounds {
		r.DebugTries += max(0, len(round.Attempts)-1)
	}
	if t.Final != nil {
		r.DebugTries += max(0, len(t.Final.Attempts)-1)
	}
	return r
}
