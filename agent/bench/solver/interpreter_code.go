package solver

import (
	"context"
	"errors"
	"fmt"

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
		code, err := q.code(ctx, role, name, q.codeInputs(asks), asks)
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

// codeInputs returns the inputs that a recorded reply with code must match.
func (q *inquiry) codeInputs(asks prompts.InterpreterCode) map[string]string {
	inputs := map[string]string{"task": asks.Instruction, "tools": fmt.Sprint(asks.Tools),
		"experiences": fmt.Sprint(asks.Experiences)}
	for _, n := range asks.Done {
		inputs["plan"], inputs["code"], inputs["results"] = inputs["plan"]+n.Instruction+"\n", inputs["code"]+n.Code+"\n", inputs["results"]+n.Result+"\n"
	}
	for _, t := range asks.Tries {
		inputs["code"], inputs["results"] = inputs["code"]+t.Code+"\n", inputs["results"]+t.Result+"\n"
	}
	return inputs
}
