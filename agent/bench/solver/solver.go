// Package solver contains the agents that benchmarks compare: dsstar itself and the methods that
// the papers measure it against. Each works as published, with its published defaults, over the
// same sessions, sandbox, model layer and limits. [All] lists them. dsstar uses all of its
// configuration. The others use Model, Open, Dir, Limits, Price, Stream, Sandbox, MaxTokens, TopK
// and DescriptionChars; model-only also Context and ContextChars.
//
// Each agent leaves a notebook in its run folder. Its code cells are what the agent ran, in
// order, with their outputs; its metadata names the agent. Two runs of a baseline that do the same
// leave the same notebook.
package solver

import (
	"cmp"
	"context"
	_ "embed"
	"time"

	"dsstar/agent/bench/runner"
)

// Options change an agent. The zero value is the method as published. Agents ignore options
// that do not concern them.
type Options struct {
	Steps     int    `json:"steps,omitempty"`     // maximum of turns; of tasks, for data-interpreter
	Memory    int    `json:"memory,omitempty"`    // turns that da-agent remembers
	Reasoning bool   `json:"reasoning,omitempty"` // react uses the prompt for reasoning models
	NoTools   bool   `json:"no_tools,omitempty"`  // of data-interpreter (ablation: table 3)
	Pool      string `json:"pool,omitempty"`      // file of data-interpreter's experiences; "": none
	Learn     string `json:"-"`                   // folder of what dsstar learns; "": nothing
}

// An Agent has a name, its published limits, and the published settings that only the caller can
// apply, when it opens the model and sessions.
type Agent struct {
	Name        string
	Temperature *float64 // of the model; nil: none was published
	// minimum: shorter ones would override the agent's own limit of an action; 0: none
	CellTimeout time.Duration

	steps  int    // unless options say otherwise
	memory int    // like steps
	most   int    // maximum of an observation, in bytes; 0: the agent runs no code
	setup  string // the first cell; "": none
	work   func(context.Context, *desk) (answer string, finished bool, err error)
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
		{Name: "da-agent", steps: 20, memory: 15, most: 3000, setup: actions, work: daAgent,
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

// New returns the agent with these options.
func (a Agent) New(o Options) runner.Solver {
	if a.work == nil {
		return dsstar{o.Learn}
	}
	o.Steps, o.Memory = cmp.Or(o.Steps, a.steps), cmp.Or(o.Memory, a.memory)
	return baseline{a, o}
}
