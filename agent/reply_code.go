package agent

import (
	"errors"
	"slices"
	"strings"

	"dsstar/notebook/lazy"
)

var (
	errNoCode    = errors.New("it has no code block")
	errNotClosed = errors.New("its code block is not closed")
	errSeveral   = errors.New("it has several code blocks, and none is the whole")
	errSplit     = errors.New("it has several code blocks, and the longest needs another")
	errString    = errors.New("its code block ends within a string")
	errSession   = errors.New("its code is the transcript of a session")
)

// parseCode returns the code of the reply's Python block, or block without a
// language if there is none; failing that, a reply that is Python from its
// first line to its last.
func parseCode(reply string) (string, error) { return read(reply, longest, codeIn) }

func codeIn(text string) (string, error) {
	fields, object, err := jsonFields(text)
	if err != nil {
		return "", err
	}
	if object {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == "code" || f.name == "python" })
		if i < 0 {
			return "", errNoCode
		}
		text = strings.ReplaceAll(fields[i].value, "\r\n", "\n")
	}
	blocks, talk := codeBlocks(text)
	if len(blocks) == 0 {
		blocks, talk = taggedCode(text)
	}
	switch {
	case len(blocks) == 0 && (object || isPython(text)):
		return cell(text)
	case len(blocks) == 0:
		return "", errNoCode
	case !talk && !slices.ContainsFunc(blocks, func(b block) bool { return b.code != "" }):
		return "", errEmpty
	case !blocks[len(blocks)-1].closed && (len(blocks) > 1 || !isPython(blocks[0].code)):
		return "", errNotClosed
	}
	code, err := whole(candidates(blocks))
	if err != nil {
		return "", err
	}
	return cell(code)
}

// candidates are the blocks that may be the code: those marked as Python and
// those that are not marked but are nothing else; if there are none of the
// first, all that are not marked.
func candidates(blocks []block) []string {
	var marked, plain []string
	isMarked := false
	for _, b := range blocks {
		switch {
		case b.isPython():
			marked, isMarked = append(marked, b.code), true
		case b.info == "":
			plain = append(plain, b.code)
			if isPython(b.code) {
				marked = append(marked, b.code)
			}
		}
	}
	if isMarked {
		return marked
	}
	return plain
}

// whole is the block that is longer than all others together, as models show
// excerpts beside the whole. It must stand without the others: a program in
// pieces is not put together, as nothing says how.
func whole(codes []string) (string, error) {
	best, total := -1, 0
	for i, code := range codes {
		total += len(code)
		if best < 0 || len(code) > len(codes[best]) {
			best = i
		}
	}
	switch {
	case best < 0 || codes[best] == "":
		return "", errNoCode
	case 2*len(codes[best]) <= total:
		return "", errSeveral
	}
	code := codes[best]
	if len(codes) == 1 {
		return code, nil
	}
	has := namesIn(code)
	bound, lines := boundNames(code), linesOf(code)
	for i, other := range codes {
		for name := range boundNames(other) {
			if has[name] && !bound[name] {
				return "", errSplit
			}
		}
		for line := range linesOf(other) {
			if i > best && !lines[line] {
				return "", errSplit // what comes after the whole goes on from it
			}
		}
	}
	return code, nil
}

var (
	cellMark   = lazy.Regexp(`^#[ \t]?%%.*(?:\n|$)`)
	promptMark = lazy.Regexp(`^In[ \t]?\[[ \d]*\]:[ \t]?`)
	bareName   = lazy.Regexp(`(?i)^(?:python3?|ipython)[ \t]*\n`)
	transcript = lazy.Regexp(`(?m)^(?:In ?\[[ \d]*\]:|Out ?\[\d*\]:|>>> |[ \t]+\.\.\.:)`)
)

// cell is the code as it is run: without the marks of a notebook's cell in its
// first line.
func cell(code string) (string, error) {
	code = strings.TrimLeft(bareName().ReplaceAllString(strings.TrimLeft(code, "\n"), ""), "\n")
	code = strings.TrimLeft(cellMark().ReplaceAllString(code, ""), "\n")
	code = strings.TrimRight(promptMark().ReplaceAllString(code, ""), " \t\n")
	switch {
	case code == "":
		return "", errNoCode
	case transcript().MatchString(code):
		return "", errSession
	case !strings.HasPrefix(code, "%%") && endsInString(code):
		return "", errString // a fence in it looked like its end
	}
	return code, nil
}

