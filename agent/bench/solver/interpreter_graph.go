package solver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// A node is a task of the graph (Data Interpreter, appendix A.1.1).
type node struct {
	ID          string   `json:"task_id"`
	Depends     []string `json:"dependent_task_ids"`
	Instruction string   `json:"instruction"`

	done   bool
	code   string // the code that ran last
	result string
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
			done = append(done, prompts.Node{ID: n.ID, Instruction: n.Instruction, Code: n.code,
				Result: n.result})
		}
	}
	return done
}

// json returns the graph as the model writes it, with the status of each task.
func (g graph) json() string {
	type status struct {
		node
		Status string `json:"status"`
	}
	all := make([]status, len(g))
	for i, n := range g {
		if all[i] = (status{*n, "to do"}); n.done {
			all[i].Status = "done"
		}
	}
	data, _ := json.MarshalIndent(all, "", "  ") // texts cannot fail
	return string(data)
}

// parseGraph reads a plan: a list of tasks, in a code block or alone.
func parseGraph(text string) (graph, error) {
	var all graph
	if err := json.Unmarshal([]byte(jsonOf(text)), &all); err != nil {
		return nil, errors.New("it is no list of tasks in JSON")
	}
	byID := map[string]*node{}
	for _, n := range all {
		switch {
		case n == nil || n.ID == "" || strings.TrimSpace(n.Instruction) == "":
			return nil, errors.New("a task of it has no task_id or no instruction")
		case byID[n.ID] != nil:
			return nil, fmt.Errorf("it has the task_id %s twice", n.ID)
		}
		n.Instruction = strings.TrimSpace(n.Instruction)
		byID[n.ID] = n
	}
	if len(all) == 0 {
		return nil, errors.New("it has no tasks")
	}
	return all.sorted(byID)
}

// UnmarshalJSON also accepts numbers as ids.
func (n *node) UnmarshalJSON(data []byte) error {
	var raw struct {
		ID          any    `json:"task_id"`
		Depends     []any  `json:"dependent_task_ids"`
		Instruction string `json:"instruction"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*n = node{Instruction: raw.Instruction, Depends: []string{}}
	if raw.ID != nil {
		n.ID = fmt.Sprint(raw.ID)
	}
	for _, id := range raw.Depends {
		n.Depends = append(n.Depends, fmt.Sprint(id))
	}
	return nil
}

// sorted returns the tasks in topological order, and otherwise keeps their order.
func (g graph) sorted(byID map[string]*node) (graph, error) {
	var order graph
	state := map[*node]int{} // 1: being visited, 2: in order
	var visit func(n *node) error
	visit = func(n *node) error {
		switch state[n] {
		case 1:
			return fmt.Errorf("task %s depends on itself", n.ID)
		case 2:
			return nil
		}
		state[n] = 1
		for _, id := range n.Depends {
			before := byID[id]
			if before == nil {
				return fmt.Errorf("task %s depends on %s, which is no task", n.ID, id)
			}
			if err := visit(before); err != nil {
				return err
			}
		}
		state[n] = 2
		order = append(order, n)
		return nil
	}
	for _, n := range g {
		if err := visit(n); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// merged returns plan. Its tasks before the fork, where it first differs from the graph, keep
// their code and results (prefix matching, section 3.1.2).
func (g graph) merged(plan graph) graph {
	all := slices.Clone(plan)
	for i := 0; i < min(len(g), len(plan)) && g[i].ID == plan[i].ID &&
		g[i].Instruction == plan[i].Instruction; i++ {
		if g[i].done {
			all[i] = g[i]
		}
	}
	return all
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

const planRule = "Reply with one ```json code block that holds the list of all tasks of the plan, and nothing else."

// plan asks for a plan or, after a task that failed, for the rest of it.
func (q *inquiry) plan(ctx context.Context, after *node) error {
	asks := prompts.InterpreterPlan{Most: tasksOfPlan}
	if after != nil {
		asks = prompts.InterpreterPlan{Plan: q.graph.json(), Task: after.ID, Code: after.code,
			Result: after.result}
	}
	q.plans++
	r, err := q.request("planner", fmt.Sprintf("plan %d", q.plans), asks)
	if err != nil {
		return err
	}
	plan, err := ask.Model(ctx, q.Caller, r, reply.Format[graph]{Rule: planRule, Parse: parseGraph})
	if err != nil {
		return err
	}
	q.graph = q.graph.merged(plan)
	var lines []string
	for _, n := range q.graph {
		line := fmt.Sprintf("%s: %s", n.ID, n.Instruction)
		if len(n.Depends) > 0 {
			line += fmt.Sprintf(" (after %s)", strings.Join(n.Depends, ", "))
		}
		if n.done {
			line += " ✔"
		}
		lines = append(lines, line)
	}
	return q.note(fmt.Sprintf("Plan %d", q.plans), strings.Join(lines, "\n"), "")
}
