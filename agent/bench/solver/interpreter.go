package solver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/notebook"
	"dsstar/prompts"
)

// The limits of data-interpreter are those of its public code.
const (
	tasksOfPlan = 3 // at most
	runsOfTask  = 3 // of its code at most, the first included
)

// interpreter is Data Interpreter (section 3). A question becomes a graph of tasks, which run
// in topological order. Failing code is debugged, each result is verified once (section 4.1.3),
// and a task that fails changes the plan from there on.
//
// Three things are not as in the paper. At the end the model is asked for the answer, because
// tasks print more than that. At most Steps tasks run: 20, like DS-STAR's rounds. There are no tools,
// as in the public code unless it is given some, and no experiences of other questions.
func interpreter(ctx context.Context, d *desk) (string, bool, error) {
	q := &inquiry{desk: d}
	q.plan(ctx, nil)
	for q.err == nil && q.graph.next() != nil && q.rounds < q.options.Steps {
		n := q.graph.next()
		q.rounds++
		q.write(ctx, n)
		q.validate(ctx, n)
		q.plan(ctx, n)
	}
	answer := q.report(ctx)
	return answer, q.graph.next() == nil && answer != "", q.err
}

// An inquiry is one question in progress. After its first error nothing more is asked or run.
type inquiry struct {
	*desk
	err   error
	graph graph
	plans int
}

// noted asks a role for code or words. problem says why there is no reply that can be used, which is
// noted.
func (q *inquiry) noted(ctx context.Context, role, subject string, format ask.Format[string],
	part prompts.Part) (text, problem string) {
	if q.err == nil {
		text, q.err = asked(ctx, q.desk, role, subject, format, q.context(), part)
	}
	if unread, ok := errors.AsType[*ask.Error](q.err); ok {
		q.err = q.at.Note(unread.Reply, unread.Error())
		return "", unread.Error()
	}
	if q.err != nil {
		problem = q.err.Error()
	}
	return text, problem
}

// runCode runs code in a turn.
func (q *inquiry) runCode(ctx context.Context, said, code string) (ok bool, shown string) {
	var e notebook.Execution
	if q.err == nil {
		e, shown, q.err = q.run(ctx, said, code)
	}
	return q.err == nil && e.Status == notebook.OK, shown
}

// write asks for the code of a task, runs it, and has the model debug it while it fails
// (self-debugging, section 3.1.2).
func (q *inquiry) write(ctx context.Context, n *node) {
	asks := prompts.InterpreterCode{Done: q.graph.finished(), ID: string(n.ID), Instruction: n.Instruction}
	role := "coder"
	for try := 1; try <= runsOfTask && !n.done; try++ {
		code, problem := q.noted(ctx, role, fmt.Sprintf("%s, try %d", q.subject(n), try), ask.Code, asks)
		if problem != "" {
			n.result = problem
			return
		}
		if role == "debugger" {
			q.debug++
		}
		n.code = code
		n.done, n.result = q.runCode(ctx, fmt.Sprintf("Task %s, try %d: %s", n.ID, try, n.Instruction), code)
		role, asks.Tries = "debugger", append(asks.Tries, prompts.Tried{Code: code, Result: n.result})
	}
}

// validate asks for code that says whether the task's result is right, and runs it (section
// 3.3.1). With one verification of each task, the result stays whatever that code says.
func (q *inquiry) validate(ctx context.Context, n *node) {
	if !n.done {
		return
	}
	code, problem := q.noted(ctx, "validator", q.subject(n), ask.Code,
		prompts.InterpreterVerify{Instruction: n.Instruction, Code: n.code, Result: n.result})
	if problem == "" {
		q.runCode(ctx, fmt.Sprintf("Task %s, verification.", n.ID), code)
	}
}

// report asks for the answer, given the results of the tasks.
func (q *inquiry) report(ctx context.Context) string {
	done := q.graph.finished()
	if len(done) == 0 {
		return ""
	}
	asks := prompts.InterpreterAnswer{Last: done[len(done)-1]}
	for _, n := range done[:len(done)-1] {
		asks.Done = append(asks.Done, prompts.Result{ID: n.ID, Instruction: n.Instruction,
			Result: n.Result})
	}
	text, problem := q.noted(ctx, "reporter", "the answer", answers, asks)
	if problem == "" {
		q.err = q.at.Note(text, "")
	}
	return answerIn(text)
}

func (q *inquiry) subject(n *node) string { return fmt.Sprintf("plan %d, task %s", q.plans, n.ID) }

// A node is a task of the graph (Data Interpreter, appendix A.1.1).
type node struct {
	ID          nodeID   `json:"task_id"`
	Depends     []nodeID `json:"dependent_task_ids"`
	Instruction string   `json:"instruction"`
	Status      string   `json:"status,omitempty"` // set for the model: "done" or "to do"

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
	for _, n := range g {
		if n.Status = "to do"; n.done {
			n.Status = "done"
		}
	}
	data, _ := json.MarshalIndent(g, "", "  ") // texts cannot fail
	return string(data)
}

var plans = ask.Format[graph]{Parse: parseGraph,
	Rule: "Reply with one ```json code block that holds the list of all tasks of the plan, and " +
		"nothing else."}

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
		n.Instruction = strings.TrimSpace(n.Instruction)
		n.Depends = append([]nodeID{}, n.Depends...) // not null
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

// jsonOf returns the JSON of a reply: its code block, or its text from the first to the last
// bracket.
func jsonOf(text string) string {
	for _, b := range ask.Blocks(text) {
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

// plan asks for a plan or, after a task that failed, for the rest of it.
func (q *inquiry) plan(ctx context.Context, after *node) {
	if q.err != nil || after != nil && after.done {
		return
	}
	asks := prompts.InterpreterPlan{Most: tasksOfPlan}
	if after != nil {
		asks = prompts.InterpreterPlan{Plan: q.graph.json(), Task: string(after.ID), Code: after.code,
			Result: after.result}
	}
	q.plans++
	title := fmt.Sprintf("Plan %d", q.plans)
	plan, err := asked(ctx, q.desk, "planner", strings.ToLower(title), plans, q.context(), asks)
	if err != nil {
		q.err = err
		return
	}
	// tasks before the fork, where the plans first differ, keep their code and results (section 3.1.2)
	for i := 0; i < min(len(q.graph), len(plan)) && q.graph[i].ID == plan[i].ID &&
		q.graph[i].Instruction == plan[i].Instruction; i++ {
		if q.graph[i].done {
			plan[i] = q.graph[i]
		}
	}
	q.graph = plan
	q.err = q.at.Note(title, plan.json())
}
