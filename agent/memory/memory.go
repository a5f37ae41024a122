// Package memory reads and writes what earlier questions taught about a data folder: plain files in
// a folder beside the data, which people read, edit, review, commit and merge.
//
//	facts.md         definitions and rules, each with its source
//	tools/NAME.py    a function with its imports
//	tests/NAME.py    its cases, with values that verified runs printed
//	aside/NAME.py    functions that no longer hold, with the reason
//	questions.jsonl  questions that were answered and verified
//	definitions/*.md what people say of data files, each below a heading that is its name
//	.gitattributes   has git keep the lines of both sides in a merge
//
// Each function has a file, so that git merges the additions of two people by itself. Nothing here
// runs code. What is read is data: facts are evidence with a source, and only imports and functions
// count.
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/memory/lesson"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
	"dsstar/notebook/lazy"
)

// Name is the name of the folder beside the data.
const Name = ".dsstar"

// The files of the folder.
const (
	factsFile         = "facts.md"
	questionsFile     = "questions.jsonl"
	attributesFile    = ".gitattributes"
	toolsFolder       = "tools"
	testsFolder       = "tests"
	asideFolder       = "aside"
	definitionsFolder = "definitions" // which people write
)

// Limits of what is read: bytes of a file, and of all; facts.
const (
	maxFile   = 4 << 20
	maxRead   = 64 << 20
	mostFacts = 10_000
)

// A Memory is the content of a memory folder.
type Memory struct {
	Dir           string
	lesson.Lesson            // what could not be read is a problem
	Questions     []Question // the newest record of each

	was         map[string]string // the files as read, by name
	texts       map[string]string // as they are to be written
	definitions []string          // the texts of the definitions, in their order
	conflicts   map[string]string // where files have an unsolved merge conflict, in words, by name
}

// Read reads a memory folder. One that does not exist is empty. What cannot be understood is left
// out and told in Problems; the error is for files that cannot be read.
func Read(ctx context.Context, dir string) (*Memory, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &Memory{Dir: dir, was: map[string]string{}, conflicts: map[string]string{}}
	folder, err := os.OpenRoot(dir)
	if err == nil {
		defer folder.Close()
		err = m.readFiles(ctx, folder)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	m.texts = maps.Clone(m.was)
	m.parse()
	return m, nil
}

// parse takes what is known out of the texts.
func (m *Memory) parse() {
	m.Lesson, m.Questions, m.definitions = lesson.Lesson{}, nil, nil
	m.Facts = lesson.Facts(m.sound(factsFile, "its facts are"))
	if more := len(m.Facts) - mostFacts; more > 0 {
		m.Problem("%s: only the first %d facts count, %d are left out", factsFile, mostFacts, more)
		m.Facts = m.Facts[:mostFacts]
	}
	m.readQuestions(m.sound(questionsFile, "its questions are"))
	m.sound(attributesFile, "it is")
	for _, file := range slices.Sorted(maps.Keys(m.texts)) {
		switch path.Dir(file) {
		case toolsFolder:
			m.readTool(file, strings.TrimSuffix(path.Base(file), ".py"))
		case definitionsFolder:
			m.definitions = append(m.definitions, m.sound(file, "its text is"))
		}
	}
	m.Import(nil)
}

// readFiles reads the files of the folder. Links out of it are not followed: a data folder may be
// somebody else's.
func (m *Memory) readFiles(ctx context.Context, folder *os.Root) error {
	names := []string{factsFile, questionsFile, attributesFile}
	endings := map[string]string{toolsFolder: ".py", testsFolder: ".py", definitionsFolder: ".md"}
	for below, ending := range endings {
		entries, err := fs.ReadDir(folder.FS(), below)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, entry := range entries {
			if path.Ext(entry.Name()) == ending {
				names = append(names, path.Join(below, entry.Name()))
			}
		}
	}
	size := 0
	for _, name := range names {
		b, err := disk.ReadIn(folder, name, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		if size += len(b); size > maxRead {
			return fmt.Errorf("%s: all files together have more than %s", m.Dir, human.Bytes(maxRead))
		}
		m.was[name] = strings.ReplaceAll(string(b), "\r\n", "\n")
	}
	return nil
}

// sound returns the text of a file: "" if there is none, or it has an unsolved merge conflict. Then
// it tells what is left out.
func (m *Memory) sound(name, what string) string {
	text := m.texts[name]
	at := strings.Index("\n"+text, "\n<<<<<<< ")
	if at < 0 || !strings.Contains(text[at:], "\n>>>>>>> ") {
		return text
	}
	m.conflicts[name] = fmt.Sprintf("%s, line %d, has an unsolved merge conflict", name,
		1+strings.Count(text[:at], "\n"))
	m.Problem("%s: %s left out. Edit the file, then git add it", m.conflicts[name], what)
	return ""
}

// readTool reads the function of a file, with its imports and cases.
func (m *Memory) readTool(file, name string) {
	what := "the function " + name + " is"
	text := m.sound(file, what)
	found, known := lesson.Functions(text), text == ""
	for _, line := range found.Problems {
		m.Problem("%s: only imports and plain functions count; left out: %.60s", file, line)
	}
	for _, t := range found.Tools {
		if t.Name != name {
			m.Problem("%s: the function %s is left out: it belongs in %s", file, t.Name,
				fileOf(toolsFolder, t.Name))
			continue
		}
		t.Test, known = m.sound(fileOf(testsFolder, name), what), true
		m.Tools, m.Imports = append(m.Tools, t), append(m.Imports, found.Imports...)
	}
	if !known {
		m.Problem("%s has no function %s", file, name)
	}
}

// fileOf returns the name of a function's file in one of the folders.
func fileOf(folder, tool string) string { return path.Join(folder, tool+".py") }

// headingLine is a heading of Markdown, which may end at the mark; fenceLine begins or ends code.
var (
	headingLine = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*))?\s*$`)
	fenceLine   = regexp.MustCompile("^ {0,3}(```+|~~~+)(.*)")
)

// Corrections returns what people say of the data files: the text below a heading that is a file's
// name, up to the name of another file or a heading of the same or a higher level. Lines of code
// blocks are no headings.
func (m *Memory) Corrections(names []string) map[string]string {
	if m == nil {
		return nil
	}
	texts := map[string][]byte{}
	for _, text := range m.definitions {
		name, level, fence := "", 0, ""
		for line := range strings.Lines(text) {
			mark, heading := fenceLine.FindStringSubmatch(line), headingLine.FindStringSubmatch(line)
			switch {
			case fence == "" && mark != nil:
				fence = mark[1]
			case fence != "":
				if mark != nil && strings.HasPrefix(mark[1], fence) && strings.TrimSpace(mark[2]) == "" {
					fence = ""
				}
			case heading != nil:
				title := strings.Trim(strings.TrimSpace(heading[2]), "`")
				if slices.Contains(names, title) {
					name, level = title, len(heading[1])
					continue
				}
				if len(heading[1]) <= level {
					name, level = "", 0
				}
			}
			texts[name] = append(texts[name], line...)
		}
	}
	delete(texts, "") // of no file
	all := map[string]string{}
	for name, text := range texts {
		if said := strings.TrimSpace(string(text)); said != "" {
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
