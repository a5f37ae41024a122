package memory

import (
	"path"
	"strings"

	"dsstar/notebook/lazy"
)

// A Fact is a definition or rule, with where it comes from.
type Fact struct {
	Text   string `json:"text"`
	Source string `json:"source"` // "manual.md, section 5"; "" if none is given
}

// String returns the fact as an item of facts.md.
func (f Fact) String() string {
	if f.Source == "" {
		return f.Text
	}
	return f.Text + sourceMark + f.Source
}

// sourceMark separates a fact from its source.
const sourceMark = " — source: "

const factsHead = `# Facts about these data

One item for each, with its source. Edit them freely: they are shown to the model as evidence.

`

const mostFacts = 10_000 // of a memory

// readFacts reads the items of a Markdown list. Of equal facts, which a merge leaves, the last counts.
func (m *Memory) readFacts(text string) {
	var all []Fact
	last := map[string]int{} // index of a text in all
	for _, part := range parts(text) {
		if f, ok := factIn(part); ok && f.Text != "" {
			last[f.Text] = len(all)
			all = append(all, f)
		}
	}
	for i, f := range all {
		if last[f.Text] == i {
			m.Facts = append(m.Facts, f)
		}
	}
	if more := len(m.Facts) - mostFacts; more > 0 {
		m.problem("%s: only the first %d facts count, %d are left out", factsFile, mostFacts, more)
		m.Facts = m.Facts[:mostFacts]
	}
}

// parts returns a text in parts: a line each, with the indented and empty lines below it.
func parts(text string) (all []string) {
	begin, end := 0, 0
	for line := range strings.Lines(text) {
		if end > begin && !strings.HasPrefix(line, " ") && strings.TrimSpace(line) != "" {
			all = append(all, text[begin:end])
			begin = end
		}
		end += len(line)
	}
	if end > begin {
		all = append(all, text[begin:end])
	}
	return all
}

// factIn returns the fact of a list's item.
func factIn(part string) (f Fact, ok bool) {
	item, ok := cutBullet(part)
	text, source, _ := strings.Cut(oneLine(item), sourceMark)
	return Fact{strings.TrimSpace(text), strings.TrimSpace(source)}, ok
}

// namedFile matches names of files in a source. Of a name with spaces it has the last word.
var namedFile = lazy.Regexp(`(?i)[\p{L}\p{N}_][\p{L}\p{N}_./-]*\.(?:csv|tsv|txt|md|pdf|docx?|html?|xml|jsonl?|ndjson|` +
	`ya?ml|xlsx?|ods|parquet|feather|arrow|avro|orc|db|sqlite3?|duckdb|log|gz|zip)\b`)

// FactsOn returns the facts that some files may support, and for each of the others the files that its
// source names.
func (m *Memory) FactsOn(files []string) (facts []Fact, gone map[Fact]string) {
	there := map[string]bool{}
	for _, file := range files {
		name := strings.ToLower(path.Base(file))
		for there[name] = true; strings.Contains(name, " "); there[name] = true {
			_, name, _ = strings.Cut(name, " ")
		}
	}
	gone = map[Fact]string{}
	for _, f := range m.Facts {
		if missing := f.missing(there); missing != "" {
			gone[f] = missing
		} else {
			facts = append(facts, f)
		}
	}
	return facts, gone
}

// missing returns the files that the source of a fact names if none of them is there, so that nothing
// supports it; "" otherwise.
func (f Fact) missing(there map[string]bool) string {
	named := namedFile().FindAllString(f.Source, -1)
	for _, name := range named {
		for part := range strings.SplitSeq(strings.ToLower(name), "/") { // it may be in an archive
			if there[part] {
				return ""
			}
		}
	}
	return strings.Join(named, ", ")
}

func cutBullet(line string) (string, bool) {
	for _, bullet := range []string{"- ", "* "} {
		if item, ok := strings.CutPrefix(line, bullet); ok {
			return item, true
		}
	}
	return "", false
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
