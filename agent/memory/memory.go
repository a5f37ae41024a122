// Package memory reads and writes what earlier questions taught about a data folder: plain files in
// a folder beside the data, which people read, edit, review, commit and merge.
//
//	facts.md         definitions and rules, each with its source
//	tools/NAME.py    a function with its imports and cases, with values that verified runs printed
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

	"dsstar/agent/brief"
	"dsstar/agent/memory/lesson"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// Name is the name of the folder beside the data.
const Name = ".dsstar"

// The files of the folder.
const (
	factsFile      = "facts.md"
	questionsFile  = "questions.jsonl"
	attributesFile = ".gitattributes"
	tools          = "tools/*.py"
	definitions    = "definitions/*.md" // which people write
)

const factsHead = `# Facts about these data

One item for each, with its source. Edit them freely: they are shown to the model as evidence.

`

// attributes are for files in which a line stands for itself.
const attributes = "facts.md merge=union\nquestions.jsonl merge=union\n"

// Limits of what is read: bytes of a file, and of all.
const maxFile, maxRead = 4 << 20, 64 << 20

// A Memory is the content of a memory folder.
type Memory struct {
	Dir           string
	lesson.Lesson            // what could not be read is a problem
	Questions     []Question // the newest record of each

	was       map[string]string // the files as read, by name
	texts     map[string]string // as they are to be written
	conflicts []string          // files with an unsolved merge conflict, which are not read
}

// Read reads a memory folder. One that does not exist is empty. What cannot be understood is left
// out and told in Problems; the error is for files that cannot be read.
func Read(ctx context.Context, dir string) (*Memory, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &Memory{Dir: dir, was: map[string]string{}}
	folder, err := os.OpenRoot(dir)
	if err == nil {
		defer folder.Close()
		err = m.read(ctx, folder)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	m.texts = maps.Clone(m.was)
	m.parse()
	return m, nil
}

// read reads the files of the folder. Links out of it are not followed: a data folder may be
// somebody else's.
func (m *Memory) read(ctx context.Context, folder *os.Root) error {
	size := 0
	for _, pattern := range []string{factsFile, questionsFile, attributesFile, tools, definitions} {
		names, err := fs.Glob(folder.FS(), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			b, err := disk.ReadIn(folder, name, maxFile)
			if err = cmp.Or(ctx.Err(), err); err != nil {
				return err
			}
			if size += len(b); size > maxRead {
				return fmt.Errorf("%s: all files together have more than %s", m.Dir, human.Bytes(maxRead))
			}
			text := strings.ReplaceAll(string(b), "\r\n", "\n")
			at := strings.Index("\n"+text, "\n<<<<<<< ")
			if at < 0 || !strings.Contains(text[at:], "\n>>>>>>> ") {
				m.was[name] = text
				continue
			}
			m.conflicts = append(m.conflicts, fmt.Sprintf("%s, line %d, has an unsolved merge conflict",
				name, 1+strings.Count(text[:at], "\n")))
		}
	}
	return nil
}

// parse takes what is known out of the texts.
func (m *Memory) parse() {
	m.Lesson, m.Questions = lesson.Lesson{Facts: lesson.Facts(m.texts[factsFile])}, nil
	for _, conflict := range m.conflicts {
		m.Problem("%s: it is left out. Edit the file, then git add it", conflict)
	}
	for n, line := range strings.Split(m.texts[questionsFile], "\n") {
		var q Question
		switch err := json.Unmarshal([]byte(line), &q); {
		case err == nil && q.Question != "":
			m.Questions = append(m.Questions, q)
		case strings.TrimSpace(line) != "":
			m.Problem("%s, line %d is no question and is left out", questionsFile, n+1)
		}
	}
	m.Questions = newest(m.Questions)
	for _, file := range m.files(tools) {
		name := strings.TrimSuffix(path.Base(file), ".py")
		t, out := lesson.ToolIn(m.texts[file], name)
		for _, line := range out {
			m.Problem("%s: only imports, plain functions and their cases count; left out: %.60s", file,
				line)
		}
		if t.Name == "" {
			m.Problem("%s has no function %s", file, name)
			continue
		}
		m.Tools = append(m.Tools, t)
	}
}

// files returns the names of the files of a pattern, in order.
func (m *Memory) files(pattern string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.texts)), func(name string) bool {
		is, _ := path.Match(pattern, name)
		return !is
	})
}

// AddFact adds a fact, unless it is known, and reports whether it did.
func (m *Memory) AddFact(f lesson.Fact) bool {
	f.Text, f.Source = brief.OneLine(f.Text), brief.OneLine(f.Source)
	known := func(o lesson.Fact) bool { return o.Text == f.Text }
	if f.Text == "" || slices.ContainsFunc(m.Facts, known) {
		return false
	}
	m.texts[factsFile] = ended(cmp.Or(m.texts[factsFile], factsHead)) + "- " + f.String() + "\n"
	m.parse()
	return true
}

// AddQuestion adds the record of a question, whose notebook has an absolute path.
func (m *Memory) AddQuestion(q Question) error {
	if rel, err := filepath.Rel(filepath.Dir(m.Dir), q.Notebook); err == nil {
		q.Notebook = rel
	}
	b, err := json.Marshal(q)
	m.texts[questionsFile] = ended(m.texts[questionsFile]) + string(b) + "\n"
	m.parse()
	return err
}

// AddTool adds a function with its cases, in place of one of the same name.
func (m *Memory) AddTool(t lesson.Tool) {
	m.texts[fileOf(tools, t.Name)] = t.String()
	m.parse()
}

// fileOf returns the name of a function's file.
func fileOf(pattern, tool string) string { return strings.Replace(pattern, "*", tool, 1) }

// Learn adds what an answer has taught, and returns the names of functions that are left out
// because there are others of their names, which the answer was not shown: earlier questions may
// use them.
func (m *Memory) Learn(facts []lesson.Fact, tools []lesson.Tool) (taken []string) {
	for _, f := range facts {
		m.AddFact(f)
	}
	for _, t := range tools {
		i := slices.IndexFunc(m.Tools, func(o lesson.Tool) bool { return o.Name == t.Name })
		if i < 0 {
			m.AddTool(t)
		} else if m.Tools[i].Code != t.Code {
			taken = append(taken, t.Name)
		}
	}
	return taken
}

// SetAside moves a function that no longer holds out of use, with the reason.
func (m *Memory) SetAside(name, reason string) {
	text := m.texts[fileOf(tools, name)]
	if m.Forget(name) {
		m.texts[fileOf("aside/*.py", name)] = "# Set aside: " + brief.OneLine(reason) + "\n\n" + text
	}
}

// Forget removes a function, a fact, given by its whole text, or a question, and reports whether it
// was there.
func (m *Memory) Forget(what string) bool {
	was := maps.Clone(m.texts)
	delete(m.texts, fileOf(tools, what))
	m.cut(factsFile, func(part string) bool {
		text := lesson.FactIn(part).Text
		return text != "" && text == brief.OneLine(what)
	})
	m.cut(questionsFile, func(line string) bool {
		var q Question
		return json.Unmarshal([]byte(line), &q) == nil && plain(q.Question) == plain(what)
	})
	m.parse()
	return !maps.Equal(was, m.texts)
}

// cut takes some of its parts out of a file.
func (m *Memory) cut(file string, out func(part string) bool) {
	if text, is := m.texts[file]; is {
		m.texts[file] = strings.Join(slices.DeleteFunc(lesson.Parts(text), out), "")
	}
}

// ended returns a text with an end of line, unless it is empty.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
