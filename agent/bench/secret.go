package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Exposed returns an error if any task's data contains a file with right answers to any task,
// where an agent could find them. It follows links.
func (s *Suite) Exposed() error {
	secret := slices.Clone(s.Secret)
	for i := range s.Tasks {
		secret = append(secret, s.Tasks[i].goldFiles()...)
	}
	secret = slices.DeleteFunc(secret, func(path string) bool { return !present(path) })
	for i, path := range secret {
		secret[i] = real(path)
	}
	slices.Sort(secret)
	secret = slices.Compact(secret)
	seen := map[string][]string{} // contents by folder, which many tasks share
	for _, t := range s.Tasks {
		if t.Data == "" {
			continue
		}
		held, ok := seen[t.Data]
		if !ok {
			held = within(real(t.Data), secret)
			seen[t.Data] = held
		}
		for _, name := range held {
			if t.Files == nil || slices.Contains(t.Files, name) {
				return fmt.Errorf("task %s: its data folder %s holds right answers: %s", t.ID, t.Data, name)
			}
		}
	}
	return nil
}

// ownFile reports whether path is a regular file in folder, not a link out of it.
func ownFile(folder, path string) bool {
	at := real(path)
	info, err := os.Lstat(at)
	return err == nil && info.Mode().IsRegular() && within(real(folder), []string{at}) != nil
}

// within returns the paths that are below folder, relative to it.
func within(folder string, paths []string) []string {
	var names []string
	for _, path := range paths {
		if name, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(name) {
			names = append(names, name)
		}
	}
	return names
}

// real returns path with symbolic links resolved, or path itself if it does not exist.
func real(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}
