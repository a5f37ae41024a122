package solver

import (
	"context"
	"errors"
	"fmt"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/prompts"
)

// Interpreter has the options of data-interpreter. The zero value is the method as published.
type Interpreter struct {
	Tasks int `json:"tasks"` // maximum number of tasks in a plan; 3, as in the public code
	// maximum number of runs of a task's code, including the first; 3, as in the public code
	Tries    int  `json:"tries"`
	Trials   int  `json:"trials"`    // N of the verification; 1 (section 4.1.3)
	NoVerify bool `json:"no_verify"` // no verification
	NoReplan bool `json:"no_replan"` // a failed task does not change the plan (ablation: table 3)
	// tools are neither recommended nor made (ablation: table 3)
	NoTools bool `json:"no_tools"`
	// number of tools found by word similarity; 20, as in the public code
	Recall int    `json:"recall"`
	Choose int    `json:"choose"` // how many of them are shown; 5, as in the public code
	Tools  []Tool `json:"-"`      // initial tools
	// the file with experiences and tools of other questions; "": none (section 4.1.3)
	Pool string `json:"pool,omitempty"`
}

// interpreter is Data Interpreter (section 3). A question becomes a graph of tasks, which run
// in topological order. Failing code is debugged; a task that fails, or that a person has
// edited, changes the plan from there on. Config.Review asks a person only about failed tasks
// (human editing, section 3.1.2).
//
// Three things that a benchmark needs are not in the paper. At the end the model is asked for
// the answer, because tasks print more than that. At most Steps tasks run: 20, like DS-STAR's
// rounds. The caller chooses the initial tools, because those of table 5 are a separate library.
type interpreter struct {
	Steps       int `json:"steps"`
	Observation int `json:"observation"`
	Interpreter
	memory *pool
}

func newInterpreter(o Options) interpreter {
	i := o.Interpreter
	i.Tasks, i.Tries, i.Trials, i.Recall, i.Choose = or(i.Tasks, 3), or(i.Tries, 3), or(i.Trials,
		1), or(i.Recall, 20), or(i.Choose, 5)
	return interpreter{or(o.Steps, 20), or(o.Observation, 5000), i, &pool{path: i.Pool}}
}

func (s interpreter) Solve(ctx context.Context, cfg agent.Config,
	task record.Task) (*Result, error) {
	return job{agent: "data-interpreter", options: s, most: s.Observation, code: true,
		work: s.work}.do(ctx, cfg, task)
}

// An inquiry is one question in progress.
type inquiry struct {
	*desk
	interpreter
	system  string
	graph   graph
	library library
	pool    []Experience // of other questions
	learnt  []Experience // from this one
	plans   int
}

func (s interpreter) work(ctx context.Context, d *desk) (string, bool, error) {
	q := &inquiry{desk: d, interpreter: s}
	kept, err := s.memory.read(d.task.Question)
	if err != nil {
		return "", false, err
	}
	q.library, q.pool = newLibrary(s.Tools, kept.Tools), kept.Experiences
	if q.system, err = d.cfg.Prompts.Text(prompts.Workplace{Code: true, Shown: d.most}, d.context()); err != nil {
		return "", false, err
	}
	done, err := q.carryOut(ctx)
	err = errors.Join(err, s.memory.add(d.task.Question, q.learnt, q.library.made))
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
	for q.rounds < q.Steps {
		n := q.graph.next()
		if n == nil {
			return true, nil
		}
		q.rounds++
		if err := q.attempt(ctx, n); err != nil {
			return false, err
		}
		if !n.done || n.edited {
			if q.NoReplan && !n.done {
				return false, nil
			}
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
	if err := q.trials(ctx, n, tools); err != nil {
		return err
	}
	if !n.done {
		if err := q.editByHand(ctx, n); err != nil {
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
		Role: role, Subject: subject, Ground: q.ground(parts), MaxTokens: q.cfg.MaxTokens,
		Messages: []llm.Message{{Role: "system", Text: q.system}, {Role: "user", Text: text}},
	}, err
}

// code asks a role for code. The error of an unreadable reply is a *reply.Error.
func (q *inquiry) code(ctx context.Context, role, subject string, parts ...prompts.Part) (string, error) {
	r, err := q.request(role, subject, parts...)
	if err != nil {
		return "", err
	}
	return ask.Model(ctx, q.Caller, r, reply.Code)
}

// runCode runs code as a separate turn.
func (q *inquiry) runCode(ctx context.Context, title, said,
	code string) (notebook.Execution, string, error) {
	t, err := q.run(ctx, turn{title: title, said: said, did: Action{Kind: "python",
		Code: code}, cell: code})
	if err != nil {
		return notebook.Execution{}, "", err
	}
	return t.ran, t.did.Observation, nil
}

// note adds a turn that runs nothing.
func (q *inquiry) note(title, said, observation string) error {
	_, err := q.add(turn{title: title, said: said, did: Action{Observation: observation}})
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
		asks.Done = append(asks.Done, prompts.Result{ID: n.ID, Instruction: n.Instruction, Result: n.Result})
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
	_, err = q.add(turn{title: "The answer", said: said, did: Action{Kind: "answer", Code: answer}})
	return answer, err
}

func (q *inquiry) subject(n *node) string { return fmt.Sprintf("plan %d, task %s", q.plans, n.ID) }
