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
	"slices"
	"strings"

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
	toolsFolder    = "tools"
	testsFolder    = "tests"
	asideFolder    = "aside"
)

// attributes are for files in which a line stands for itself. Of functions, the lines of both sides
// would be a third one.
const attributes = "facts.md merge=union\nquestions.jsonl merge=union\ntests/*.py merge=union\n"

// Limits of what is read, in bytes: of a file, and of all.
const (
	maxFile = 4 << 20
	maxRead = 64 << 20
)

// A Memory is the content of a memory folder.
type Memory struct {
	Dir           string
	lesson.Lesson // what could not be read is a problem
	Questions     []Question

	was       map[string]string // the files as read, by name
	texts     map[string]string // as they are to be written
	sections  []section         // of the definitions, in their order
	conflicts map[string]string // where files have an unsolved merge conflict, in words, by name
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
	m.readFacts(m.sound(factsFile, "its facts are"))
	m.readQuestions(m.sound(questionsFile, "its questions are"))
	m.sound(attributesFile, "it is")
	m.readTools()
	m.readDefinitions()
	return m, nil
}

// readFiles reads the files of the folder. Links are not followed: a data folder may be somebody
// else's.
func (m *Memory) readFiles(ctx context.Context, folder *os.Root) error {
	names := []string{factsFile, questionsFile, attributesFile}
	for _, below := range []string{toolsFolder, testsFolder, definitionsFolder} {
		f, err := disk.OpenFolderIn(folder, below)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		entries, err := fs.ReadDir(f.FS(), ".")
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		for _, entry := range entries {
			names = append(names, path.Join(below, entry.Name()))
		}
	}
	size := 0
	for _, name := range names {
		if end := path.Ext(name); path.Dir(name) != "." && end != ".py" && end != ".md" {
			continue
		}
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

// sound returns a file as read: "" if there is none, or it has an unsolved merge conflict. Then it
// tells what is left out.
func (m *Memory) sound(name, what string) string {
	text := m.was[name]
	if line := conflictAt(text); line > 0 {
		m.conflicts[name] = fmt.Sprintf("%s, line %d, has an unsolved merge conflict", name, line)
		m.Problem("%s: %s left out. Edit the file, then git add it", m.conflicts[name], what)
		return ""
	}
	return text
}

// namesIn returns the names of the files with an ending in a folder below, without folder and
// ending, in order.
func (m *Memory) namesIn(below, ending string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(m.was)) {
		if base, ok := strings.CutSuffix(path.Base(name), ending); ok && path.Dir(name) == below {
			names = append(names, base)
		}
	}
	return names
}

// conflictAt returns the line at which the marks that a merge has left begin; 0 if there are none.
func conflictAt(text string) int {
	at := strings.Index("\n"+text, "\n<<<<<<< ")
	if at < 0 || !strings.Contains(text[at:], "\n>>>>>>> ") {
		return 0
	}
	return 1 + strings.Count(text[:at], "\n")
}

// readTools reads the functions, each from a file of its name, with their imports and cases.
func (m *Memory) readTools() {
	for _, name := range m.namesIn(toolsFolder, ".py") {
		file, what := fileOf(toolsFolder, name), "the function "+name+" is"
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
	m.Import(nil)
}

// fileOf returns the name of a function's file in one of the folders.
func fileOf(folder, tool string) string { return path.Join(folder, tool+".py") }
