package export

import (
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// Script returns the code cells in order as one script. A "%%" comment, which editors recognize,
// precedes each cell. Lines that only IPython understands are commented out; commented is their
// number.
func Script(nb *notebook.Notebook) (script []byte, commented int) {
	language := Language(nb)
	mark, python := "#", strings.HasPrefix(language, "python") ||
		strings.HasPrefix(language, "ipython")
	switch language {
	case "javascript", "typescript", "java", "scala", "go", "rust", "c++", "c", "c#", "kotlin", "swift":
		mark = "//"
	case "sql", "haskell", "lua":
		mark = "--"
	}
	var b strings.Builder
	for _, c := range nb.Cells {
		if c.Type != notebook.Code || strings.TrimSpace(c.Source) == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		source := strings.TrimRight(c.Source, "\n")
		if python {
			var n int
			source, n = withoutMagics(source)
			commented += n
		}
		b.WriteString(mark + " %%\n" + source + "\n")
	}
	return []byte(b.String()), commented
}

// Extension returns the file extension of scripts in the notebook's language.
func Extension(nb *notebook.Notebook) string {
	info, _ := nb.Metadata["language_info"].(map[string]any)
	if ext, _ := info["file_extension"].(string); fileEnding().MatchString(ext) {
		return ext
	}
	if l := Language(nb); strings.HasPrefix(l, "python") || strings.HasPrefix(l, "ipython") {
		return ".py"
	}
	return ".txt"
}

var fileEnding = lazy.Regexp(`^\.\w{1,10}$`)

var magic = lazy.Regexp(`^\s*(?:%{1,2}\w|!|\?|\w[\w.]*\?{1,2}\s*$|\w[\w., ]*=\s*[%!]\w)`)

// withoutMagics comments out the lines that only IPython understands, as jupytext does. In a cell
// for another language (%%bash), it comments out every line.
func withoutMagics(source string) (python string, commented int) {
	lines := strings.Split(source, "\n")
	first := strings.TrimSpace(lines[0])
	all := strings.HasPrefix(first, "%%") && !ofPython(first)
	var s scanner
	for i, line := range lines {
		if all || s.fresh() && magic().MatchString(line) {
			commented++
			indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
			lines[i] = indent + "# " + line[len(indent):]
			if !all && indent != "" {
				lines[i] = indent + "pass  # " + line[len(indent):] // may be a block's only line
			}
			continue
		}
		s.read(line)
	}
	return strings.Join(lines, "\n"), commented
}

// ofPython reports whether a cell magic takes Python code.
func ofPython(magic string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(magic, "%%"), " ")
	switch name {
	case "time", "timeit", "capture", "prun", "memit", "mprun", "python", "python3", "pypy", "debug":
		return true
	}
	return false
}

// A scanner tracks whether a line of Python begins a statement.
type scanner struct {
	depth int    // number of open brackets
	quote string // quote of the open string; "": none
	goes  bool   // the last line ended in a backslash
}

func (s *scanner) fresh() bool { return s.depth <= 0 && s.quote == "" && !s.goes }

func (s *scanner) read(line string) {
	s.goes = strings.HasSuffix(line, `\`)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case s.quote != "" && c == '\\':
			i++
		case s.quote != "":
			if strings.HasPrefix(line[i:], s.quote) {
				i += len(s.quote) - 1
				s.quote = ""
			}
		case c == '#':
			s.goes = false
			return
		case c == '\'' || c == '"':
			s.quote = line[i : i+1]
			if triple := strings.Repeat(s.quote, 3); strings.HasPrefix(line[i:], triple) {
				s.quote = triple
				i += 2
			}
		case strings.IndexByte("([{", c) >= 0:
			s.depth++
		case strings.IndexByte(")]}", c) >= 0:
			s.depth--
		}
	}
	if len(s.quote) == 1 && !s.goes {
		s.quote = "" // such a string cannot span lines
	}
}
