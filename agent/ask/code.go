package ask

import (
	"errors"
	"slices"
	"strings"
)

var errNoCode = errors.New("it has no code block")

// Code is the code of the reply's Python block, or if there is none, of a block without a language.
var Code = Format[string]{
	Rule: "Reply with one ```python code block that holds the whole code, and nothing else.",
	Parse: reads("solution", func(form solution, noCode error) (string, error) { return form.Code, noCode },
		"readings"),
}

// codeOf returns the code of a field in JSON, or of entries; the error is errNoCode if there is
// none. Of several blocks one is the whole if it holds more than all others together, and those
// that follow are parts of it: models show excerpts, too.
func codeOf(inJSON string, entries []entry) (string, error) {
	blocks := pieces(inJSON)
	switch isSaid := !nothing().MatchString(inJSON); {
	case isSaid && len(blocks) == 1:
		return strings.TrimRight(strings.TrimLeft(inJSON, "\n"), " \t\n"), nil
	case !isSaid:
		for _, e := range entries {
			blocks = append(blocks, e.block)
		}
	}
	blocks = slices.DeleteFunc(blocks, func(p piece) bool { return !p.isCode })
	isPython := func(p piece) bool { return p.Language == "python" && p.Code != "" }
	language := ""
	if slices.ContainsFunc(blocks, isPython) {
		language = "python"
	}
	var all []string
	for _, p := range blocks {
		if p.Language == language && p.Code != "" {
			all = append(all, p.Code)
		}
	}
	if len(all) == 0 {
		return "", errNoCode
	}
	whole := slices.MaxFunc(all, func(a, b string) int { return len(a) - len(b) })
	goesOn := slices.ContainsFunc(all[slices.Index(all, whole):], func(code string) bool {
		return !strings.Contains(whole, code)
	})
	if goesOn || 2*len(whole) <= len(strings.Join(all, "")) {
		return "", errors.New("it has several code blocks, and none is the whole")
	}
	return whole, nil
}
