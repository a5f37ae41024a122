package definitions

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"dsstar/agent/memory/lesson"
	"dsstar/notebook/lazy"
)

var (
	frontMatter = lazy.Regexp(`(?s)\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\z)`)
	titleMarks  = lazy.Regexp("^[`*_]*(?:\\d+(?:\\.\\d+)*[.)]\\s+)?[`*_]*|[`*_:\\s]*$") // 2.1. `Revenue`:
	alsoAside   = lazy.Regexp("(?i)[`*_:\\s]*\\(also:?\\s+([^()]*)\\)$")
	alsoLine    = lazy.Regexp(`(?mi)^\W*(?:also|also known as|aka|synonyms?)\b\W*:(.*)$`)
	pythonBlock = lazy.Regexp("(?msi)^(```|~~~)(?:python|py)\\b[^\n]*\n(.*?)^(?:```|~~~)[`~]*[ \t]*(?:\n|\\z)")
	onlyFacts   = lazy.Regexp(`\A(?:\s*[-*] [^\n]*(?:\n[ \t]+[^\n]*)* — source: [^\n]+)+\s*\z`)
	// partTitle is of a heading that is no term but a part of what is said of one.
	partTitle = lazy.Regexp(`(?i)^(?:meaning|definition|description|units?|filters?|formula|calculation|code|` +
		`sql|python|query|examples?|notes?|sources?|columns?|exceptions?|caveats?|scope|also|synonyms)$`)
	// fileTitle is of a document, which others may have, too.
	fileTitle = lazy.Regexp(`(?i)definition|glossar|dictionar|convention|terms|metrics`)
	// dataFile is the name of one; what is below it corrects its description.
	dataFile = lazy.Regexp(`(?i)^\S+\.(?:csv|tsv|txt|jsonl?|ndjson|parquet|xlsx?|xlsm|db|sqlite3?|` +
		`duckdb|feather|arrow|orc|avro|md|pdf|html?|xml|ya?ml|pkl|zip|gz|bz2|zst|xz|dat|sav|dta|h5|nc|docx|log)$`)
)

// markdown reads the definitions of a file: a heading is a term, and its meaning what stands below
// it and below the headings of lower levels. Those below a title, and below a heading without a
// text of its own, are terms themselves.
func markdown(f File) (all []Definition, err error) {
	if !utf8.Valid(f.Text) || bytes.IndexByte(f.Text, 0) >= 0 {
		return nil, fmt.Errorf("%s is no text in UTF-8", f.Name)
	}
	if f.Name == "facts.md" {
		return nil, nil
	}
	said := strings.ReplaceAll(strings.TrimPrefix(string(f.Text), "\ufeff"), "\r\n", "\n")
	if front := frontMatter().FindString(said); front != "" {
		said = strings.Repeat("\n", strings.Count(front, "\n")) + said[len(front):]
	}
	if at := strings.Index("\n"+said, "\n<<<<<<< "); at >= 0 {
		return nil, fmt.Errorf("%s, line %d: git has left a conflict", f.Name, 1+strings.Count(said[:at], "\n"))
	}
	said += "\n" // each line has an end
	sections := lesson.Sections(said)
	for i := 0; i < len(sections); {
		s, next, title := sections[i], i+1, titleOf(sections[i])
		for next < len(sections) && sections[next].Level > s.Level {
			next++
		}
		whole := said[s.Body:sections[next-1].End]
		isTitle := s.Level == 1 && next-i == len(sections) || strings.TrimSpace(said[s.Body:s.End]) == ""
		switch {
		case dataFile().MatchString(title):
			whole = ""
		case isTitle && next > i+1 && !partTitle().MatchString(titleOf(sections[i+1])):
			whole, next = said[s.Body:s.End], i+1
			if fileTitle().MatchString(title) {
				title += " (" + f.Name + ")"
			}
		}
		i = next
		d := Definition{Term: title, Place: fmt.Sprintf("%s, line %d", f.Name, s.Line)}
		if err := d.read(whole); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Place, err)
		}
		if d.Text+d.Code != "" && !onlyFacts().MatchString(d.Text) {
			all = append(all, d)
		}
	}
	return all, nil
}

// titleOf returns a heading without marks and a number.
func titleOf(s lesson.Section) string {
	return titleMarks().ReplaceAllString(strings.Join(strings.Fields(s.Title), " "), "")
}

// read takes other names and code out of what is said of a term; the rest is its text.
func (d *Definition) read(said string) error {
	var code []string
	for _, m := range pythonBlock().FindAllStringSubmatch(said, -1) {
		f, out := lesson.ToolIn(m[2], "")
		if f.Name == "" && (f.Test == "" || len(out) > 0) {
			continue // an example, which is text
		}
		if len(out) > 0 {
			return fmt.Errorf("the Python of %s may be a function with its imports and cases "+
				"(assert NAME(...) == VALUE), without: %.60s", d.Term, out[0])
		}
		said, code = strings.Replace(said, m[0], "", 1), append(code, strings.TrimSpace(m[2]))
	}
	d.Text, d.Code = strings.TrimSpace(said), strings.Join(code, "\n\n\n")
	lists := alsoLine().FindAllStringSubmatch(fences().ReplaceAllString(said, "\n"), -1)
	if m := alsoAside().FindStringSubmatchIndex(d.Term); m != nil && m[0] > 0 {
		lists = append(lists, []string{"", d.Term[m[2]:m[3]]})
		d.Term = d.Term[:m[0]]
	}
	for _, list := range lists {
		for name := range strings.FieldsFuncSeq(list[1], func(c rune) bool { return c == ',' || c == ';' }) {
			if name = strings.Trim(name, "`*_\"'. "); name != "" {
				d.Also = append(d.Also, name)
			}
		}
	}
	return nil
}
