package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"dsstar/agent"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// A saver keeps the notebook and the script of a run on disk as the run goes
// on. What somebody else has written there meanwhile, in JupyterLab or any
// editor, stays: the run goes on in a sibling, and the user is told.
//
// It writes files, also where a Jupyter server has the folder: with JupyterLab 4.6
// and jupyter-collaboration 5.0 an open document showed a file that was renamed
// into place as soon as one that was PUT through the contents API, as the server
// looks once a second in both cases. A PUT took 27 ms, has no condition by which
// an edit could be spared, and would have to be waited for.
type saver struct {
	notebook *disk.Guarded
	script   *disk.Guarded
}

func newSaver(f agent.Folder) *saver {
	return &saver{notebook.Guard(f.Notebook()), disk.Guard(f.Script(), disk.Format{})}
}

// continued is the saver of a run that goes on from its record.
func continued(r pastRun) *saver {
	s := newSaver(r.folder)
	s.notebook.SwitchTo(r.path, r.content)
	if path := disk.Newest(r.folder.Script()); path != "" {
		if script, err := disk.ReadFile(path, disk.MaxDocument); err == nil && slices.Contains(r.t.Scripts, agent.Digest(script)) {
			s.script.SwitchTo(path, script)
		}
	}
	return s
}

// save writes the notebook and the script of the trajectory, each whole or not
// at all. It returns what the user should know; the trajectory has it too.
func (s *saver) save(t *agent.Trajectory) (warnings []string, err error) {
	warn := func(text string) {
		t.Warnings = append(t.Warnings, text)
		warnings = append(warnings, text)
	}
	// The notebook first: it names this script and the one before, so that a run
	// that is killed in between knows either for its own.
	script := []byte(t.Script())
	if d := agent.Digest(script); len(t.Scripts) == 0 || t.Scripts[len(t.Scripts)-1] != d {
		t.Scripts = append(t.Scripts[max(0, len(t.Scripts)-1):len(t.Scripts):len(t.Scripts)], d)
	}
	draw := func() ([]byte, error) { return agent.Draw(t).Encode() }
	if err := guarded(s.notebook, draw, warn); err != nil {
		return warnings, fmt.Errorf("save the notebook: %w", err)
	}
	told := len(warnings)
	if err := guarded(s.script, func() ([]byte, error) { return script, nil }, warn); err != nil {
		return warnings, fmt.Errorf("save the script: %w", err)
	}
	if len(warnings) > told {
		if err := guarded(s.notebook, draw, warn); err != nil { // which has them
			return warnings, fmt.Errorf("save the notebook: %w", err)
		}
	}
	return warnings, nil
}

// guarded writes what draw returns, in a sibling if somebody has edited the file.
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
		warn(fmt.Sprintf("%s was edited during the run and stays as it is; the run goes on in %s", old, filepath.Base(g.Path())))
	}
}
