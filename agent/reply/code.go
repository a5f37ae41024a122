package reply

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

// Code is the code of the reply's Python block; if there is none, of a block without a
// language; and if there is no block, a reply that is Python throughout.
var Code = Format[string]{
	Rule:  "Reply with one ```python code block that holds the whole code, and nothing else.",
	Parse: codeIn,
}

func codeIn(text string) (string, error) {
	fields, object, err := jsonFields(text)
	if err != nil {
		return "", err
	}
	if object {
		i := slices.IndexFunc(
			fields,
			func(f field) bool { return f.name == "code" || f.name == "python" },
		)
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

// candidates returns the blocks that may be the code: those marked as Python and unmarked
// ones that can only be Python; if no block is marked, all unmarked ones.
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

// whole returns the block that is longer than all others together, since models show
// excerpts beside the whole. It must not need the others: a program in pieces is not put
// together.
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

// cell returns the code as it runs, without the marks of a notebook cell in its first line.
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
