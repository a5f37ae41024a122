package solver

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/prompts"
)

const (
	actionSeconds = 300 // as in actions.py
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
	c := d.newChat("da-agent", d.options.Memory,
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

var (
	actionMark   = regexp.MustCompile(`(?im)^[\s*_#>]*"?action"?[*_]*\s*:?[*_]*`)
	observedMark = regexp.MustCompile(`(?im)^[\s*_#>]*"?observation"?[*_]*\s*:`)
	anotherMark  = regexp.MustCompile(
		`(?m)^[\s*_#>]*(?:Thought|Action|Bash|Python|SQL|Terminate)[*_]*\s*[(:]`,
	)
	actionBegin = regexp.MustCompile(`\b(Bash|Python|SQL|Terminate)\s*\(`)
	// arguments end at the last bracket at the end of a line
	toBracket    = regexp.MustCompile("(?s)^(.*)\\)[ \t]*[:.`*]*[ \t]*(?:\n|$)")
	argumentName = regexp.MustCompile(
		`(?:^|["'\x60]\s*(,))\s*(file_?path|save_path|path|command|code|sql|output)\s*=\s*`)
)

// takes are the arguments of actions, as functions of actions.py take them.
var takes = map[string][]string{"Bash": {"code"}, "Python": {"path", "code"}, "SQL": {"path", "code", "output"}}

// actionOf returns the action of a reply. It ignores an observation that the model made up, and
// what follows it.
func actionOf(text string) move {
	if m := actionMark.FindStringIndex(text); m != nil {
		text = text[m[1]:]
	}
	if m := observedMark.FindStringIndex(text); m != nil {
		text = text[:m[0]]
	}
	m := actionBegin.FindStringSubmatchIndex(text)
	if m == nil {
		return move{problem: "it has no action"}
	}
	kind, text := text[m[2]:m[3]], text[m[1]:]
	blocks := append(ask.Blocks(text), ask.Block{}) // of Python, behind its arguments
	if kind == "Python" {
		text, _, _ = strings.Cut(text, "```")
	} else if next := anotherMark.FindStringIndex(text); next != nil {
		text = text[:next[0]] // one action only
	}
	given := toBracket.FindStringSubmatch(text)
	if given == nil {
		return move{problem: "the brackets or quotes of its action are not closed"}
	}
	values := arguments(given[1])
	if kind == "Terminate" {
		return move{ends: true, finished: true, answer: cmp.Or(values["output"], values["code"])}
	} else if kind == "Python" {
		values["code"] = blocks[0].Code
	}
	var all []string
	for _, name := range takes[kind] {
		if values[name] == "" && name != "output" {
			return move{problem: "its " + kind + " action has no " + name}
		}
		all = append(all, literal(values[name]))
	}
	return move{cell: strings.ToLower(kind) + "(" + strings.Join(all, ", ") + ")"}
}

// arguments reads the arguments of an action: by their names, or code without one. Models do not
// always escape quotes within a quoted value, so it ends where the next name begins.
func arguments(text string) map[string]string {
	values, name, begin := map[string]string{}, "code", 0
	for _, m := range argumentName.FindAllStringSubmatchIndex(text, -1) {
		if comma := m[2]; comma > 0 {
			values[name] = unquoted(text[begin:comma])
		}
		begin, name = m[1], text[m[4]:m[5]]
		if strings.HasSuffix(name, "path") {
			name = "path"
		} else if name != "output" {
			name = "code"
		}
	}
	values[name] = unquoted(text[begin:])
	return values
}

// unquoted returns a value without its quotes, and their escapes.
func unquoted(text string) string {
	text = strings.TrimSpace(text)
	for _, quote := range []string{`"""`, `'''`, "```", `"`, `'`, "`"} {
		if inner, ok := strings.CutPrefix(text, quote); ok && strings.HasSuffix(inner, quote) {
			return strings.ReplaceAll(strings.TrimSuffix(inner, quote), `\`+quote, quote)
		}
	}
	return text
}
