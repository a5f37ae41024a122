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
)

func daAgentWork(ctx context.Context, d *desk) (answer string, finished bool, err error) {
	c, err := d.newChat("da-agent", "Observation: you are in the folder now.", d.options.Memory,
		prompts.DAAgent{Steps: d.options.Steps, Seconds: actionSeconds})
	if err != nil {
		return "", false, err
	}
	var last act
	unread, repeated := 0, 0
	err = c.each(ctx, d.options.Steps, "Step", func(title, text, problem string) (prompts.Reask, bool, error) {
		var a act
		if problem == "" {
			a, problem = parseAct(text)
		}
		said := turn{title: title, said: thoughtOf(text), cell: a.cell()}
		switch {
		case problem != "":
			unread++
			return prompts.Reask{Problem: problem,
				Rule: "Reply with a thought and one action, in the form that was given."}, unread > mostUnread, nil
		case a == last:
			repeated++
			return prompts.Reask{Problem: "its action is the last one again", Rule: "Take another action."},
				repeated > mostRepeated, nil
		case a.kind == "terminate":
			said.shown = "Terminate"
			_, err := d.add(said)
			answer, finished = a.code, err == nil
			return prompts.Reask{}, true, err
		}
		last, repeated = a, 0
		t, err := d.run(ctx, said)
		if err == nil {
			err = c.tell(prompts.Observation{Output: t.shown})
		}
		return prompts.Reask{}, false, err
	})
	return answer, finished, err
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
