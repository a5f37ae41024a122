// Package memory reads and writes what earlier questions taught about a data folder: plain files in
// a folder beside the data, which people read, edit, review and commit.
//
//	facts.md         definitions and rules, each with its source
//	tools.py         functions, each with the question that it comes from
//	tests/NAME.py    cases of a function, with values that verified runs printed
//	aside/NAME.py    functions that no longer hold, with the reason
//	questions.jsonl  questions that were answered and verified
//
// Nothing here runs code. What is read is data: facts are evidence with a source, and of tools.py
// only imports and functions count.
package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dsstar/notebook/disk"
)

// Name is the name of the folder beside the data.
const Name = ".dsstar"

// The files of the folder.
const (
	factsFile     = "facts.md"
	toolsFile     = "tools.py"
	questionsFile = "questions.jsonl"
	testsFolder   = "tests"
	asideFolder   = "aside"
)

const maxFile = 16 << 20 // bytes of a file that is read

// A Memory is the content of a memory folder.
type Memory struct {
	Dir       string
	Facts     []Fact
	Tools     []Tool
	Questions []Question
	Imports   []string // lines of tools.py that its functions may need
	Problems  []string // what could not be read, in words

	texts   map[string]string // the files as read
	changed map[string]string // files to write, by name; "" removes one
}

// Read reads a memory folder. One that does not exist is empty. What cannot be understood is left
// out and told in Problems; the error is for files that cannot be read.
func Read(dir string) (*Memory, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &Memory{Dir: dir, texts: map[string]string{}, changed: map[string]string{}}
	for name, take := range map[string]func(string){
		factsFile: m.readFacts, toolsFile: m.readTools, questionsFile: m.readQuestions,
	} {
		text, err := m.read(name)
		if err != nil {
			return nil, err
		}
		take(text)
	}
	return m, m.readTests()
}

// read returns the content of a file, or "" if there is none. Links are not followed: a data folder
// may be somebody else's.
func (m *Memory) read(name string) (string, error) {
	path := filepath.Join(m.Dir, name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return "", err
	}
	b, err := disk.ReadFile(path, maxFile)
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	if err == nil && conflicted(text) {
		m.Problems = append(m.Problems, fmt.Sprintf("%s has an unsolved merge conflict and is left out", name))
		return "", nil
	}
	m.texts[name] = text
	return text, err
}

// conflicted reports whether a merge has left its marks in a text.
func conflicted(text string) bool {
	text = "\n" + text
	return strings.Contains(text, "\n<<<<<<< ") && strings.Contains(text, "\n>>>>>>> ")
}

func (m *Memory) problem(format string, args ...any) {
	m.Problems = append(m.Problems, fmt.Sprintf(format, args...))
}
