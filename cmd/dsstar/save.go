package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// A saver saves the notebook and the script while the run goes on. A file that somebody has
// edited meanwhile is never overwritten: the run continues in a sibling file, with a warning.
//
// It writes files directly even if a Jupyter server serves the folder. JupyterLab 4.6 with
// jupyter-collaboration 5.0 shows a file renamed into place as soon as one that was PUT through the
// contents API, because the server polls once a second. A PUT takes 27 ms and cannot be made
// conditional on the file being unedited.
type saver struct {
	notebook *disk.Guarded
	script   *disk.Guarded
	key      record.Key
	saved    [2][]byte // what it has written last
}

func newSaver(f record.Folder, key record.Key) *saver {
	return &saver{notebook: notebook.Guard(f.Notebook()), script: disk.Guard(f.Script(), nil), key: key}
}

// continued returns the saver of a resumed run.
func continued(r pastRun, key record.Key) *saver {
	s := newSaver(r.folder, key)
	s.notebook.SwitchTo(r.path, r.content)
	if path := disk.Newest(r.folder.Script()); path != "" {
		if script, err := disk.ReadPlain(path, disk.MaxDocument); err == nil &&
			slices.Contains(r.t.Scripts, record.Digest(string(script))) {
			s.script.SwitchTo(path, script)
		}
	}
	return s
}

// save writes the notebook and the script, each atomically. It returns warnings, which it also
// adds to the trajectory.
func (s *saver) save(t *record.Trajectory) (warnings []string, err error) {
	warn := func(text string) {
		t.Warnings = append(t.Warnings, text)
		warnings = append(warnings, text)
	}
	// Save the notebook first. It has the digests of this script and the previous one, so that a
	// run killed between the two writes recognizes either as its own.
	script := t.Script()
	if d := record.Digest(script); len(t.Scripts) == 0 || t.Scripts[len(t.Scripts)-1] != d {
		t.Scripts = append(t.Scripts[max(0, len(t.Scripts)-1):len(t.Scripts):len(t.Scripts)], d)
	}
	draw := func() (data []byte, err error) {
		nb := page.Draw(t)
		s.key.Seal(nb)
		data, err = nb.Encode()
		s.saved[0] = data
		return data, err
	}
	s.saved[1] = []byte(script)
	if err := guarded(s.notebook, draw, warn); err != nil {
		return warnings, fmt.Errorf("save the notebook: %w", err)
	}
	told := len(warnings)
	if err := guarded(s.script, func() ([]byte, error) { return s.saved[1], nil }, warn); err != nil {
		return warnings, fmt.Errorf("save the script: %w", err)
	}
	if len(warnings) > told {
		if err := guarded(s.notebook, draw, warn); err != nil { // now with the warnings
			return warnings, fmt.Errorf("save the notebook: %w", err)
		}
	}
	return warnings, nil
}

// guarded writes the output of draw, to a sibling if somebody has edited the file.
func guarded(g *disk.Guarded, draw func() ([]byte, error), warn func(string)) error {
	for {
		data, err := draw()
		if err != nil {
			return err
		}
		if err = g.Write(data); !errors.Is(err, disk.ErrEdited) {
			return err
		}
		old := filepath.Base(g.Path())
		g.NextSibling()
		warn(fmt.Sprintf("%s was edited during the run and is left alone; the run continues in %s", old,
			filepath.Base(g.Path())))
	}
}

// discard removes the folder that a run has made and in which no model has replied, and reports whether
// it has. The folder stays if it holds anything that no run writes, or that somebody has edited.
func discard(f record.Folder, s *saver) bool {
	own := []string{f.Notebook(), f.Files(), f.Trace(), f.Script(), f.Variables(), filepath.Join(string(f), record.DataFolder)}
	foreign := func(entry fs.DirEntry) bool {
		return !slices.Contains(own, filepath.Join(string(f), entry.Name()))
	}
	edited := func(path string, saved []byte) bool {
		now, err := disk.ReadPlain(path, disk.MaxDocument)
		return disk.Exists(path) && (err != nil || !bytes.Equal(now, saved))
	}
	entries, err := os.ReadDir(string(f))
	if err != nil || slices.ContainsFunc(entries, foreign) || edited(f.Notebook(), s.saved[0]) || edited(f.Script(), s.saved[1]) {
		return false
	}
	return disk.RemoveFolder(string(f)) == nil
}

const keyBytes = 32

var errNoConfig = errors.New("there is no folder for its key, because HOME is not set")

// key returns the key with which this user's dsstar seals its records. Without one, which is said once,
// every run counts as another dsstar's.
func (a *app) key() record.Key {
	a.keyOnce.Do(func() {
		err := errNoConfig
		if a.configDir != "" {
			a.ownKey, err = disk.Secret(filepath.Join(a.configDir, "key"), keyBytes)
		}
		if err != nil {
			a.warn("dsstar cannot tell its own runs from others: %v", err)
		}
	})
	return a.ownKey
}
