package solver

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/prompts"
)

// The limits of data-interpreter are those of its public code.
const (
	tasksOfPlan = 3  // at most
	runsOfTask  = 3  // of its code at most, the first included
	recalled    = 20 // tools found by the similarity of words
	shownTools  = 5  // of them, at most
)

// interpreter is Data Interpreter (section 3). A question becomes a graph of tasks, which run
// in topological order. Failing code is debugged, each result is verified once (section 4.1.3),
// and a task that fails changes the plan from there on.
//
// Three things are not as in the paper. At the end the model is asked for the answer, because
// tasks print more than that. At most Steps tasks run: 20, like DS-STAR's rounds. There are no
// tools at first, because those of table 5 are a separate library.
func interpreter(o Options) Solver {
	o.Steps = cmp.Or(o.Steps, 20)
	memory := &pool{path: o.Pool}
	return job{agent: "data-interpreter", options: o, most: 5000, code: true,
		work: func(ctx context.Context, d *desk) (string, bool, error) {
			return (&inquiry{desk: d, memory: memory, defined: map[string]bool{}}).work(ctx)
		}}
}

// An inquiry is one question in progress.
type inquiry struct {
	*desk
	graph   graph
	tools   []Tool          // those of other questions included
	made    []Tool          // for this question
	defined map[string]bool // tools, by name, in the session
	memory  *pool
	known   []Experience // of other questions
	learnt  []Experience // from this one
	plans   int
}

func (q *inquiry) work(ctx context.Context) (string, bool, error) {
	question := q.meta.Task.Question
	kept, err := q.memory.read(question)
	if err != nil {
		return "", false, err
	}
	q.tools, q.known = kept.Tools, kept.Experiences
	if q.system, err = q.cfg.Prompts.Text(q.workplace(), q.context()); err != nil {
		return "", false, err
	}
	done, err := q.carryOut(ctx)
	err = errors.Join(err, q.memory.add(question, q.learnt, q.made))
	if err != nil {
		return "", false, err
	}
	answer, err := q.answer(ctx)
	return answer, done && answer != "", err
}

// carryOut runs the plan until all of its tasks are done (section 3.1.2).
func (q *inquiry) carryOut(ctx context.Context) (done bool, err error) {
	if err := q.plan(ctx, nil); err != nil {
		return false, err
	}
	for q.rounds < q.options.Steps {
		n := q.graph.next()
		if n == nil {
			return true, nil
		}
		q.rounds++
		for _, step := range []func(context.Context, *node) error{
			q.recommend, q.write, q.validate, q.reflect, q.makeTool, q.planAgain} {
			if err := step(ctx, n); err != nil {
				return false, err
			}
		}
	}
	return q.graph.next() == nil, nil
}

// noted asks a role, as asked does. ok is false if the reply cannot be used: then a turn with that
// title says so, and problem why.
func noted[T any](ctx context.Context, q *inquiry, title, role, subject string, format reply.Format[T],
	part prompts.Part) (value T, problem string, err error) {
	value, err = asked(ctx, q.desk, role, subject, format, part)
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		return value, unread.Error(), q.note(title, unread.Reply, unread.Error())
	}
	return value, "", err
}

// runCode runs code as a separate turn.
func (q *inquiry) runCode(ctx context.Context, title, said, code string) (ok bool, shown string, err error) {
	t, err := q.run(ctx, turn{title: title, said: said, cell: code})
	if err != nil {
		return false, "", err
	}
	return t.ran.Status == notebook.OK, t.shown, nil
}

// note adds a turn that runs nothing.
func (q *inquiry) note(title, said, observation string) error {
	_, err := q.add(turn{title: title, said: said, shown: observation})
	return err
}

// write asks for the code of a task, runs it, and has the model debug it while it fails
// (self-debugging, section 3.1.2).
func (q *inquiry) write(ctx context.Context, n *node) error {
	asks := prompts.InterpreterCode{Done: q.graph.finished(), Tools: schemas(n.tools),
		Experiences: near(q.known, n.Instruction), ID: string(n.ID), Instruction: n.Instruction}
	role := "coder"
	for try := 1; try <= runsOfTask && !n.done; try++ {
		name := fmt.Sprintf("%s, try %d", q.subject(n), try)
		code, problem, err := noted(ctx, q, "Task "+name, role, name, reply.Code, asks)
		if problem != "" {
			n.result = problem
		}
		if problem != "" || err != nil {
			return err
		}
		if role == "debugger" {
			q.debug++
		}
		n.code = code
		n.done, n.result, err = q.runCode(ctx, fmt.Sprintf("Task %s, try %d", n.ID, try), n.Instruction, code)
		if err != nil {
			return err
		}
		role, asks.Tries = "debugger", append(asks.Tries, prompts.Tried{Code: code, Result: n.result})
	}
	return nil
}

// validate asks for code that says whether the task's result is right, and runs it (section
// 3.3.1). With one verification of each task, the result stays whatever that code says.
func (q *inquiry) validate(ctx context.Context, n *node) error {
	if !n.done {
		return nil
	}
	title := fmt.Sprintf("Task %s, verification", n.ID)
	code, problem, err := noted(ctx, q, title, "validator", q.subject(n), reply.Code,
		prompts.InterpreterVerify{Instruction: n.Instruction, Code: n.code, Result: n.result})
	if err == nil && problem == "" {
		_, _, err = q.runCode(ctx, title, "", code)
	}
	return err
}

// answer asks for the answer, given the results of the tasks.
func (q *inquiry) answer(ctx context.Context) (string, error) {
	done := q.graph.finished()
	if len(done) == 0 {
		return "", q.note("No task was carried out", "", "")
	}
	asks := prompts.InterpreterAnswer{Last: done[len(done)-1]}
	for _, n := range done[:len(done)-1] {
		asks.Done = append(asks.Done, prompts.Result{ID: n.ID, Instruction: n.Instruction,
			Result: n.Result})
	}
	found, problem, err := noted(ctx, q, "The answer", "reporter", "the answer", answers, asks)
	if problem == "" && err == nil {
		_, err = q.add(turn{title: "The answer", said: found.text})
	}
	return found.answer, err
}

func (q *inquiry) subject(n *node) string { return fmt.Sprintf("plan %d, task %s", q.plans, n.ID) }
