package solver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/prompts"
)

// Confidence in a result, depending on what its validation prints (Data Interpreter,
// equation 2).
const (
	sureRight = 1
	sureWrong = 0.2
	unsure    = 0.5
)

// A candidate is a result of a task, with the code of the last trial that gave it and the
// confidence of each such trial.
type candidate struct {
	code, result string
	confidence   []float64
}

func (c candidate) mean() float64 {
	sum := 0.0
	for _, x := range c.confidence {
		sum += x
	}
	return sum / float64(len(c.confidence))
}

// trials runs a task with automated confidence-based verification (section 3.3.1). A trial runs
// code, and validation code that says whether the result is right. If it is not, other code is
// tried, in up to N trials. The task's result is the one with the highest mean confidence, and
// the first of equal ones.
func (q *inquiry) trials(ctx context.Context, n *node, tools []Tool) error {
	var all []*candidate
	var tried []prompts.Tried
	for k := 1; k <= q.Trials; k++ {
		subject := q.subject(n)
		if k > 1 {
			subject += fmt.Sprintf(", trial %d", k)
		}
		ran, err := q.write(ctx, n, tools, tried, subject)
		if err != nil {
			return err
		}
		if !ran {
			if len(all) == 0 {
				return nil // self-debugging has ended, and the task has failed
			}
			continue
		}
		if q.NoVerify {
			n.done = true
			return nil
		}
		confidence, validation, err := q.validate(ctx, n, subject)
		if err != nil {
			return err
		}
		all = withTrial(all, n.code, n.result, confidence)
		if confidence == sureRight {
			break
		}
		tried = append(tried, prompts.Tried{Code: n.code, Result: n.result +
			"\n\nA check of this result gave:\n" + validation})
	}
	return q.elect(ctx, n, all)
}

// withTrial adds a trial to the candidate with the same result, or adds a candidate.
func withTrial(all []*candidate, code, result string, confidence float64) []*candidate {
	for _, c := range all {
		if strings.TrimSpace(c.result) == strings.TrimSpace(result) {
			c.code, c.confidence = code, append(c.confidence, confidence)
			return all
		}
	}
	return append(all, &candidate{code, result, []float64{confidence}})
}

// best returns the candidate with the highest mean confidence.
func best(all []*candidate) *candidate {
	winner := all[0]
	for _, c := range all[1:] {
		if c.mean() > winner.mean() {
			winner = c
		}
	}
	return winner
}

// elect makes the best candidate the task's result. If other code has run since, its code runs
// again, so that the session has its variables. If that fails, the task has failed, and the
// planner reads why.
func (q *inquiry) elect(ctx context.Context, n *node, all []*candidate) error {
	winner := best(all)
	last := n.code
	n.code, n.result, n.done = winner.code, winner.result, true
	if len(all) > 1 {
		var lines []string
		for _, c := range all {
			lines = append(lines, fmt.Sprintf("%.2f in %d trials: %s", c.mean(), len(c.confidence),
				brief.Clip(c.result, 200)))
		}
		if err := q.note(fmt.Sprintf("Task %s, confidence", n.ID), strings.Join(lines, "\n"), ""); err != nil {
			return err
		}
	}
	if last == winner.code {
		return nil
	}
	e, shown, err := q.runCode(ctx, fmt.Sprintf("Task %s, as chosen", n.ID),
		n.Instruction, winner.code)
	if err != nil {
		return err
	}
	if e.Status != notebook.OK {
		n.result, n.done = shown, false
	}
	return nil
}

// validate asks for validation code for the task's result, runs it, and returns the
// confidence.
func (q *inquiry) validate(ctx context.Context, n *node,
	subject string) (confidence float64, printed string, err error) {
	code, err := q.code(ctx, "validator", subject,
		prompts.InterpreterVerify{Instruction: n.Instruction, Code: n.code, Result: n.result})
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		return unsure, unread.Error(), q.note(fmt.Sprintf("Task %s, verification", n.ID), unread.Reply,
			unread.Error())
	}
	if err != nil {
		return 0, "", err
	}
	e, shown, err := q.runCode(ctx, fmt.Sprintf("Task %s, verification", n.ID), "", code)
	if err != nil {
		return 0, "", err
	}
	lines := strings.Split(strings.TrimSpace(e.Stdout()), "\n")
	switch _, raised := e.Error(); strings.TrimSpace(lines[len(lines)-1]) {
	case "True":
		if !raised {
			return sureRight, shown, nil
		}
	case "False":
		if !raised {
			return sureWrong, shown, nil
		}
	}
	return unsure, shown, nil
}
