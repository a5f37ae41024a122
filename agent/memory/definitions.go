package memory

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"dsstar/notebook/disk"
)

// definitionsFolder has Markdown that people write.
const definitionsFolder = "definitions"

// readDefinitions reads the sections of the files of Markdown, in the order of the files' names.
func (m *Memory) readDefinitions(ctx context.Context, folder *os.Root) error {
	below, err := disk.OpenFolderIn(folder, definitionsFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer below.Close()
	entries, err := fs.ReadDir(below.FS(), ".")
	if err != nil {
		return err
	}
	m.sections = map[string]string{}
	for _, entry := range entries {
		if path.Ext(entry.Name()) != ".md" {
			continue
		}
		text, err := m.read(ctx, folder, path.Join(definitionsFolder, entry.Name()), "its text is")
		if err != nil {
			return err
		}
		heading := ""
		for line := range strings.Lines(text) {
			if level := len(line) - len(strings.TrimLeft(line, "#")); level > 0 && line[level] == ' ' {
				heading = strings.Trim(strings.TrimSpace(line[level:]), "`")
			} else if heading != "" {
				m.sections[heading] += line
			}
		}
	}
	return nil
}

// Corrections returns what people say of the data files: the text below a heading that is a file's
// name.
func (m *Memory) Corrections(names []string) map[string]string {
	if m == nil {
		return nil
	}
	all := map[string]string{}
	for _, name := range names {
		if text := strings.TrimSpace(m.sections[name]); text != "" {
			all[name] = text
		}
	}
	return all
}
