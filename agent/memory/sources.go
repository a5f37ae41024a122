package memory

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/memory/lesson"
	"dsstar/notebook/lazy"
)

// headingLine is a heading of Markdown, which may end at the mark; fenceLine begins or ends code.
var (
	headingLine = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*))?\s*$`)
	fenceLine   = regexp.MustCompile("^ {0,3}(```+|~~~+)\\s*(.*)")
)

// Corrections returns what people say of the data files: the text below a heading that is a file's
// name, up to the name of another file or a heading of the same or a higher level. Lines of code
// blocks are no headings.
func (m *Memory) Corrections(names []string) map[string]string {
	if m == nil {
		return nil
	}
	texts := map[string][]byte{}
	for _, file := range m.files(definitions) {
		name, level, fence := "", 0, ""
		for line := range strings.Lines(m.texts[file]) {
			mark, heading := fenceLine.FindStringSubmatch(line), headingLine.FindStringSubmatch(line)
			switch {
			case fence == "" && mark != nil:
				fence = mark[1]
			case mark != nil && strings.HasPrefix(mark[1], fence) && mark[2] == "":
				fence = ""
			case fence == "" && heading != nil:
				title := strings.Trim(strings.TrimSpace(heading[2]), "`")
				if slices.Contains(names, title) {
					name, level = title, len(heading[1])
					continue
				}
				if len(heading[1]) <= level {
					name = ""
				}
			}
			texts[name] = append(texts[name], line...)
		}
	}
	all := map[string]string{}
	for name, text := range texts {
		if said := strings.TrimSpace(string(text)); name != "" && said != "" {
			all[name] = said
		}
	}
	return all
}

// namedFile matches names of files in a source. Of a name with spaces it has the last word.
var namedFile = lazy.Regexp(`(?i)[\p{L}\p{N}_][\p{L}\p{N}_./-]*\.(?:csv|tsv|txt|md|pdf|docx?|` +
	`html?|xml|jsonl?|ndjson|ya?ml|xlsx?|ods|parquet|feather|arrow|avro|orc|db|sqlite3?|duckdb|log|gz|zip)\b`)

// FactsOn returns the facts that some files may support. The others, of whose sources no file is
// there, are gone: it returns the files that each names.
func (m *Memory) FactsOn(files []string) (facts []lesson.Fact, gone map[lesson.Fact]string) {
	there := map[string]bool{}
	for _, file := range files {
		name := strings.ToLower(path.Base(file))
		there[name[strings.LastIndex(name, " ")+1:]] = true
	}
	gone = map[lesson.Fact]string{}
	for _, f := range m.Facts {
		named := namedFile().FindAllString(f.Source, -1)
		isThere := func(name string) bool {
			parts := strings.Split(strings.ToLower(name), "/") // it may be in an archive
			return slices.ContainsFunc(parts, func(part string) bool { return there[part] })
		}
		if len(named) == 0 || slices.ContainsFunc(named, isThere) {
			facts = append(facts, f)
		} else {
			gone[f] = strings.Join(named, ", ")
		}
	}
	return facts, gone
}
