package solver

import (
	"regexp"
	"strings"

	"dsstar/agent/reply"
)

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
		if blocks := reply.Blocks(text[len(given[0]):]); len(blocks) > 0 {
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
