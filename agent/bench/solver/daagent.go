package solver

import (
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
	c, err := d.newChat("da-agent", "Observation: you are in the folder now.", d.options.Memory,
		prompts.DAAgent{Steps: d.options.Steps, Seconds: actionSeconds})
	if err != nil {
		return "", false, err
	}
	var last act
	unread, repeated := 0, 0
	return c.talk(ctx, "Step", d.options.Steps, func(text, problem string) move {
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
			return move{said: thoughtOf(text), shown: "Terminate", ends: true, answer: a.code, finished: true}
		}
		last, repeated = a, 0
		return move{said: thoughtOf(text), cells: []string{a.cell()}}
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
	thoughtMark  = regexp.MustCompile(`(?i)^[\s*_#>]*"?thought"?[*_]*\s*:[*_]*`)
	anotherMark  = regexp.MustCompile(
		`(?m)^[\s*_#>]*(?:Thought|Action|Bash|Python|SQL|Terminate)[*_]*\s*[(:]`,
	)
	actionBegin = regexp.MustCompile(`\b(Bash|Python|SQL|Terminate)\s*\(`)
	// arguments end at the last bracket at the end of a line; those of Python, which code follows, at
	// the first one
	toLastBracket = regexp.MustCompile("(?s)^(.*)\\)[ \t]*[:.`*]*[ \t]*(?:\n|$)")
	toBracket     = regexp.MustCompile(`^([^)\n]*)\)`)
	argumentName  = regexp.MustCompile(
		`(?:^|["'\x60]\s*(,))\s*(file_?path|save_path|path|command|code|sql|output)\s*=\s*`)
)

const noAction = "it has no action"

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
		return act{}, noAction
	}
	kind, text, to := strings.ToLower(text[m[2]:m[3]]), text[m[1]:], toBracket
	if kind != "python" {
		to = toLastBracket
		if next := anotherMark.FindStringIndex(text); next != nil {
			text = text[:next[0]] // one action only
		}
	}
	given := to.FindStringSubmatch(text)
	if given == nil {
		return act{}, "the brackets or quotes of its action are not closed"
	}
	values := arguments(given[1])
	a = act{kind: kind, file: first(values, "file_path", "filepath", "save_path", "path")}
	switch kind {
	case "bash":
		a.code = first(values, "code", "command", "")
	case "terminate":
		a.code = first(values, "output", "")
		return a, ""
	case "sql":
		a.code, a.output = first(values, "command", "code", "sql"), first(values, "output")
	case "python":
		if blocks := ask.Blocks(text[len(given[0]):]); len(blocks) > 0 {
			a.code = blocks[0].Code
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

// thoughtOf returns what a reply says before its action.
func thoughtOf(text string) string {
	if m := actionMark.FindStringIndex(text); m != nil {
		text = text[:m[0]]
	} else if m := actionBegin.FindStringIndex(text); m != nil {
		text = text[:m[0]]
	}
	return strings.TrimSpace(thoughtMark.ReplaceAllString(text, ""))
}

func first(values map[string]string, names ...string) string {
	for _, name := range names {
		if v := values[name]; v != "" {
			return v
		}
	}
	return ""
}

// arguments reads the arguments of an action: values by name, or one without a name. Models do not
// always escape quotes within a quoted value, so it ends where the next name begins.
func arguments(text string) map[string]string {
	values, name, begin := map[string]string{}, "", 0
	for _, m := range argumentName.FindAllStringSubmatchIndex(text, -1) {
		if comma := m[2]; comma > 0 {
			values[name] = unquoted(text[begin:comma])
		}
		name, begin = text[m[4]:m[5]], m[1]
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
