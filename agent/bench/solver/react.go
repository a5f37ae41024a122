package solver

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"dsstar/agent/llm"
	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/prompts"
)

// react is DABStep's baseline (section 4.1): at most 10 steps (table 1), each a thought and a
// Python cell in one session, until the code calls final_answer. Two settings are those of its
// library, smolagents: an observation has at most 20,000 characters, and one more call asks for
// the answer when no step is left. Reasoning models get a prompt of four stages.
func react(o Options) Solver {
	o.Steps = cmp.Or(o.Steps, 10)
	return job{agent: "react", options: o, most: 20_000, code: true, setup: finalAnswer,
		work: reactWork}
}

const reactRule = "Reply with a thought and one ```python code block."

func reactWork(ctx context.Context, d *desk) (answer string, finished bool, err error) {
	steps := d.options.Steps
	c, err := d.newChat("react", "Begin.", 0, prompts.React{Steps: steps,
		Reasoning: d.options.Reasoning})
	if err != nil {
		return "", false, err
	}
	err = c.each(ctx, steps, "Step", func(title, text, problem string) (prompts.Reask, bool, error) {
		code := pythonOf(text)
		if problem == "" && code == "" {
			problem = "it has no code block"
		}
		if problem != "" {
			return prompts.Reask{Problem: problem, Rule: reactRule}, false, nil
		}
		t, err := d.run(ctx, turn{title: title, said: rest(text), cell: code})
		if err != nil {
			return prompts.Reask{}, false, err
		}
		if answer, finished = handedOver(t.ran); finished {
			return prompts.Reask{}, true, nil
		}
		return prompts.Reask{}, false, c.tell(prompts.Observation{Output: t.shown, Left: steps - c.rounds})
	})
	if err == nil && !finished {
		answer, err = c.lastWord(ctx)
	}
	return answer, finished, err
}

// pythonOf returns the code of a step: its Python blocks, in order.
func pythonOf(text string) string {
	var code []string
	for _, b := range reply.Blocks(text) {
		if b.Language == "python" || b.Language == "" {
			code = append(code, b.Code)
		}
	}
	return strings.Join(code, "\n\n")
}

// handedOver returns the answer that a cell passed to final_answer.
func handedOver(e notebook.Execution) (answer string, ok bool) {
	if e.Status != notebook.OK {
		return "", false
	}
	for _, o := range e.Outputs {
		data, is := o.Data["application/vnd.dsstar.answer+json"].(map[string]any)
		if is {
			answer, ok = data["answer"].(string)
		}
	}
	return answer, ok
}

// lastWord asks for the answer when no step is left.
func (c *chat) lastWord(ctx context.Context) (string, error) {
	shown := c.pending
	if err := c.tell(prompts.Answer{}); err != nil {
		return "", err
	}
	c.pending = strings.TrimPrefix(shown+"\n\n"+c.pending, "\n\n")
	text, problem, err := c.ask(ctx, "the answer")
	if errors.Is(err, llm.ErrContextLength) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	t := turn{title: "The answer, as no step is left", said: text}
	found, unread := parseAnswer(text)
	if problem != "" || unread != nil {
		found, t.shown = said{}, "There is no answer in the reply."
	}
	_, err = c.add(t)
	return found.answer, err
}
