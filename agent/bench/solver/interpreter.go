package solver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/notebook"
	"dsstar/notebook/lists"
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
func interpreter(ctx context.Context, d *desk) (answer string, finished bool, err error) {
	q := &inquiry{desk: d}
	err = q.plan(ctx, nil)
	for err == nil && q.graph.next() != nil && q.rounds < q.options.Steps {
		n := q.graph.next()
		q.rounds++
		if err = q.write(ctx, n); err != nil {
			break
		} else if n.Status == done {
			err = q.validate(ctx, n)
		} else {
			err = q.plan(ctx, n)
		}
	}
	if err == nil {
		answer, err = q.report(ctx)
	}
	return answer, q.graph.next() == nil && answer != "", err
}

// An inquiry is one question in progress.
type inquiry struct {
	*desk
	graph graph
	plans int
}

// said asks a role for code or words. problem says why there is no reply that can be used, which is
// noted.
func (q *inquiry) said(ctx context.Context, role, subject string, format ask.Format[string],
	part prompts.Part) (text, problem string, err error) {
	text, err = asked(ctx, q.desk, role, subject, format, q.known, part)
	if unread, ok := errors.AsType[*ask.Error](err); ok {
		return "", unread.Error(), q.at.Note(unread.Reply, unread.Error())
	}
	return text, "", err
}

// write asks for the code of a task, runs it, and has the model debug it while it fails
// (self-debugging, section 3.1.2).
func (q *inquiry) write(ctx context.Context, n *node) error {
	asks := prompts.InterpreterCode{Done: q.graph.finished(), ID: n.ID, Instruction: n.Instruction}
	role := "coder"
	for try := 1; try <= runsOfTask && n.Status != done; try++ {
		code, problem, err := q.said(ctx, role, fmt.Sprintf("%s, try %d", q.subject(n), try), ask.Code, asks)
		if n.result = problem; err != nil || problem != "" {
			return err
		}
		if role == "debugger" {
			q.debug++
		}
		said := fmt.Sprintf("Task %s, try %d: %s", n.ID, try, n.Instruction)
		e, shown, err := q.run(ctx, said, code)
		if err != nil {
			return err
		}
		if n.code, n.result = code, shown; e.Status == notebook.OK {
			n.Status = done
		}
		role, asks.Tries = "debugger", append(asks.Tries, prompts.Tried{Code: code, Result: shown})
	}
	return nil
}

// validate asks for code that says whether the task's result is right, and runs it (section
// 3.3.1). With one verification of each task, the result stays whatever that code says.
func (q *inquiry) validate(ctx context.Context, n *node) error {
	code, problem, err := q.said(ctx, "validator", q.subject(n), ask.Code,
		prompts.InterpreterVerify{Instruction: n.Instruction, Code: n.code, Result: n.result})
	if err == nil && problem == "" {
		_, _, err = q.run(ctx, fmt.Sprintf("Task %s, verification.", n.ID), code)
	}
	return err
}

// report asks for the answer, given the results of the tasks.
func (q *inquiry) report(ctx context.Context) (answer string, err error) {
	all := q.graph.finished()
	if len(all) == 0 {
		return "", nil
	}
	last := len(all) - 1
	text, problem, err := q.said(ctx, "reporter", "the answer", answers,
		prompts.InterpreterAnswer{Done: all[:last], Last: all[last]})
	if err == nil && problem == "" {
		err = q.at.Note(text, "")
	}
	return answerIn(text), err
}

func (q *inquiry) subject(n *node) string {
	return fmt.Sprintf("plan %d, task %s", q.plans, n.ID)
}

// A node is a task of the graph (Data Interpreter, appendix A.1.1).
type node struct {
	ID          string   `json:"task_id"`
	Depends     []string `json:"dependent_task_ids"`
	Instruction string   `json:"instruction"`
	Status      string   `json:"status"` // done, or toDo

	code, result string // the code that ran last, and what it gave
}

const done, toDo = "done", "to do"

// A graph is the tasks of a plan in topological order.
type graph []*node

// next returns the first task that is not done, or nil.
func (g graph) next() *node {
	return lists.First(g, func(n *node) bool { return n.Status != done })
}

func (g graph) finished() []prompts.Node {
	isDone := func(n *node) bool { return n.Status == done }
	return lists.Map(lists.Where(g, isDone), func(n *node) prompts.Node {
		return prompts.Node{ID: n.ID, Instruction: n.Instruction, Code: n.code, Result: n.result}
	})
}

// json returns the graph as the model writes it, with the status of each task.
func (g graph) json() string {
	data, _ := json.MarshalIndent(g, "", "  ") // texts cannot fail
	return string(data)
}

var plans = ask.Format[graph]{Parse: parseGraph,
	Rule: "Reply with one ```json code block that holds the list of all tasks of the plan, and " +
		"nothing else."}

var list = regexp.MustCompile(`(?s)\[.*\]`)

// parseGraph reads a plan: a list of tasks, in a code block or alone. It puts them in topological
// order, and otherwise keeps theirs.
func parseGraph(text string) (order graph, err error) {
	if blocks := ask.Blocks(text); len(blocks) > 0 {
		text = blocks[0].Code
	}
	var left []node
	if json.Unmarshal([]byte(list.FindString(text)), &left) != nil || len(left) == 0 {
		return nil, errors.New("it has no list of tasks in JSON")
	}
	placed := map[string]bool{}
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(n node) bool {
			return !slices.ContainsFunc(n.Depends, func(id string) bool { return !placed[id] })
		})
		if i < 0 {
			return nil, fmt.Errorf("task %s depends on itself, or on what is no task", left[0].ID)
		}
		n := left[i]
		n.Instruction, n.Status = strings.TrimSpace(n.Instruction), toDo
		n.Depends = append([]string{}, n.Depends...) // not null
		if n.ID == "" || n.Instruction == "" || placed[n.ID] {
			return nil, errors.New("a task of it has no instruction, or no task_id of its own")
		}
		order, placed[n.ID] = append(order, &n), true
		left = slices.Delete(left, i, i+1)
	}
	return order, nil
}

// plan asks for a plan or, after a task that failed, for the rest of it.
func (q *inquiry) plan(ctx context.Context, after *node) error {
	asks := prompts.InterpreterPlan{Most: tasksOfPlan}
	if after != nil {
		asks = prompts.InterpreterPlan{Plan: q.graph.json(), Task: after.ID, Code: after.code,
			Result: after.result}
	}
	q.plans++
	title := fmt.Sprintf("Plan %d", q.plans)
	plan, err := asked(ctx, q.desk, "planner", strings.ToLower(title), plans, q.known, asks)
	if err != nil {
		return err
	}
	// tasks before the fork, where the plans first differ, keep their code and results (section 3.1.2)
	for i := 0; i < min(len(q.graph), len(plan)) && q.graph[i].ID == plan[i].ID &&
		q.graph[i].Instruction == plan[i].Instruction; i++ {
		plan[i] = q.graph[i]
	}
	q.graph = plan
	return q.at.Note(title, plan.json())
}
