package solver

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
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
			return (&inquiry{desk: d, memory: memory}).work(ctx)
		}}
}

// An inquiry is one question in progress.
type inquiry struct {
	*desk
	system  string
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
	q.tools, q.known, q.defined = kept.Tools, kept.Experiences, map[string]bool{}
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
		if err := q.attempt(ctx, n); err != nil {
			return false, err
		}
		if !n.done {
			if err := q.plan(ctx, n); err != nil {
				return false, err
			}
		}
	}
	return q.graph.next() == nil, nil
}

// attempt runs one task: code, debugging, verification and reflection.
func (q *inquiry) attempt(ctx context.Context, n *node) error {
	tools, err := q.recommend(ctx, n)
	if err != nil {
		return err
	}
	if n.done, err = q.write(ctx, n, tools); err != nil {
		return err
	}
	if n.done {
		if err := q.validate(ctx, n); err != nil {
			return err
		}
	}
	if err := q.reflect(ctx, n); err != nil || !n.done {
		return err
	}
	return q.makeTool(ctx, n)
}

// request returns a request of a role. All requests share a prefix.
func (q *inquiry) request(role, subject string, parts ...prompts.Part) (llm.Request, error) {
	text, err := q.cfg.Prompts.Text(parts...)
	return llm.Request{
		Role: role, Subject: subject, RestsOn: q.restsOn(parts), MaxTokens: q.cfg.MaxTokens,
		Messages: []llm.Message{{Role: "system", Text: q.system}, {Role: "user", Text: text}},
	}, err
}

// code asks a role for code. The error of an unreadable reply is a *reply.Error.
func (q *inquiry) code(ctx context.Context, role, subject string, parts ...prompts.Part) (string,
	error) {
	r, err := q.request(role, subject, parts...)
	if err != nil {
		return "", err
	}
	return ask.Model(ctx, q.Caller, r, reply.Code)
}

// runCode runs code as a separate turn.
func (q *inquiry) runCode(ctx context.Context, title, said,
	code string) (notebook.Execution, string, error) {
	t, err := q.run(ctx, turn{title: title, said: said, kind: "python", cell: code})
	if err != nil {
		return notebook.Execution{}, "", err
	}
	return t.ran, t.shown, nil
}

// note adds a turn that runs nothing.
func (q *inquiry) note(title, said, observation string) error {
	_, err := q.add(turn{title: title, said: said, shown: observation})
	return err
}

// write asks for the code of a task, runs it, and has the model debug it while it fails
// (self-debugging, section 3.1.2). write sets the task's code and result, and reports whether
// the code succeeded.
func (q *inquiry) write(ctx context.Context, n *node, tools []Tool) (ok bool, err error) {
	asks := prompts.InterpreterCode{Done: q.graph.finished(), Tools: schemas(tools),
		Experiences: near(q.known, n.Instruction), ID: n.ID, Instruction: n.Instruction}
	for try := 1; try <= runsOfTask; try++ {
		role, name := "coder", fmt.Sprintf("%s, try %d", q.subject(n), try)
		if try > 1 {
			role = "debugger"
		}
		code, err := q.code(ctx, role, name, asks)
		if unread, ok := errors.AsType[*reply.Error](err); ok {
			n.result = unread.Error()
			return false, q.note("Task "+name, unread.Reply, unread.Error())
		}
		if err != nil {
			return false, err
		}
		if try > 1 {
			q.debug++
		}
		e, shown, err := q.runCode(ctx, fmt.Sprintf("Task %s, try %d", n.ID, try), n.Instruction, code)
		if err != nil {
			return false, err
		}
		n.code, n.result = code, shown
		if e.Status == notebook.OK {
			return true, nil
		}
		asks.Tries = append(asks.Tries, prompts.Tried{Code: code, Result: shown})
	}
	return false, nil
}

// validate asks for code that says whether the task's result is right, and runs it (section
// 3.3.1). With one verification of each task, the result stays whatever that code says.
func (q *inquiry) validate(ctx context.Context, n *node) error {
	title := fmt.Sprintf("Task %s, verification", n.ID)
	code, err := q.code(ctx, "validator", q.subject(n),
		prompts.InterpreterVerify{Instruction: n.Instruction, Code: n.code, Result: n.result})
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		return q.note(title, unread.Reply, unread.Error())
	}
	if err == nil {
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
	r, err := q.request("reporter", "the answer", asks)
	if err != nil {
		return "", err
	}
	said := ""
	answer, err := ask.Model(ctx, q.Caller, r, reply.Format[string]{Rule: answerRule,
		Parse: func(text string) (string, error) {
			said = text
			return parseAnswer(text)
		}})
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		return "", q.note("The answer", unread.Reply, unread.Error())
	}
	if err != nil {
		return "", err
	}
	_, err = q.add(turn{title: "The answer", said: said, kind: "answer"})
	return answer, err
}

func (q *inquiry) subject(n *node) string { return fmt.Sprintf("plan %d, task %s", q.plans, n.ID) }
