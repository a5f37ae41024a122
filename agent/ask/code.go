package ask

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
	errSession   = errors.New("its code is the transcript of a session")
)

type codeAlone struct {
	Code string `json:"code"`
}

// Code is the code of the reply's Python block; if there is none, of a block without a
// language; and if there is no block, a reply that is Python throughout.
var Code = Format[string]{
	Rule: "Reply with one ```python code block that holds the whole code, and nothing else.",
	Parse: reads("code", func(_ codeAlone, f *said) (string, error) {
		code, err := f.code()
		if errors.Is(err, errNoCode) && isPython(f.whole) {
			return cell(f.whole)
		}
		return code, err
	}),
}

// code returns the code of a reply or a part; the error is errNoCode if there is none.
func (f *said) code() (code string, err error) {
	if len(f.blocks) > 0 {
		code, err = codeOf(f.blocks)
	} else if isPython(f.bare) {
		code, err = cell(f.bare)
	}
	if err == nil && code == "" {
		err = errNoCode
	}
	return code, err
}

// codeOf returns the code of blocks; "" if none may be Python. Of several one is the whole if it
// holds more than all others together, and those that follow are parts of it: models show excerpts,
// too.
func codeOf(blocks []piece) (string, error) {
	last := blocks[len(blocks)-1]
	if !last.closed && (len(blocks) > 1 || !isPython(last.block().Code)) {
		return "", errNotClosed
	}
	var all []string
	total := 0
	for _, language := range []string{"python", ""} {
		for _, p := range blocks {
			if b := p.block(); b.Language == language && b.Code != "" {
				all, total = append(all, b.Code), total+len(b.Code)
			}
		}
		if len(all) > 0 {
			break
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	whole := slices.MaxFunc(all, func(a, b string) int { return len(a) - len(b) })
	goesOn := slices.ContainsFunc(all[slices.Index(all, whole):], func(code string) bool {
		return !strings.Contains(whole, code)
	})
	if goesOn || 2*len(whole) <= total {
		return "", errSeveral
	}
	return cell(whole)
}

var (
	cellMarks  = lazy.Regexp(`^(?:i?python3?[ \t]*\n+)?(?:#[ \t]?%%.*(?:\n|$)\n*)?(?:In[ \t]?\[[ \d]*\]:[ \t]?)?`)
	transcript = lazy.Regexp(`(?m)^(?:In ?\[[ \d]*\]:|Out ?\[\d*\]:|>>> |[ \t]+\.\.\.:)`)
	statement  = lazy.Regexp(`^(?:import\s+\w|from\s+\S+\s+import\b|(?:return|raise|assert|await|global|del)\s` +
		`|(?:async\s+)?(?:def|class|if|elif|for|while|with|try|except|else|finally)\b.*[:(,\[{\\]\s*(?:#.*)?$` +
		`|[@%!]\w|[)\]}]|[rf]?"""|'''` +
		`|[\w.]+(?:\[.*\])?(?:\s*,\s*[\w.]+(?:\[.*\])?)*\s*(?::[^=]+)?[-+*/|&%]*=[^=]` +
		`|[\w.]+(?:\[[^\]]*\][\w.]*)*\()`)
)

// isPython reports whether a text without a block is code: each line at the margin begins like a
// statement.
func isPython(text string) bool {
	does := false
	for i, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if i == 0 {
				return false
			}
		case !statement().MatchString(line):
			return false
		default:
			does = true
		}
	}
	return does
}

// cell returns the code as it runs, without the marks of a notebook cell in its first line; "" if
// there is none.
func cell(code string) (string, error) {
	code = strings.TrimLeft(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
	code = strings.TrimRight(cellMarks().ReplaceAllString(code, ""), " \t\n")
	switch {
	case transcript().MatchString(code):
		return "", errSession
	case strings.TrimSpace(code) == "":
		return "", nil
	}
	return code, nil
}
