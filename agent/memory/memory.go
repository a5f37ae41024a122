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
// Each function has a file, so that git merges the additions of two people by itself. Nothing here runs
// code. What is read is data: facts are evidence with a source, and only imports and functions count.
package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

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
	Dir       string
	Facts     []Fact
	Tools     []Tool
	Questions []Question
	Imports   []string // lines that the functions may need
	Problems  []string // what could not be read, in words

	texts     map[string]string // the files as read
	sections  []section         // of the definitions, in their order
	changed   map[string]string // files to write, by name; "" removes one
	conflicts map[string]string // where files have an unsolved merge conflict, in words, by name
	size      int               // bytes that were read
}

// Read reads a memory folder. One that does not exist is empty. What cannot be understood is left
// out and told in Problems; the error is for files that cannot be read.
func Read(ctx context.Context, dir string) (*Memory, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &Memory{Dir: dir, texts: map[string]string{}, changed: map[string]string{}, conflicts: map[string]string{}}
	folder, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	facts, err1 := m.read(ctx, folder, factsFile, "its facts are")
	m.readFacts(facts)
	questions, err2 := m.read(ctx, folder, questionsFile, "its questions are")
	m.readQuestions(questions)
	_, err3 := m.read(ctx, folder, attributesFile, "it is")
	return m, errors.Join(err1, err2, err3, m.readToolFiles(ctx, folder), m.readDefinitions(ctx, folder))
}

// read returns the content of a file, or "" if there is none. Links are not followed: a data folder
// may be somebody else's. what is left out, if the file has an unsolved merge conflict.
func (m *Memory) read(ctx context.Context, folder *os.Root, name, what string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	b, err := disk.ReadIn(folder, name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if m.size += len(b); m.size > maxRead {
		return "", fmt.Errorf("%s: all files together have more than %s", m.Dir, human.Bytes(maxRead))
	}
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	m.texts[name] = text
	if line := conflictAt(text); line > 0 {
		m.conflicts[name] = fmt.Sprintf("%s, line %d, has an unsolved merge conflict", name, line)
		m.problem("%s: %s left out. Edit the file, then git add it", m.conflicts[name], what)
		return "", nil
	}
	return text, nil
}

// namesIn returns the names of the files with an ending in a folder below, without the ending, in
// order: none if there is no such folder.
func namesIn(folder *os.Root, below, ending string) ([]string, error) {
	f, err := disk.OpenFolderIn(folder, below)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := fs.ReadDir(f.FS(), ".")
	var names []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ending); ok {
			names = append(names, name)
		}
	}
	return names, err
}

// conflictAt returns the line at which the marks that a merge has left begin; 0 if there are none.
func conflictAt(text string) (begin int) {
	if !strings.Contains(text, "<<<<<<< ") {
		return 0
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if begin == 0 && strings.HasPrefix(line, "<<<<<<< ") {
			begin = n
		} else if begin > 0 && strings.HasPrefix(line, ">>>>>>> ") {
			return begin
		}
	}
	return 0
}

func (m *Memory) problem(format string, args ...any) {
	m.Problems = append(m.Problems, fmt.Sprintf(format, args...))
}

// fileOf returns the name of a function's file in one of the folders.
func fileOf(folder, tool string) string { return path.Join(folder, tool+".py") }
