package export

import (
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// Script returns the code cells in order as one script. A "%%" comment, which editors recognize,
// precedes each cell. Lines that only IPython understands are commented out if they are not indented.
func Script(nb *notebook.Notebook) []byte {
	var b strings.Builder
	inPython := strings.HasPrefix(strings.TrimPrefix(Language(nb), "i"), "python")
	for _, c := range nb.Cells {
		if c.Type != notebook.Code || strings.TrimSpace(c.Source) == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		source := strings.TrimRight(c.Source, "\n")
		if inPython {
			magics := magic()
			if first := strings.TrimSpace(source); strings.HasPrefix(first, "%%") &&
				!takesPython().MatchString(first) {
				magics = anyLine()
			}
			source = magics.ReplaceAllString(source, "# $0")
		}
		b.WriteString("# %%\n" + source + "\n")
	}
	return []byte(b.String())
}

var (
	magic = lazy.Regexp(`(?m)^(?:%{1,2}[a-z]\w|!\S|\?\w|` +
		`\w[\w.]*\?{1,2}[ \t]*$|\w[\w., ]*=[ \t]*[%!]\w).*`)
	// cell magics whose cells are Python
	takesPython = lazy.Regexp(`^%%(?:time|timeit|capture|prun|memit|mprun|python3?|pypy|debug)\b`)
	anyLine     = lazy.Regexp(`(?m)^.*$`)
)
