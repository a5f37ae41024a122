package solver

import (
	"context"
	"fmt"
	"strings"

	"dsstar/agent"
	"dsstar/agent/brief"
	"dsstar/agent/record"
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
type daAgent struct {
	Steps       int `json:"steps"`
	Memory      int `json:"memory"`
	Observation int `json:"observation"`
}

func newDAAgent(o Options) daAgent {
	return daAgent{or(o.Steps, 20), or(o.Memory, 15), or(o.Observation, 3000)}
}

const (
	actionSeconds = 300 // as in actions.py
	mostUnread    = 3
	mostRepeated  = 1
	actionRule    = "Reply with a thought and one action, in the form that was given."
)

func (s daAgent) Solve(ctx context.Context, cfg agent.Config, task record.Task) (*Result, error) {
	return job{agent: "da-agent", options: s, most: s.Observation, code: true, setup: actions,
		work: s.work}.do(ctx, cfg, task)
}

func (s daAgent) work(ctx context.Context, d *desk) (string, bool, error) {
	c, err := d.newChat("da-agent", "Observation: you are in the folder now.", s.Memory,
		prompts.Workplace{Code: true, Shown: d.most}, d.context(), prompts.DAAgent{Steps: s.Steps,
			Seconds: actionSeconds})
	if err != nil {
		return "", false, err
	}
	var last act
	unread, repeated := 0, 0
	for n := 1; n <= s.Steps && unread <= mostUnread && repeated <= mostRepeated; n++ {
		d.rounds = n
		text, problem, err := c.ask(ctx, step(n))
		if err != nil {
			return "", false, err
		}
		title, a, rule := "S"+step(n)[1:], act{}, actionRule
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
			_, err := d.add(turn{title: title, said: thoughtOf(text),
				did: Action{Kind: a.kind, Code: a.code, Observation: "Terminate"}})
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
	t, err := c.run(ctx, turn{title: title, said: thoughtOf(text),
		did: Action{Kind: a.kind, Code: a.code}, cell: a.cell()})
	if err != nil {
		return err
	}
	return c.tell(prompts.Observation{Output: t.did.Observation})
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
