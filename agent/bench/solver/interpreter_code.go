package solver

import (
	"context"
	"errors"
	"fmt"

	"dsstar/agent"
	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/prompts"
)

// write asks for the code of a task, runs it, and has the model debug it while it fails, in at
// most Tries runs (self-debugging, section 3.1.2). tried lists what was tried before. write
// sets the task's code and result, and reports whether the code succeeded.
func (q *inquiry) write(ctx context.Context, n *node, tools []Tool, tried []prompts.Tried,
	subject string) (ok bool, err error) {
	asks := prompts.InterpreterCode{
		Done: q.graph.finished(), Tools: schemas(tools), Experiences: near(q.pool,
			n.Instruction), ID: n.ID, Instruction: n.Instruction,
	}
	for try := 1; try <= q.Tries; try++ {
		role, name := "coder", fmt.Sprintf("%s, try %d", subject, try)
		if try > 1 {
			role = "debugger"
		}
		asks.Tries = tried
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
		tried = append(tried, prompts.Tried{Code: code, Result: shown})
	}
	return false, nil
}

// editByHand lets a person, if there is one, edit a failed task, and runs the edited task
// (human editing, section 3.1.2). A rejected task stays failed, and the planner sees the
// reason.
func (q *inquiry) editByHand(ctx context.Context, n *node) error {
	for try := 1; q.cfg.Review != nil && !n.done; try++ {
		d, err := q.cfg.Review(ctx, agent.Proposal{
			Round: q.rounds, Step: len(q.graph.finished()) +
				1, Try: try, Text: n.Instruction, Code: n.code, Failed: n.code, Error: n.result,
		})
		switch {
		case err != nil:
			return err
		case d.Choice == agent.Stop:
			return agent.ErrStopped
		case d.Choice != agent.Accept:
			if d.Reason != "" {
				n.result += "\nA person rejected it: " + d.Reason
			}
			return nil
		}
		if d.Text != "" {
			n.Instruction = d.Text
		}
		n.edited, n.code = true, d.Code
		e, shown, err := q.runCode(ctx, fmt.Sprintf("Task %s, by hand", n.ID), n.Instruction, n.code)
		if err != nil {
			return err
		}
		n.result, n.done = shown, e.Status == notebook.OK
	}
	return nil
}
