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
	kind, text := strings.ToLower(text[m[2]:m[3]]), text[m[1]:]
	if next := anotherMark.FindStringIndex(text); next != nil && kind != "python" {
		text = text[:next[0]] // one action only
	}
	values, after, ok := arguments(text, kind != "python")
	if !ok {
		return act{}, "the brackets or quotes of its action are not closed"
	}
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
		if blocks := reply.Blocks(after); len(blocks) > 0 {
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

var argumentName = regexp.MustCompile(`^\s*([a-z_]+)\s*=\s*`)

// arguments reads the arguments of an action: values by name, or one without a name. after is
// what follows the closing bracket. nothingFollows makes that the last possible bracket.
func arguments(text string, nothingFollows bool) (values map[string]string, after string, ok bool) {
	values = map[string]string{}
	for {
		name := ""
		if m := argumentName.FindStringSubmatch(text); m != nil {
			name, text = m[1], text[len(m[0]):]
		}
		value, rest, ok := argument(strings.TrimLeft(text, " \t\n"), nothingFollows)
		if !ok {
			return nil, "", false
		}
		values[name] = value
		rest = strings.TrimLeft(rest, " \t\n")
		if after, ok := strings.CutPrefix(rest, ")"); ok {
			return values, after, true
		}
		if text, ok = strings.CutPrefix(rest, ","); !ok {
			return nil, "", false
		}
	}
}

var (
	bracketFollows = regexp.MustCompile("^\\s*\\)[ \t]*[:.`*]*[ \t]*(?:\n|$)")
	nameFollows    = regexp.MustCompile(`^\s*,\s*(?:file_?path|save_path|command|code|sql|output)\s*=`)
)

// argument reads one value. Models do not always escape quotes within a quoted value, so it ends
// at the quote before another argument's name, or else before the closing bracket. With last,
// that is the last bracket at the end of a line.
func argument(text string, last bool) (value, rest string, ok bool) {
	for _, quote := range []string{`"""`, `'''`, "```", `"`, `'`, "`"} {
		if inner, quoted := strings.CutPrefix(text, quote); quoted {
			end := endOf(inner, quote, last)
			if end < 0 {
				return "", "", false
			}
			value = inner[:end]
			if len(quote) == 1 {
				value = strings.ReplaceAll(value, `\`+quote, quote)
			}
			return value, inner[end+len(quote):], true
		}
	}
	end := strings.IndexAny(text, ",)")
	if end < 0 {
		return "", "", false
	}
	return strings.TrimSpace(text[:end]), text[end:], true
}

// endOf returns the index in text at which the quoted value ends, or -1.
func endOf(text, quote string, last bool) int {
	end := -1
	for i := 0; i+len(quote) <= len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case !strings.HasPrefix(text[i:], quote):
		case nameFollows.MatchString(text[i+len(quote):]):
			return i
		case !last && strings.HasPrefix(strings.TrimLeft(text[i+len(quote):], " \t\n"), ")"):
			return i
		case last && bracketFollows.MatchString(text[i+len(quote):]):
			end = i
		}
	}
	return end
}