// A block is what stands between two fences.
type block struct {
	info   string // the words after the opening fence, in small letters
	code   string
	closed bool
}

var pythonInfo = lazy.Regexp(`^(?:\{code-cell\}\s*)?\{?\s*\.?(?:i?python|py)(?:[23](?:\.\d+)?)?(?:$|[\s{}:,;])`)

func (b block) isPython() bool {
	return pythonInfo().MatchString(b.info) || b.info == "{code-cell}"
}

// fenceLine opens or closes a code block: ``` or ~~~, three or more, in a list
// or a quotation too, with words after the opening one.
var fenceLine = lazy.Regexp("^((?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\\d{1,3}[.)])[ \t]+)?)(`{3,}|~{3,})[ \t]*([^`]*?)[ \t]*$")

// A fence is the one that is open at a line of a text; none if it has no marks.
type fence struct{ before, marks, info string }

func (f fence) isOpen() bool { return f.marks != "" }

// after is the fence that is open after one more line.
func (f fence) after(line string) fence {
	if !strings.Contains(line, "```") && !strings.Contains(line, "~~~") {
		return f
	}
	m := fenceLine().FindStringSubmatch(strings.TrimRight(line, "\n"))
	switch {
	case m == nil:
	case !f.isOpen():
		return fence{m[1], m[2], strings.ToLower(m[3])}
	case m[3] == "" && strings.HasPrefix(m[2], f.marks) && strings.Trim(m[1], "> \t") == "" && len(m[1]) <= len(f.before)+3:
		return fence{}
	}
	return f
}

// codeBlocks returns the blocks of a text, and whether anything else is there.
// The last may not be closed.
func codeBlocks(text string) (blocks []block, talk bool) {
	var open fence
	var lines []string
	for line := range strings.Lines(text) {
		next := open.after(line)
		switch {
		case open.isOpen() && !next.isOpen():
			blocks = append(blocks, block{open.info, open.content(lines), true})
			lines = nil
		case open.isOpen():
			lines = append(lines, line)
		case !next.isOpen() && strings.TrimSpace(line) != "":
			talk = true
		}
		open = next
	}
	if open.isOpen() {
		blocks = append(blocks, block{open.info, open.content(lines), false})
	}
	return blocks, talk
}

// content is the code of a fence's lines, without empty ones around it, and
// without the marks of a quotation or the indent of a list item before each
// line. All lines lose the same, or their indents would mean something else.
func (f fence) content(lines []string) string {
	if strings.Contains(f.before, ">") {
		for i, line := range lines {
			line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), ">")
			lines[i] = strings.TrimPrefix(line, " ")
		}
	}
	common := len(f.before)
	for _, line := range lines {
		if indent := len(line) - len(strings.TrimLeft(line, " \t")); strings.TrimSpace(line) != "" {
			common = min(common, indent)
		}
	}
	var b strings.Builder
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			line = line[common:]
		}
		b.WriteString(line)
	}
	return strings.TrimRight(strings.TrimLeft(b.String(), "\n"), " \t\n")
}

var (
	openingTags = lazy.Regexp(`(?im)^[ \t]*<(?:pre|code|python)\b[^<>\n]*>(?:[ \t]*<(?:code|python)\b[^<>\n]*>)?`)
	closingTags = lazy.Regexp(`(?im)</(?:pre|code|python)>(?:[ \t\n]*</pre>)?[ \t]*$`)
	otherTags   = lazy.Regexp(`(?i)(?:language|lang)[-="']+(\w+)`)
)

// taggedCode is codeBlocks for HTML: one pair of tags around code, each at its
// end of a line.
func taggedCode(text string) (blocks []block, talk bool) {
	if !strings.Contains(text, "</") {
		return nil, true
	}
	opening, closing := openingTags().FindAllStringIndex(text, 2), closingTags().FindAllStringIndex(text, 2)
	if len(opening) != 1 || len(closing) != 1 || opening[0][1] > closing[0][0] {
		return nil, true
	}
	info := ""
	if m := otherTags().FindStringSubmatch(text[opening[0][0]:opening[0][1]]); m != nil {
		info = strings.ToLower(m[1])
	}
	lines := slices.Collect(strings.Lines(text[opening[0][1]:closing[0][0]]))
	around := text[:opening[0][0]] + text[closing[0][1]:]
	return []block{{info, fence{}.content(lines), true}}, strings.TrimSpace(around) != ""
}
