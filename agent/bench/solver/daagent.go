package solver

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/prompts"
)

const (
	actionSeconds = 300 // as in actions.py
	remembered    = 15  // actions
	mostUnread    = 3
	mostRepeated  = 1
)

// daAgent is DA-Agent (DA-Code, section 4): at most 20 actions of Bash, Python, SQL and
// Terminate, of at most 300 seconds each, the last 15 of which are remembered (section 5.1).
// Python is a file that runs in its own process. The observations are those of section 4.3:
// output, error, success without output, an invalid or repeated action, a time-out.
//
// Where the paper is silent, it follows the public code: an observation has at most 3,000
// characters, and the run ends after the fourth reply without an action, or when an action is
// repeated twice.
func daAgent(ctx context.Context, d *desk) (string, bool, error) {
	c := d.newChat("da-agent", remembered,
		prompts.DAAgent{Steps: d.options.Steps, Seconds: actionSeconds})
	last, unread, repeated := "", 0, 0
	return c.talkOn(ctx, "step", d.options.Steps, func(text, problem string) move {
		m := move{problem: problem}
		if problem == "" {
			m = actionOf(text)
		}
		switch {
		case m.problem != "":
			unread++
			return move{problem: m.problem, ends: unread > mostUnread,
				rule: "Reply with a thought and one action, in the form that was given."}
		case m.cell != "" && m.cell == last:
			repeated++
			return move{problem: "its action is the last one again", rule: "Take another action.",
				ends: repeated > mostRepeated}
		}
		last, repeated = m.cell, 0
		return m
	})
}

// shells are the languages of blocks for the shell.
var shells = []string{"bash", "sh", "shell"}

// named is a line at the beginning of a block that names a file.
var named = regexp.MustCompile(`^(?:#|--)[ \t]*(file|output):[ \t]*(\S.*?)[ \t]*(?:\n|$)`)

const notAction = "its code block is no action: it names no file, or its language is another one"

// actionOf returns the action of a reply: its first code block, or else its answer. It ignores what
// follows, such as an observation that the model made up.
func actionOf(text string) move {
	blocks, answer := ask.Blocks(text), answerIn(text)
	switch {
	case len(blocks) > 0:
	case answer != "":
		return move{ends: true, finished: true, answer: answer}
	default:
		return move{problem: "it has no action"}
	}
	code, names := blocks[0].Code, map[string]string{}
	for m := named.FindStringSubmatch(code); m != nil; m = named.FindStringSubmatch(code) {
		names[m[1]], code = m[2], code[len(m[0]):]
	}
	switch language, file := blocks[0].Language, names["file"]; {
	case strings.TrimSpace(code) == "":
		return move{problem: "its action is empty"}
	case slices.Contains(shells, language):
		return move{cell: call("bash", code)}
	case language == "python" && file != "":
		return move{cell: call("python", file, code)}
	case language == "sql" && file != "":
		return move{cell: call("sql", file, code, names["output"])}
	}
	return move{problem: notAction}
}

// call returns the call of a function of actions.py with texts.
func call(function string, texts ...string) string {
	var all []string
	for _, text := range texts {
		all = append(all, brief.Python(text))
	}
	return function + "(" + strings.Join(all, ", ") + ")"
}
