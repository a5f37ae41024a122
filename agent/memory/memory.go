// Package memory reads and writes what earlier questions taught about a data folder: plain files in
// a folder beside the data, which people read, edit, review, commit and merge.
//
//	tools/NAME.py         a function with its imports and cases, with values that verified runs printed
//	questions.jsonl       questions that were answered and verified
//	definitions/facts.md  what verified runs have learned, each with its source: evidence, which binds nobody
//	definitions/*.md      what people say of data files, each below a heading that is its name; the rest of
//	                      definitions/ is read by package definitions
//
// Each function has a file, so that git merges the additions of two people by itself. Nothing here
// runs code. What is read is data: facts are evidence with a source, and only imports and functions
// count.
package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/memory/lesson"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// Name is the name of the folder beside the data.
const Name = ".dsstar"

// The files of the folder, and folders in it.
const (
	factsFile     = definitions + FactsName
	questionsFile = "questions.jsonl"
	tools         = "tools/"
	definitions   = "definitions/"
)

// Definitions is the folder of definitions, in which FactsName is none of them.
const Definitions, FactsName = "definitions", "facts.md"

// Limits of what is read: bytes of a file, and of all.
const maxFile, maxRead = 4 << 20, 64 << 20

// A Memory is the content of a memory folder.
type Memory struct {
	Dir           string
	lesson.Lesson            // what could not be read is a problem
	Questions     []Question // the newest record of each

	said  []string          // what people say of data files
	was   map[string]string // the files as read, by name
	texts map[string]string // as they are to be written
}

// Read reads a memory folder. One that does not exist is empty. What cannot be understood is left
// out and told in Problems; the error is for files that cannot be read. Links out of the folder are
// not followed: it may be somebody else's.
func Read(ctx context.Context, dir string) (*Memory, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &Memory{Dir: dir, was: map[string]string{}, texts: map[string]string{}}
	folder, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	size := 0
	for _, pattern := range []string{definitions + "[^.~]*.md", questionsFile, tools + "*.py"} {
		names, _ := fs.Glob(folder.FS(), pattern) // which is no bad pattern
		for _, name := range names {
			text, err := textOf(folder, name)
			if err = cmp.Or(ctx.Err(), err); err != nil {
				return nil, err
			}
			if size += len(text); size > maxRead {
				return nil, fmt.Errorf("%s: all files together have more than %s", dir, human.Bytes(maxRead))
			}
			m.was[name], m.texts[name] = text, text
		}
	}
	m.parse()
	return m, nil
}

// textOf returns the text of a file of the folder, which is no link.
func textOf(folder *os.Root, name string) (string, error) {
	b, err := disk.ReadIn(folder, name, maxFile)
	return strings.ReplaceAll(string(b), "\r\n", "\n"), err
}

// parse takes what is known out of the texts.
func (m *Memory) parse() {
	m.Lesson, m.Questions, m.said = lesson.Lesson{}, nil, nil
	for _, name := range slices.Sorted(maps.Keys(m.texts)) {
		folder, base := path.Split(name)
		switch text := m.texts[name]; {
		case name == factsFile:
			m.Facts = lesson.Facts(text)
		case name == questionsFile:
			m.parseQuestions(text)
		case folder == definitions:
			m.said = append(m.said, text)
		case folder == tools:
			m.parseTool(strings.TrimSuffix(base, ".py"), text)
		}
	}
}

// parseQuestions reads questions, a line each. Of those with one key the last counts.
func (m *Memory) parseQuestions(text string) {
	at := map[string]int{}
	for n, line := range strings.Split(text, "\n") {
		var q Question
		if err := json.Unmarshal([]byte(line), &q); err != nil || q.Question == "" {
			if strings.TrimSpace(line) != "" {
				m.Problem("%s, line %d is no question and is left out", questionsFile, n+1)
			}
		} else if i, known := at[q.key()]; known {
			m.Questions[i] = q
		} else {
			at[q.key()] = len(m.Questions)
			m.Questions = append(m.Questions, q)
		}
	}
}

func (m *Memory) parseTool(name, text string) {
	switch t, out := lesson.ToolIn(text, name); {
	case len(out) > 0:
		m.Problem("%s is left out: only imports, plain functions and their cases count, not %.60s",
			fileOf(name), out[0])
	case t.Name == "":
		m.Problem("%s has no function %s", fileOf(name), name)
	default:
		m.Tools = append(m.Tools, t)
	}
}

func fileOf(tool string) string { return tools + tool + ".py" }

// A Change is a file of the folder to which Save adds.
type Change struct{ Name, Before, After string }

// Changes returns what Save writes, by name.
func (m *Memory) Changes() (all []Change) {
	for _, name := range slices.Sorted(maps.Keys(m.texts)) {
		if c := (Change{name, m.was[name], m.texts[name]}); c.Before != c.After {
			all = append(all, c)
		}
	}
	return all
}

// Save writes the changed files, each whole. No link is followed.
func (m *Memory) Save() error {
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return err
	}
	folder, err := disk.OpenFolder(m.Dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	for _, c := range m.Changes() {
		if err := c.store(folder); err != nil {
			return err
		}
	}
	return nil
}

