package reply

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"dsstar/notebook/lazy"
)

var (
	thoughtTag = lazy.Regexp(`(?i)<(/?)(?:think|thinking|thought|thoughts|reasoning)>|\[(/?)THINK\]`)
	emptyFence = lazy.Regexp("^(?:`{3,}|~{3,})[^\n`~]*(?:\n\\s*(?:`{3,}|~{3,})?)?$")
)

// Visible returns a reply without the thoughts that some models send in tags before it. The
// result is never empty; an empty fence counts as empty.
func Visible(reply string) (string, error) {
	if len(reply) > longestReply {
		return "", errLong
	}
	text, err := withoutThoughts(strings.ReplaceAll(strings.TrimPrefix(reply, "\ufeff"), "\r\n", "\n"))
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(text) == "" || emptyFence().MatchString(strings.TrimSpace(text)) {
		return "", errEmpty
	}
	return strings.Trim(strings.TrimRight(text, " \t\n"), "\n"), nil
}

// withoutThoughts removes the text between thinking tags. An opening tag begins a line and
// does not count in a code block. A closing tag without an opening one ends thoughts whose
// beginning was not sent.
func withoutThoughts(text string) (string, error) {
	var seen strings.Builder
	var open fence
	thinking, thought := false, false
	inCode := 0 // opening tags there whose closing tags are to come
	for line := range strings.Lines(text) {
		from := 0
		for _, m := range thoughtTags(line) {
			opens := m[2] == m[3] && m[4] == m[5]
			first := strings.TrimLeft(line[from:m[0]], " \t") == ""
			last := strings.TrimLeft(line[m[1]:], " \t\n") == ""
			switch {
			case opens && !thinking && first && !open.isOpen():
				seen.WriteString(line[from:m[0]])
				thinking, thought = true, true
			case opens && !thinking && first:
				inCode++
			case !opens && !thinking && inCode > 0:
				inCode--
			case !opens && (thinking || thought || first || last):
				if !thinking {
					seen.Reset() // all of it was thoughts
				}
				thinking, thought, open, from, inCode = false, true, fence{}, m[1], 0
			}
		}
		if !thinking {
			seen.WriteString(line[from:])
			open = open.after(line[from:])
		}
	}
	if thinking && strings.TrimSpace(seen.String()) != "" {
		return "", errors.New("its thoughts do not end")
	}
	return seen.String(), nil
}

func thoughtTags(line string) [][]int {
	if !strings.ContainsAny(line, "<[") {
		return nil // most lines of most replies
	}
	return thoughtTag().FindAllStringSubmatchIndex(line, -1)
}

// A field is one of a JSON object, with its name in lower case.
type field struct{ name, value string }

// jsonFields returns the texts and numbers of a reply that is one JSON object, in a fence or
// not. A name that occurs twice is an error.
func jsonFields(text string) (fields []field, ok bool, err error) {
	text = strings.TrimSpace(text)
	if !strings.HasSuffix(strings.TrimRight(text, "`~ \t\n"), "}") {
		return nil, false, nil
	}
	if blocks, talk := codeBlocks(text); len(blocks) == 1 && !talk && blocks[0].closed &&
		(blocks[0].info == "" || blocks[0].info == "json") {
		text = strings.TrimSpace(blocks[0].code)
	}
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil, false, nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	_, _ = decoder.Token() // it is valid, and begins with {
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, false, err
		}
		name, _ := token.(string)
		name = strings.ToLower(strings.TrimSpace(name))
		if seen[name] {
			return nil, true, errors.New("it gives " + name + " twice")
		}
		seen[name] = true
		var value any
		if err := decoder.Decode(&value); err != nil && !errors.Is(err, io.EOF) {
			return nil, false, err
		}
		switch value := value.(type) {
		case string:
			fields = append(fields, field{name, value})
		case json.Number:
			fields = append(fields, field{name, value.String()})
		}
	}
	return fields, true, nil
}

// fieldsAsLines writes a reply that is a JSON object, or a table with a column for each
// field, as lines "name: value".
func fieldsAsLines(text string) (string, error) {
	fields, ok, err := jsonFields(text)
	if err != nil {
		return "", err
	}
	if !ok {
		isReason := func(name string) bool {
			return strings.Contains("reason missing problem", strings.ToLower(strings.Trim(name, "*_`")))
		}
		return tableAsLines(text, isReason), nil
	}
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(f.name + ": " + strings.Join(strings.Fields(f.value), " ") + "\n")
	}
	return b.String(), nil
}

var tableRule = lazy.Regexp(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$`)

// tableAsLines writes the rows of Markdown tables as lines: below a row of field names, the second
// of which isName accepts, as "name: value", any other of two columns as "first: second".
func tableAsLines(text string, isName func(string) bool) string {
	if !strings.Contains(text, "|") {
		return text
	}
	lines := strings.Split(text, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		names := cellsOf(lines[i])
		headed := i+1 < len(lines) && len(names) > 1 &&
			tableRule().MatchString(lines[i+1]) && isName(names[1])
		switch {
		case len(names) < 2:
			out = append(out, lines[i])
		case tableRule().MatchString(lines[i]):
		case headed:
			for i++; i+1 < len(lines) && len(cellsOf(lines[i+1])) == len(names); i++ {
				for n, value := range cellsOf(lines[i+1]) {
					out = append(out, names[n]+": "+value)
				}
			}
		case len(names) == 2:
			out = append(out, names[0]+": "+names[1])
		default:
			out = append(out, lines[i])
		}
	}
	return strings.Join(out, "\n")
}

// cellsOf returns the cells of a table row, a line that begins with a bar.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}
