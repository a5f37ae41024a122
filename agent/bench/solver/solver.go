// Package solver contains the agents that benchmarks compare: dsstar itself and the methods that
// the papers measure it against. Each works as published, with its published defaults, over
// the same sessions, sandbox, model layer and limits. [All] lists them; [New] returns one.
//
// Each agent leaves a notebook in its run folder. Its code cells are what the agent ran, in
// order, with their outputs; its metadata names the agent. Two runs of a baseline that do the same
// leave the same notebook.
package solver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/bench/runner"
	"dsstar/agent/record"
)

// A Solver answers one task with the model, sessions and limits of cfg, and leaves its
// notebook in the run folder cfg.Dir, which has a folder files/. It may be used concurrently.
//
// dsstar uses all of cfg. The others use Model, Open, Prompts, Dir, Limits, Price,
// Stream, Sandbox, Warnings, MaxTokens, TopK and DescriptionChars; model-only also
// Context and ContextChars, and data-interpreter Review.
//
// The result is never nil, even with an error. Errors are those of [agent.Run]: a reached
// limit (*ask.BudgetError), a failed model or server, an unusable reply, a cancelled ctx.
// Using up all steps is no error.
type Solver interface {
	Solve(ctx context.Context, cfg agent.Config, task record.Task) (*Result, error)
}

// A Result is the outcome of a task: its record, not yet scored.
type Result struct {
	runner.Record
	Actions []Action // in order
}

// An Action is a step of a trajectory, as in DA-Code.
type Action struct {
	// "python", "bash", "sql", "terminate"; "": a reply without an action
	Kind        string
	Code        string
	Observation string // shown to the agent
}

// Options change an agent. The zero value is the method as published. Agents ignore options
// that do not concern them.
type Options struct {
	Steps       int  // maximum of turns; of tasks, for data-interpreter
	Memory      int  // turns that da-agent remembers
	Observation int  // maximum of an observation, in bytes
	Reasoning   bool // react uses the prompt for reasoning models
	Interpreter Interpreter
	Learn       string // the folder of what dsstar learns from task to task; "" for nothing
}

// A Named is an agent with its name, and with the published settings that only the caller can
// apply, when it opens the model and sessions.
type Named struct {
	Name        string
	Summary     string   // in one line, with the source
	Temperature *float64 // of the model; nil: none was published
	// minimum: shorter ones would override the agent's own limit of an action; 0: none
	CellTimeout time.Duration
	make        func(Options) Solver
}

// All returns all agents.
func All() []Named {
	greedy := 0.0 // DA-Code, section 5.1
	return []Named{
		{Name: "dsstar", Summary: "this program: DS-STAR in a live notebook",
			make: func(o Options) Solver { return dsstar{o.Learn} }},
		{Name: "model-only", Summary: "the model alone, with what fits of the files (DS-STAR, tables " +
			"1 and 2)",
			make: func(Options) Solver { return modelOnly{} }},
		{Name: "react", Summary: "thought, Python cell, observation, at most 10 steps (DABStep, " +
			"section 4.1)",
			make: func(o Options) Solver { return newReact(o) }},
		{Name: "da-agent", Summary: "Bash, Python, SQL, Terminate, at most 20 actions (DA-Code, " +
			"section 4)",
			Temperature: &greedy, CellTimeout: (actionSeconds + 10) * time.Second,
			make: func(o Options) Solver { return newDAAgent(o) }},
		{Name: "data-interpreter", Summary: "a graph of tasks, planned anew on failure, with tools " +
			"and checks (Data Interpreter, section 3)",
			make: func(o Options) Solver { return newInterpreter(o) }},
		{Name: "autogen", Summary: "an assistant that writes code and a proxy that runs it (AutoGen 0.2)",
			CellTimeout: (actionSeconds + 10) * time.Second,
			make:        func(o Options) Solver { return newAutoGen(o) }},
	}
}

// New returns the agent with that name.
func New(name string, options Options) (Solver, error) {
	var names []string
	for _, n := range All() {
		if n.Name == name {
			return n.make(options), nil
		}
		names = append(names, n.Name)
	}
	return nil, fmt.Errorf("there is no agent %q; there are %s", name, strings.Join(names, ", "))
}
