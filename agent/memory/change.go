package memory

import (
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

	"dsstar/notebook/disk"
)

// text returns a file as it is to be written.
func (m *Memory) text(name string) string {
	if text, ok := m.changed[name]; ok {
		return text
	}
	return m.texts[name]
}

// AddFact adds a fact, unless it is known, and reports whether it did.
func (m *Memory) AddFact(f Fact) bool {
	f.Text, f.Source = oneLine(f.Text), oneLine(f.Source)
	if f.Text == "" || slices.ContainsFunc(m.Facts, func(o Fact) bool { return o.Text == f.Text }) {
		return false
	}
	m.Facts = append(m.Facts, f)
	text := m.text(factsFile)
	if text == "" {
		text = factsHead
	}
	m.changed[factsFile] = ended(text) + "- " + f.String() + "\n"
	return true
}

// AddQuestion adds records of questions, whose notebooks have absolute paths; the newest about a
// question counts.
func (m *Memory) AddQuestion(all ...Question) error {
	var text strings.Builder
	text.WriteString(ended(m.text(questionsFile)))
	all = slices.Clone(all)
	for i := range all {
		if rel, err := filepath.Rel(filepath.Dir(m.Dir), all[i].Notebook); err == nil {
			all[i].Notebook = rel
		}
		b, err := json.Marshal(all[i])
		if err != nil {
			return err
		}
		text.WriteString(string(b) + "\n")
	}
	m.takeQuestions(all)
	m.changed[questionsFile] = text.String()
	return nil
}

// AddTool adds a function with its cases, in place of one of the same name. imports must include
// every import line that the function needs.
func (m *Memory) AddTool(t Tool, imports []string) {
	m.drop(t.Name)
	m.addImports(imports)
	m.Tools = append(m.Tools, t)
	m.changed[fileOf(toolsFolder, t.Name)] = Module(imports, []Tool{t}) + "\n"
	m.changed[fileOf(testsFolder, t.Name)] = t.Test
}

// Learn adds what an answer has taught, and returns the names of functions that are left out because
// there are others of their names, which the answer was not shown: earlier questions may use them.
func (m *Memory) Learn(facts []Fact, imports []string, tools []Tool) (taken []string) {
	for _, f := range facts {
		m.AddFact(f)
	}
	for _, t := range tools {
		i := slices.IndexFunc(m.Tools, func(o Tool) bool { return o.Name == t.Name })
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
	t, ok := m.drop(name)
	if !ok {
		return
	}
	m.changed[fileOf(asideFolder, name)] = "# Set aside: " + oneLine(reason) + "\n\n" +
		m.text(fileOf(toolsFolder, name)) + "\n\n" + t.Test
	m.removeTool(name)
}

// Forget removes a fact, given by its whole text, a function or a question, and reports whether it
// was there.
func (m *Memory) Forget(what string) bool {
	if _, ok := m.drop(what); ok {
		m.removeTool(what)
		return true
	}
	fact, question := m.forgetFact(what), m.forgetQuestion(what)
	return fact || question
}

func (m *Memory) forgetFact(what string) bool {
	before := len(m.Facts)
	m.Facts = slices.DeleteFunc(m.Facts, func(f Fact) bool { return f.Text == oneLine(what) })
	if len(m.Facts) == before {
		return false
	}
	kept := slices.DeleteFunc(parts(m.text(factsFile)), func(part string) bool {
		f, ok := factIn(part)
		return ok && f.Text == oneLine(what)
	})
	m.changed[factsFile] = strings.Join(kept, "")
	return true
}

func (m *Memory) forgetQuestion(what string) bool {
	before := len(m.Questions)
	m.Questions = slices.DeleteFunc(m.Questions, func(q Question) bool { return plain(q.Question) == plain(what) })
	if len(m.Questions) == before {
		return false
	}
	kept := slices.DeleteFunc(slices.Collect(strings.Lines(m.text(questionsFile))), func(line string) bool {
		var q Question
		return json.Unmarshal([]byte(line), &q) == nil && plain(q.Question) == plain(what)
	})
	m.changed[questionsFile] = strings.Join(kept, "")
	return true
}

// drop takes a function out of the list.
func (m *Memory) drop(name string) (t Tool, ok bool) {
	i := slices.IndexFunc(m.Tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return t, false
	}
	t = m.Tools[i]
	m.Tools = slices.Delete(m.Tools, i, i+1)
	return t, true
}

func (m *Memory) removeTool(name string) {
	m.changed[fileOf(toolsFolder, name)], m.changed[fileOf(testsFolder, name)] = "", ""
}

// ended returns a text with an end of line, unless it is empty.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// A Change is a file of the folder that Save writes.
type Change struct{ Name, Before, After string }

// Changes returns what Save writes, by name. The first change of a folder says how git merges its files.
func (m *Memory) Changes() (all []Change) {
	for _, name := range slices.Sorted(maps.Keys(m.changed)) {
		if c := (Change{name, m.texts[name], m.changed[name]}); c.Before != c.After {
			all = append(all, c)
		}
	}
	if _, ok := m.texts[attributesFile]; !ok && len(all) > 0 && filepath.Base(m.Dir) == Name { // others may be whole repositories
		all = append([]Change{{attributesFile, "", attributes}}, all...)
	}
	return all
}

// Save writes the changed files, each whole. No link is followed, and nothing is written if a file to
// change has an unsolved merge conflict: its content was not read.
func (m *Memory) Save() error {
	for name := range m.changed {
		if conflict, ok := m.conflicts[name]; ok {
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
		m.texts[c.Name] = c.After
	}
	clear(m.changed)
	return nil
}

// meanwhile returns a change with what others have written since the memory was read: another run may
// have learned. Of facts and questions the lines of both stay; other files hold one function each.
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
	was, is := lineSet(c.Before), lineSet(c.After)
	var text strings.Builder
	for line := range strings.Lines(ended(now)) {
		if is[line] || !was[line] {
			text.WriteString(line)
		}
	}
	known := lineSet(ended(now))
	for line := range strings.Lines(ended(c.After)) {
		if !was[line] && !known[line] {
			text.WriteString(line)
		}
	}
	c.After = text.String()
	return c, nil
}

func lineSet(text string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(text) {
		set[line] = true
	}
	return set
}

func save(folder *os.Root, c Change) error {
	if c.After == "" {
		if err := folder.Remove(c.Name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	dir, name := path.Split(c.Name)
	if dir == "" {
		return disk.WriteFileIn(folder, name, []byte(c.After))
	}
	if err := folder.MkdirAll(path.Clean(dir), 0o755); err != nil {
		return err
	}
	below, err := folder.OpenRoot(path.Clean(dir))
	if err != nil {
		return err
	}
	defer below.Close()
	return disk.WriteFileIn(below, name, []byte(c.After))
}
