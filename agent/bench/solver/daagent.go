package solver

import (
	"cmp"
	"context"
	"fmt"
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
	var last act
	unread, repeated := 0, 0
	return c.talkOn(ctx, "step", d.options.Steps, func(text, problem string) move {
		var a act
		if problem == "" {
			a, problem = parseAct(text)
		}
		switch {
		case problem != "":
			unread++
			return move{problem: problem, ends: unread > mostUnread,
				rule: "Reply with a thought and one action, in the form that was given."}
		case a == last:
			repeated++
			return move{problem: "its action is the last one again", rule: "Take another action.",
				ends: repeated > mostRepeated}
		case a.kind == "terminate":
			return move{ends: true, answer: a.code, finished: true}
		}
		last, repeated = a, 0
		return move{cell: a.cell()}
	})
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
		`(?:^|["'\x60]\s*(,))\s*(?:(file_?path|save_path|path)|(command|code|sql)|output)\s*=\s*`)
)

// parseAct returns the action of a reply. It ignores an observation that the model made up, and
// what follows it.
func parseAct(text string) (a act, problem string) {
	if m := actionMark.FindStringIndex(text); m != nil {
		text = text[m[1]:]
	}
	if m := observedMark.FindStringIndex(text); m != nil {
		text = text[:m[0]]
	}
	m := actionBegin.FindStringSubmatchIndex(text)
	if m == nil {
		return act{}, "it has no action"
	}
	kind, text := strings.ToLower(text[m[2]:m[3]]), text[m[1]:]
	var code []ask.Block // of Python, behind its arguments
	if kind == "python" {
		code = ask.Blocks(text)
		text, _, _ = strings.Cut(text, "```")
	} else if next := anotherMark.FindStringIndex(text); next != nil {
		text = text[:next[0]] // one action only
	}
	given := toBracket.FindStringSubmatch(text)
	if given == nil {
		return act{}, "the brackets or quotes of its action are not closed"
	}
	a = arguments(given[1])
	a.kind = kind
	switch kind {
	case "terminate":
		return act{kind: kind, code: cmp.Or(a.output, a.code)}, ""
	case "bash":
		a.file, a.output = "", ""
	case "python":
		a.code, a.output = "", ""
		if len(code) > 0 {
			a.code = code[0].Code
		}
	}
	switch {
	case kind == "python" && a.code == "":
		return act{}, "its Python action has no code block"
	case a.code == "":
		return act{}, "its action has no command"
	case kind != "bash" && a.file == "":
		return act{}, "its action has no file_path"
	}
	return a, ""
}

// arguments reads the arguments of an action: by their names, or code without one. Models do not
// always escape quotes within a quoted value, so it ends where the next name begins.
func arguments(text string) (a act) {
	value, begin := &a.code, 0
	for _, m := range argumentName.FindAllStringSubmatchIndex(text, -1) {
		if comma := m[2]; comma > 0 {
			*value = unquoted(text[begin:comma])
		}
		begin = m[1]
		switch {
		case m[4] >= 0:
			value = &a.file
		case m[6] >= 0:
			value = &a.code
		default:
			value = &a.output
		}
	}
	*value = unquoted(text[begin:])
	return a
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
