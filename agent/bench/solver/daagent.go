package solver

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"dsstar/agent/brief"
	"dsstar/prompts"
)

// daAgent is DA-Agent (DA-Code, section 4): at most 20 actions of Bash, Python, SQL and
// Terminate, of at most 300 seconds each, the last 15 of which are remembered (section 5.1).
// Python is a file that runs in its own process. The observations are those of section 4.3:
// output, error, success without output, an invalid or repeated action, a time-out.
//
// Where the paper is silent, it follows the public code: an observation has at most 3,000
// characters, and the run ends after the fourth reply without an action, or when an action is
// repeated twice.
func daAgent(o Options) Solver {
	o.Steps, o.Memory = cmp.Or(o.Steps, 20), cmp.Or(o.Memory, 15)
	return job{agent: "da-agent", options: o, most: 3000, code: true, setup: actions,
		work: daAgentWork}
}

const (
	actionSeconds = 300 // as in actions.py
	mostUnread    = 3
	mostRepeated  = 1
	actionRule    = "Reply with a thought and one action, in the form that was given."
)

func daAgentWork(ctx context.Context, d *desk) (string, bool, error) {
	c, err := d.newChat("da-agent", "Observation: you are in the folder now.", d.options.Memory,
		prompts.DAAgent{Steps: d.options.Steps, Seconds: actionSeconds})
	if err != nil {
		return "", false, err
	}
	var last act
	unread, repeated := 0, 0
	for n := 1; n <= d.options.Steps && unread <= mostUnread && repeated <= mostRepeated; n++ {
		d.rounds = n
		text, problem, err := c.ask(ctx, fmt.Sprint("step ", n))
		if err != nil {
			return "", false, err
		}
		title, a, rule := fmt.Sprint("Step ", n), act{}, actionRule
		if problem == "" {
			a, problem = parseAct(text)
		}
		switch {
		case problem != "":
			unread++
		case a == last:
			repeated++
			problem, rule = "its action is the last one again", "Take another action."
		case a.kind == "terminate":
			_, err := d.add(turn{title: title, said: thoughtOf(text), kind: a.kind, shown: "Terminate"})
			return a.code, err == nil, err
		default:
			last, repeated = a, 0
		}
		if problem != "" {
			err = c.unreadable(title, text, problem, rule)
		} else {
			err = c.take(ctx, a, title, text)
		}
		if err != nil {
			return "", false, err
		}
	}
	return "", false, nil
}

// take performs an action and tells the model the result.
func (c *chat) take(ctx context.Context, a act, title, text string) error {
	t, err := c.run(ctx, turn{title: title, said: thoughtOf(text), kind: a.kind, cell: a.cell()})
	if err != nil {
		return err
	}
	return c.tell(prompts.Observation{Output: t.shown})
}

// An act is an action of DA-Agent.
type act struct{ kind, code, file, output string }

// cell returns the code of the action's cell; "" if it has none.
func (a act) cell() string {
	switch a.kind {
	case "bash":
		return fmt.Sprintf("bash(%s)", literal(a.code))
	case "python":
		return fmt.Sprintf("python(%s, %s)", brief.Python(a.file), literal(a.code))
	case "sql":
		return fmt.Sprintf("sql(%s, %s, %s)", brief.Python(a.file), literal(a.code),
			brief.Python(a.output))
	}
	return ""
}

// literal returns code as a Python literal: if possible, a raw triple-quoted one for several
// lines.
func literal(code string) string {
	if !strings.Contains(code, "\n") || strings.Contains(code, "'''") ||
		strings.ContainsAny(code, "\r\x00\f\v") ||
		strings.HasSuffix(code, `\`) || strings.HasSuffix(code, "'") {
		return brief.Python(code)
	}
	return "r'''\n" + code + "\n'''"
}
