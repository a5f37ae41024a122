package memory

import (
	"path"
	"strings"

	"dsstar/agent/memory/lesson"
	"dsstar/notebook/lazy"
)

const factsHead = `# Facts about these data

One item for each, with its source. Edit them freely: they are shown to the model as evidence.

`

const mostFacts = 10_000 // of a memory

// readFacts reads the items of a list of Markdown.
func (m *Memory) readFacts(text string) {
	m.Facts = lesson.Facts(text)
	if more := len(m.Facts) - mostFacts; more > 0 {
		m.Problem("%s: only the first %d facts count, %d are left out", factsFile, mostFacts, more)
		m.Facts = m.Facts[:mostFacts]
	}
}

// namedFile matches names of files in a source. Of a name with spaces it has the last word.
var namedFile = lazy.Regexp(`(?i)[\p{L}\p{N}_][\p{L}\p{N}_./-]*\.(?:csv|tsv|txt|md|pdf|docx?|` +
	`html?|xml|jsonl?|ndjson|ya?ml|xlsx?|ods|parquet|feather|arrow|avro|orc|db|sqlite3?|duckdb|log|gz|zip)\b`)

// FactsOn returns the facts that some files may support, and for each of the others the files that
// its source names.
func (m *Memory) FactsOn(files []string) (facts []lesson.Fact, gone map[lesson.Fact]string) {
	there := map[string]bool{}
	for _, file := range files {
		name := strings.ToLower(path.Base(file))
		for there[name] = true; strings.Contains(name, " "); there[name] = true {
			_, name, _ = strings.Cut(name, " ")
		}
	}
	gone = map[lesson.Fact]string{}
	for _, f := range m.Facts {
		if missing := missing(f, there); missing != "" {
			gone[f] = missing
		} else {
			facts = append(facts, f)
		}
	}
	return facts, gone
}

// missing returns the files that the source of a fact names if none of them is there, so that
// nothing supports it; "" otherwise.
func missing(f lesson.Fact, there map[string]bool) string {
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
