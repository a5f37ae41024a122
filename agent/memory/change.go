package memory

import (
	"cmp"
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
)

const factsHead = `# Facts about these data

One item for each, with its source. Edit them freely: they are shown to the model as evidence.

`

// attributes are for files in which a line stands for itself. Of functions, the lines of both sides
// would be a third one.
const attributes = "facts.md merge=union\nquestions.jsonl merge=union\ntests/*.py merge=union\n"

// AddFact adds a fact, unless it is known, and reports whether it did.
func (m *Memory) AddFact(f lesson.Fact) bool {
	f.Text, f.Source = brief.OneLine(f.Text), brief.OneLine(f.Source)
	known := func(o lesson.Fact) bool { return o.Text == f.Text }
	if f.Text == "" || slices.ContainsFunc(m.Facts, known) {
		return false
	}
	text := cmp.Or(m.texts[factsFile], factsHead)
	m.texts[factsFile] = ended(text) + "- " + f.String() + "\n"
	m.parse()
	return true
}

// AddQuestion adds records of questions, whose notebooks have absolute paths.
func (m *Memory) AddQuestion(all ...Question) error {
	text := ended(m.texts[questionsFile])
	for _, q := range all {
		if rel, err := filepath.Rel(filepath.Dir(m.Dir), q.Notebook); err == nil {
			q.Notebook = rel
		}
		b, err := json.Marshal(q)
		if err != nil {
			return err
		}
		text += string(b) + "\n"
	}
	m.texts[questionsFile] = text
	m.parse()
	return nil
}

// AddTool adds a function with its cases, in place of one of the same name. imports must include
// every import line that the function needs.
func (m *Memory) AddTool(t lesson.Tool, imports []string) {
	m.texts[fileOf(toolsFolder, t.Name)] = lesson.Module(imports, []lesson.Tool{t}) + "\n"
	m.texts[fileOf(testsFolder, t.Name)] = t.Test
	m.parse()
}

// Learn adds what an answer has taught, and returns the names of functions that are left out
// because there are others of their names, which the answer was not shown: earlier questions may
// use them.
func (m *Memory) Learn(facts []lesson.Fact, imports []string, tools []lesson.Tool) (taken []string) {
	for _, f := range facts {
		m.AddFact(f)
	}
	for _, t := range tools {
		i := slices.IndexFunc(m.Tools, func(o lesson.Tool) bool { return o.Name == t.Name })
		if i < 0 {
			m.AddTool(t, imports)
		} else if m.Tools[i].Code != t.Code {
			taken = append(taken, t.Name)
		}
	}
	return taken
}

// SetAside moves a function that no longer holds out of use, with the reason.
func (m *Memory) SetAside(name, reason string) {
	tool, test := m.texts[fileOf(toolsFolder, name)], m.texts[fileOf(testsFolder, name)]
	if m.Forget(name) {
		why := "# Set aside: " + brief.OneLine(reason) + "\n\n"
		m.texts[fileOf(asideFolder, name)] = why + tool + "\n\n" + test
	}
}

// Forget removes a function, a fact, given by its whole text, or a question, and reports whether it
// was there.
func (m *Memory) Forget(what string) bool {
	was := maps.Clone(m.texts)
	delete(m.texts, fileOf(toolsFolder, what))
	delete(m.texts, fileOf(testsFolder, what))
	m.cut(factsFile, func(part string) bool {
		f, ok := lesson.FactIn(part)
		return ok && f.Text == brief.OneLine(what)
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

// A Change is a file of the folder that Save writes; without a text it is removed.
type Change struct{ Name, Before, After string }

// Changes returns what Save writes, by name. The first change of a folder says how git merges its
// files.
func (m *Memory) Changes() (all []Change) {
	names := maps.Clone(m.was)
	maps.Copy(names, m.texts)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if c := (Change{name, m.was[name], m.texts[name]}); c.Before != c.After {
			all = append(all, c)
		}
	}
	_, known := m.was[attributesFile]
	if !known && len(all) > 0 && filepath.Base(m.Dir) == Name { // others may be whole repositories
		all = append([]Change{{attributesFile, "", attributes}}, all...)
	}
	return all
}

// Save writes the changed files, each whole. No link is followed, and nothing is written if a file
// to change has an unsolved merge conflict: its content was not read.
func (m *Memory) Save() error {
	for _, c := range m.Changes() {
		if conflict, ok := m.conflicts[c.Name]; ok {
			return errors.New(conflict)
		}
	}
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return err
	}
	folder, err := disk.OpenFolder(m.Dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	for _, c := range m.Changes() {
		if c, err = meanwhile(folder, c); err != nil {
			return err
		}
		if err := save(folder, c); err != nil {
			return err
		}
		m.texts[c.Name], m.was[c.Name] = c.After, c.After
	}
	return nil
}

// meanwhile returns a change with what others have written since the memory was read: another run
// may have learned. Of facts and questions the lines of both stay; other files hold one function
// each.
func meanwhile(folder *os.Root, c Change) (Change, error) {
	b, err := disk.ReadIn(folder, c.Name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	now := strings.ReplaceAll(string(b), "\r\n", "\n")
	switch {
	case err != nil || now == c.Before || c.Name == attributesFile:
		return c, err
	case c.Name != factsFile && c.Name != questionsFile:
		return c, fmt.Errorf("%s was changed meanwhile, and is left as it is", c.Name)
	}
	c.After = without(now, without(c.Before, c.After)) + without(without(c.After, c.Before), now)
	return c, nil
}

// without returns the lines of a text that are not in another.
func without(text, other string) (left string) {
	among := map[string]bool{}
	for line := range strings.Lines(ended(other)) {
		among[line] = true
	}
	var b strings.Builder
	for line := range strings.Lines(ended(text)) {
		if !among[line] {
			b.WriteString(line)
		}
	}
	return b.String()
}

func save(folder *os.Root, c Change) error {
	if c.After == "" {
		if err := folder.Remove(c.Name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := folder.MkdirAll(path.Dir(c.Name), 0o755); err != nil {
		return err
	}
	below, err := folder.OpenRoot(path.Dir(c.Name))
	if err != nil {
		return err
	}
	defer below.Close()
	return disk.WriteFileIn(below, path.Base(c.Name), []byte(c.After))
}
