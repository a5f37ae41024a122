package memory

import (
	"path"
	"slices"
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

// readFacts reads the items of a Markdown list. Of equal facts, which a merge leaves, the last counts.
func (m *Memory) readFacts(text string) {
	for _, part := range parts(text) {
		if f, ok := factIn(part); ok && f.Text != "" {
			m.Facts = append(slices.DeleteFunc(m.Facts, func(o Fact) bool { return o.Text == f.Text }), f)
		}
	}
}

// parts returns a text in parts: a line each, with the indented and empty lines below it.
func parts(text string) (all []string) {
	for line := range strings.Lines(text) {
		if n := len(all); n > 0 && (strings.HasPrefix(line, " ") || strings.TrimSpace(line) == "") {
			all[n-1] += line
		} else {
			all = append(all, line)
		}
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

// Missing returns the files that the source of a fact names if none of them is among the files of the
// data, so that nothing supports it; "" otherwise.
func (f Fact) Missing(files []string) string {
	named := namedFile().FindAllString(f.Source, -1)
	for _, name := range named {
		for part := range strings.SplitSeq(strings.ToLower(name), "/") { // it may be in an archive
			if slices.ContainsFunc(files, func(file string) bool {
				return strings.HasSuffix(" "+strings.ToLower(path.Base(file)), " "+part)
			}) {
				return ""
			}
		}
	}
	return strings.Join(named, ", ")
}

// FactsOn returns the facts that some files may support, and the sources that are missing.
func (m *Memory) FactsOn(files []string) (facts []Fact, missing []string) {
	for _, f := range m.Facts {
		if gone := f.Missing(files); gone == "" {
			facts = append(facts, f)
		} else if !slices.Contains(missing, gone) {
			missing = append(missing, gone)
		}
	}
	return facts, missing
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
