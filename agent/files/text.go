package files

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// isText reports false for formats that begin like text but are not text.
func isText(b []byte) bool { return !strings.HasPrefix(string(b[:min(5, len(b))]), "%PDF-") }

// fewLines are enough to recognize a table. If they are long, as with thousands of columns,
// more is read.
const fewLines = 5

// text looks at a file as text.
func (s source) text() (Look, bool) {
	if !isText(s.start) {
		return Look{}, false
	}
	text, encoding, ok := decode(s.start, s.whole())
	if ok && !s.whole() && strings.Count(text, "\n") < fewLines &&
		mayBeTable(strings.ToLower(path.Ext(s.name))) {
		if b, err := readStart(s.r, s.size, mostBytes); err == nil {
			s.start = b
			text, encoding, ok = decode(b, s.whole())
		}
	}
	if !ok {
		return Look{}, false
	}
	if encoding == utf8Name && !s.whole() {
		encoding = s.sampled()
	}
	look := s.structure(text)
	look.Encoding = encoding
	shown, all := lines(text, s.head)
	look.Head, look.Whole = shown, all && s.whole()
	switch {
	case encoding == unknown8:
		look.Kind += ", not in UTF-8 (encoding unknown)"
	case encoding != utf8Name:
		look.Kind += ", " + encoding
	case s.whole() && !utf8.Valid(s.start):
		look.Kind += ", some bytes are not valid UTF-8"
	}
	return look, true
}

// structure determines the kind of text: by its beginning, which is more reliable than the
// name, then as a table.
func (s source) structure(text string) Look {
	ext := strings.ToLower(path.Ext(s.name))
	trimmed := strings.TrimSpace(text[:min(len(text), 1000)])
	switch {
	case ext == ".md" || ext == ".markdown" || ext == ".rmd":
		return Look{Kind: "Markdown document", Format: "markdown", Shape: s.alone("markdown")}
	case languages[ext] != "" && s.size <= mostCode:
		return Look{Kind: languages[ext] + " source code", Format: "code"}
	case strings.HasPrefix(trimmed, "<"):
		if look, ok := s.markup(text, ext); ok {
			return look
		}
	case strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "["):
		if look, ok := s.json(text, ext); ok {
			return look
		}
	}
	if look, ok := s.table(text, ext); ok {
		return look
	}
	kind := "text"
	if s.whole() {
		kind = "text, " + count(strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1, "line")
	}
	return Look{Kind: kind, Format: "text", Shape: s.alone("text")}
}

// mostCode is the maximum size of source code. A larger file is data, such as an SQL dump.
const mostCode = 1 << 20

// languages are the programming languages by file extension.
var languages = map[string]string{
	".py": "Python", ".pyi": "Python", ".pyx": "Cython", ".ipy": "Python", ".r": "R", ".jl": "Julia", ".sql": "SQL", ".sh": "shell", ".bash": "shell",
	".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript", ".jsx": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript", ".vue": "Vue",
	".go": "Go", ".rs": "Rust", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".cs": "C#", ".java": "Java",
	".kt": "Kotlin", ".scala": "Scala", ".swift": "Swift", ".rb": "Ruby", ".php": "PHP", ".pl": "Perl", ".lua": "Lua", ".f": "Fortran", ".f90": "Fortran",
	".css": "CSS", ".scss": "CSS", ".ps1": "PowerShell", ".bat": "batch", ".do": "Stata", ".sas": "SAS",
}

// sampled detects the encoding of a long file from samples of its middle and end: an accent
// far from the beginning makes it Windows-1252.
func (s source) sampled() string {
	const size = 16 << 10
	for _, at := range []int64{s.size / 2, s.size - size} {
		b := make([]byte, size)
		n, _ := s.r.ReadAt(b, max(0, at)) // if it fails, the beginning is enough
		b = b[:n]
		for n := 0; n < utf8.UTFMax && len(b) > 0 && !utf8.RuneStart(b[0]); n++ {
			b = b[1:]
		}
		if b = trimPartial(b); !utf8.Valid(b) && controls(b) == 0 {
			return eightBit(b)
		}
	}
	return utf8Name
}

// tables lists the extensions of files that may contain a table. Other files, such as programs,
// can look like a table.
var tables = []string{"", ".csv", ".tsv", ".tab", ".psv", ".txt", ".dat", ".data", ".asc", ".out",
	".xls", ".log"}

func mayBeTable(ext string) bool { return slices.Contains(tables, ext) }

// surelyTable reports whether even one column or two lines count as a table.
func surelyTable(ext string) bool {
	return slices.Contains([]string{".csv", ".tsv", ".tab", ".psv"}, ext)
}
