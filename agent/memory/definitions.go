package memory

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// definitionsFolder has Markdown that people write.
const definitionsFolder = "definitions"

// readDefinitions reads the sections of the files of Markdown, in the order of the files' names.
func (m *Memory) readDefinitions() {
	for _, name := range m.namesIn(definitionsFolder, ".md") {
		text := m.sound(path.Join(definitionsFolder, name+".md"), "its text is")
		m.sections = append(m.sections, sections(text)...)
	}
}

// A section is a heading with the text up to the next one.
type section struct {
	level   int // 0: the beginning of a file
	heading string
	text    string // with the line of the heading
}

// headingLine is a heading of Markdown, which may end at the mark; fenceLine begins or ends code.
var (
	headingLine = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*))?\s*$`)
	fenceLine   = regexp.MustCompile("^ {0,3}(```+|~~~+)")
)

// sections parts Markdown at its headings. Lines of code blocks are no headings.
func sections(text string) []section {
	all, fence := []section{{}}, ""
	for line := range strings.Lines(text) {
		mark := fenceLine.FindStringSubmatch(line)
		heading := headingLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case fence == "" && mark != nil:
			fence = mark[1]
		case mark != nil && strings.HasPrefix(mark[1], fence) &&
			strings.Trim(strings.TrimSpace(line), fence[:1]) == "":
			fence = ""
		case fence == "" && heading != nil:
			all = append(all, section{len(heading[1]), strings.Trim(strings.TrimSpace(heading[2]), "`"), ""})
		}
		all[len(all)-1].text += line
	}
	return all
}

// Corrections returns what people say of the data files: the text below a heading that is a file's
// name, up to the name of another file or a heading of the same or a higher level.
func (m *Memory) Corrections(names []string) map[string]string {
	if m == nil {
		return nil
	}
	all, name, level := map[string]string{}, "", 0
	for _, s := range m.sections {
		text := s.text
		if slices.Contains(names, s.heading) {
			name, level = s.heading, s.level
			_, text, _ = strings.Cut(text, "\n")
		} else if s.level <= level {
			name, level = "", 0
		}
		if name != "" {
			all[name] += text
		}
	}
	for name, text := range all {
		if all[name] = strings.TrimSpace(text); all[name] == "" {
			delete(all, name)
		}
	}
	return all
}