// store writes the file. Where a line stands for itself, what another run has written since it was read
// stays beside what is new.
func (c Change) store(folder *os.Root) error {
	now, err := textOf(folder, c.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && (now == c.Before || now == c.After):
	case err != nil:
		return err
	case path.Dir(c.Name)+"/" == tools:
		return fmt.Errorf("%s was changed meanwhile, and is left as it is", c.Name)
	default:
		c.After = ended(now) + Without(Without(c.After, c.Before), now)
	}
	return cmp.Or(folder.MkdirAll(path.Dir(c.Name), 0o755),
		disk.WriteFileIn(folder, c.Name, []byte(c.After)))
}

// Without returns the lines of a text that are not in another.
func Without(text, other string) string {
	among := map[string]bool{}
	for line := range strings.Lines(ended(other)) {
		among[line] = true
	}
	var lines strings.Builder
	for line := range strings.Lines(ended(text)) {
		if !among[line] {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// ended returns a text with an end of line, unless it is empty.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// A Question was answered by a verified run.
type Question struct {
	Question   string    `json:"question"`
	Guidelines string    `json:"guidelines,omitempty"` // the form of the answer
	Answer     string    `json:"answer"`
	Notebook   string    `json:"notebook"`           // relative to the folder that has this one
	Readings   []string  `json:"readings,omitempty"` // that were chosen
	Asked      time.Time `json:"asked"`
}

// key is the same for records of the same question.
func (q Question) key() string { return plain(q.Question) + "\n" + brief.OneLine(q.Guidelines) }

// plain is the same for a question in other letter case, with other spacing and another end.
func plain(question string) string {
	return strings.TrimRight(strings.ToLower(brief.OneLine(question)), " .?!")
}

// Near returns the records of up to n questions that share the most words with another one, if
// those are more than a share of the words of both; the nearest first.
func (m *Memory) Near(question string, least float64, n int) []Question {
	asked := lesson.Words(plain(question))
	share := func(q Question) float64 {
		all := lesson.Words(plain(q.Question))
		shared := len(all) + len(asked)
		maps.Copy(all, asked)
		return float64(shared-len(all)) / float64(max(1, len(all)))
	}
	far := func(q Question) bool { return share(q) <= least }
	near := slices.DeleteFunc(slices.Clone(m.Questions), far)
	slices.SortStableFunc(near, func(a, b Question) int { return cmp.Compare(share(b), share(a)) })
	return near[:min(len(near), n)]
}

// Corrections returns what people say of the data files: the text below a heading that is a file's
// name, up to the name of another file or a heading of the same or a higher level.
func (m *Memory) Corrections(names []string) map[string]string {
	if m == nil {
		return nil
	}
	all := map[string]string{}
	for _, said := range m.said {
		name, level, said := "", 0, ended(said)
		for _, s := range lesson.Sections(said) {
			from, title := s.Begin, strings.Trim(s.Title, "` ")
			if slices.Contains(names, title) {
				name, level, from = title, s.Level, s.Body
			} else if s.Level <= level {
				name, level = "", 0
			}
			if name != "" { // the others may be many
				all[name] += said[from:s.End]
			}
		}
	}
	for name, text := range all {
		all[name] = strings.TrimSpace(text)
	}
	return all
}

const factsHead = `# Facts about these data

Remembered from verified runs, an item each, with its source. Edit them freely: they are shown to the
model as evidence. One that is to bind becomes a heading of another file here, which you approve.

`

// AddQuestion adds the record of a question, whose notebook has an absolute path.
func (m *Memory) AddQuestion(q Question) {
	q.Notebook, _ = filepath.Rel(filepath.Dir(m.Dir), q.Notebook) // both are absolute
	b, _ := json.Marshal(q)                                       // plain data
	m.texts[questionsFile] = ended(m.texts[questionsFile]) + string(b) + "\n"
	m.parse()
}

// Learn adds what an answer has taught and nobody knew, and returns the names of functions that are left out
// because there are others of their names, which the answer was not shown: earlier questions may
// use them.
func (m *Memory) Learn(facts []lesson.Fact, functions []lesson.Tool) (taken []string) {
	for _, f := range facts {
		f.Text, f.Source = brief.OneLine(f.Text), brief.OneLine(f.Source)
		known := func(o lesson.Fact) bool { return o.Text == f.Text }
		if f.Text != "" && !slices.ContainsFunc(m.Facts, known) {
			m.Facts = append(m.Facts, f)
			m.texts[factsFile] = ended(cmp.Or(m.texts[factsFile], factsHead)) + "- " + f.String() + "\n"
		}
	}
	for _, t := range functions {
		was := m.texts[fileOf(t.Name)]
		if was == "" {
			m.texts[fileOf(t.Name)] = t.String()
		} else if !strings.Contains(was, t.Code) {
			taken = append(taken, t.Name)
		}
	}
	m.parse()
	return taken
}
