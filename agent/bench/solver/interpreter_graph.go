package solver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/reply"
	"dsstar/prompts"
)

// A node is a task of the graph (Data Interpreter, appendix A.1.1).
type node struct {
	ID          nodeID   `json:"task_id"`
	Depends     []nodeID `json:"dependent_task_ids"`
	Instruction string   `json:"instruction"`
	Status      string   `json:"status,omitempty"` // set for the model: "done" or "to do"

	tools  []Tool // that its code may call
	done   bool
	code   string // the code that ran last
	result string
}

// A nodeID is a string or a number.
type nodeID string

func (id *nodeID) UnmarshalJSON(raw []byte) error {
	*id = nodeID(strings.Trim(string(raw), `"`))
	return nil
}

// A graph is the tasks of a plan in topological order.
type graph []*node

// next returns the first task that is not done, or nil.
func (g graph) next() *node {
	for _, n := range g {
		if !n.done {
			return n
		}
	}
	return nil
}

// finished returns the tasks that are done.
func (g graph) finished() (done []prompts.Node) {
	for _, n := range g {
		if n.done {
			done = append(done, prompts.Node{ID: string(n.ID), Instruction: n.Instruction, Code: n.code,
				Result: n.result})
		}
	}
	return done
}

// json returns the graph as the model writes it, with the status of each task.
func (g graph) json() string {
	all := []node{}
	for _, n := range g {
		shown := *n
		shown.Depends = append([]nodeID{}, n.Depends...) // [], not null
		if shown.Status = "to do"; n.done {
			shown.Status = "done"
		}
		all = append(all, shown)
	}
	data, _ := json.MarshalIndent(all, "", "  ") // texts cannot fail
	return string(data)
}

var plans = reply.Format[graph]{Parse: parseGraph,
	Rule: "Reply with one ```json code block that holds the list of all tasks of the plan, and nothing else."}

// parseGraph reads a plan: a list of tasks, in a code block or alone. It puts them in topological
// order, and otherwise keeps theirs.
func parseGraph(text string) (order graph, err error) {
	var left []node
	if err := json.Unmarshal([]byte(jsonOf(text)), &left); err != nil {
		return nil, errors.New("it is no list of tasks in JSON")
	}
	if len(left) == 0 {
		return nil, errors.New("it has no tasks")
	}
	placed := map[nodeID]bool{}
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(n node) bool {
			return !slices.ContainsFunc(n.Depends, func(id nodeID) bool { return !placed[id] })
		})
		if i < 0 {
			return nil, fmt.Errorf("task %s depends on itself, or on what is no task", left[0].ID)
		}
		n := left[i]
		n.Instruction, n.Status = strings.TrimSpace(n.Instruction), ""
		switch {
		case n.ID == "" || n.Instruction == "":
			return nil, errors.New("a task of it has no task_id or no instruction")
		case placed[n.ID]:
			return nil, fmt.Errorf("it has the task_id %s twice", n.ID)
		}
		order, placed[n.ID] = append(order, &n), true
		left = slices.Delete(left, i, i+1)
	}
	return order, nil
}

// merged returns plan. Its tasks before the fork, where it first differs from the graph, keep
// their code and results (prefix matching, section 3.1.2).
func (g graph) merged(plan graph) graph {
	for i := 0; i < min(len(g), len(plan)) && g[i].ID == plan[i].ID &&
		g[i].Instruction == plan[i].Instruction; i++ {
		if g[i].done {
			plan[i] = g[i]
		}
	}
	return plan
}

// jsonOf returns the JSON of a reply: its code block, or its text from the first to the last
// bracket.
func jsonOf(text string) string {
	for _, b := range reply.Blocks(text) {
		if b.Language == "json" || b.Language == "" {
			return b.Code
		}
	}
	begin, end := strings.IndexAny(text, "[{"), strings.LastIndexAny(text, "]}")
	if begin >= 0 && begin < end {
		return text[begin : end+1]
	}
	return text
}

// planAgain changes the plan from a task that failed on.
func (q *inquiry) planAgain(ctx context.Context, n *node) error {
	if n.done {
		return nil
	}
	return q.plan(ctx, n)
}

// plan asks for a plan or, after a task that failed, for the rest of it.
func (q *inquiry) plan(ctx context.Context, after *node) error {
	asks := prompts.InterpreterPlan{Most: tasksOfPlan}
	if after != nil {
		asks = prompts.InterpreterPlan{Plan: q.graph.json(), Task: string(after.ID), Code: after.code,
			Result: after.result}
	}
	q.plans++
	plan, err := asked(ctx, q.desk, "planner", fmt.Sprintf("plan %d", q.plans), plans, asks)
	if err != nil {
		return err
	}
	q.graph = q.graph.merged(plan)
	var lines []string
	for _, n := range q.graph {
		line := fmt.Sprintf("%s: %s", n.ID, n.Instruction)
		if len(n.Depends) > 0 {
			line += fmt.Sprintf(" (after %s)", strings.Trim(fmt.Sprint(n.Depends), "[]"))
		}
		if n.done {
			line += " ✔"
		}
		lines = append(lines, line)
	}
	return q.note(fmt.Sprintf("Plan %d", q.plans), strings.Join(lines, "\n"), "")
}
