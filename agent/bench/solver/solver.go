// Package solver contains the agents that benchmarks compare: dsstar itself and the methods that
// the papers measure it against. Each works as published, with its published defaults, over
// the same sessions, sandbox, model layer and limits. [All] lists them. dsstar uses all of its
// configuration. The others use Model, Open, Prompts, Dir, Limits, Price, Stream, Sandbox, MaxTokens,
// TopK and DescriptionChars; model-only also Context and ContextChars.
//
// Each agent leaves a notebook in its run folder. Its code cells are what the agent ran, in
// order, with their outputs; its metadata names the agent. Two runs of a baseline that do the same
// leave the same notebook.
package solver

import (
	"slices"
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

// A Named is an agent with its name, and with the published settings that only the caller can
// apply, when it opens the model and sessions.
type Named struct {
	Name        string
	New         func(Options) runner.Solver
	Temperature *float64 // of the model; nil: none was published
	// minimum: shorter ones would override the agent's own limit of an action; 0: none
	CellTimeout time.Duration
}

// All returns all agents, with their published limits: docs/agents.md describes them.
func All() []Named {
	const longest = (actionSeconds + 10) * time.Second
	return []Named{
		{Name: "dsstar", New: func(o Options) runner.Solver { return dsstar{o.Learn} }},
		{Name: "model-only", New: job{agent: "model-only", work: modelOnly}.with},
		{Name: "react", New: job{agent: "react", steps: 10, most: 20_000, code: true, setup: finalAnswer,
			work: react}.with},
		{Name: "da-agent", New: job{agent: "da-agent", steps: 20, memory: 15, most: 3000, code: true,
			setup: actions, work: daAgent}.with, Temperature: new(0.0), CellTimeout: longest}, // section 5.1
		{Name: "data-interpreter", New: job{agent: "data-interpreter", steps: 20, most: 5000, code: true,
			work: interpreter}.with},
		{Name: "autogen", New: job{agent: "autogen", steps: 100, most: 20_000, code: true, setup: actions,
			work: autoGen}.with, CellTimeout: longest},
	}
}

// Find returns the agent with that name.
func Find(name string) (n Named, ok bool) {
	i := slices.IndexFunc(All(), func(n Named) bool { return n.Name == name })
	if i < 0 {
		return Named{}, false
	}
	return All()[i], true
}
