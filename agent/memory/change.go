package memory

import (
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
	changes := m.Changes()
	for _, c := range changes {
		for _, conflict := range m.conflicts {
			if strings.HasPrefix(conflict, c.Name+", ") {
				return errors.New(conflict)
			}
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
	for _, c := range changes {
		if c.After, err = meanwhile(folder, c); err == nil {
			err = store(folder, c.Name, c.After)
		}
		if err != nil {
			return err
		}
		m.texts[c.Name], m.was[c.Name] = c.After, c.After
	}
	return nil
}

// meanwhile returns the text of a change with what others have written since the memory was read:
// another run may have learned. Of facts and questions the lines of both stay; other files hold one
// function each.
func meanwhile(folder *os.Root, c Change) (string, error) {
	b, err := disk.ReadIn(folder, c.Name, maxFile)
	now := strings.ReplaceAll(string(b), "\r\n", "\n")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.After, nil
	case err != nil || now == c.Before || c.Name == attributesFile:
		return c.After, err
	case c.Name != factsFile && c.Name != questionsFile:
		return "", fmt.Errorf("%s was changed meanwhile, and is left as it is", c.Name)
	}
	return Without(now, Without(c.Before, c.After)) + Without(Without(c.After, c.Before), now), nil
}

// Without returns the lines of a text that are not in another.
func Without(text, other string) string {
	among := map[string]bool{}
	for line := range strings.Lines(ended(other)) {
		among[line] = true
	}
	lines := slices.Collect(strings.Lines(ended(text)))
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return among[line] }), "")
}

// store writes a file of the folder; without a text it is removed.
func store(folder *os.Root, name, text string) error {
	if text == "" {
		if err := folder.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := folder.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	below, err := folder.OpenRoot(path.Dir(name))
	if err != nil {
		return err
	}
	defer below.Close()
	return disk.WriteFileIn(below, path.Base(name), []byte(text))
}
