// Package solver contains the agents that benchmarks compare: dsstar itself and the methods that
// the papers measure it against. Each works as published, with its published defaults, over the
// same requests, sessions, journal and limits: see [agent.Baseline]. [All] lists them.
package solver

import (
	"cmp"
	"context"
	_ "embed"
	"time"

	"dsstar/agent"
	"dsstar/agent/bench/runner"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// Options change an agent. The zero value is the method as published. Agents ignore options
// that do not concern them.
type Options struct {
	Steps     int  // maximum of turns; of tasks, for data-interpreter
	Reasoning bool // react uses the prompt for reasoning models
}

// An Agent has a name, its published limits, and the published settings that only the caller can
// apply, when it opens the model and sessions.
type Agent struct {
	Name        string
	Temperature *float64 // of the model; nil: none was published
	// minimum: shorter ones would override the agent's own limit of an action; 0: none
	CellTimeout time.Duration

	steps int    // unless options say otherwise
	most  int    // maximum of an observation, in bytes; 0: the agent runs no code
	setup string // the first cell; "": none
	work  func(context.Context, *desk) (answer string, finished bool, err error)
}

// Cells that define what agents have besides plain Python.
var (
	//go:embed actions.py
	actions string // bash(), python() and sql()
	//go:embed final_answer.py
	finalAnswer string
)

// All returns all agents: docs/agents.md describes them.
func All() []Agent {
	const longest = (actionSeconds + 10) * time.Second
	return []Agent{
		{Name: "dsstar"},
		{Name: "model-only", work: modelOnly},
		{Name: "react", steps: 10, most: 20_000, setup: finalAnswer, work: react},
		{Name: "da-agent", steps: 20, most: 3000, setup: actions, work: daAgent,
			Temperature: new(0.0), CellTimeout: longest}, // section 5.1
		{Name: "data-interpreter", steps: 20, most: 5000, work: interpreter},
		{Name: "autogen", steps: 100, most: 20_000, setup: actions, work: autoGen, CellTimeout: longest},
	}
}

// Find returns the agent with that name.
func Find(name string) (a Agent, ok bool) {
	for _, a := range All() {
		if a.Name == name {
			return a, true
		}
	}
	return a, false
}

// New returns what has the agent answer tasks with these options.
func (a Agent) New(o Options) runner.Solver {
	o.Steps = cmp.Or(o.Steps, a.steps)
	return func(ctx context.Context, cfg agent.Config, task record.Task) (runner.Record, error) {
		cfg.Observe = saving(cfg)
		if a.work == nil {
			t, err := agent.Run(ctx, cfg, task)
			return resultOf(t, err == nil), err
		}
		return (&desk{agent: a, options: o, cfg: cfg, task: task}).solve(ctx)
	}
}

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
