package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// discard removes the folder of a run that no model has ever replied to, and reports whether it
// has. The folder stays if it holds anything that such a run does not write, or that somebody has
// edited.
func discard(f record.Folder) bool {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return false
	}
	for _, entry := range entries {
		path, vain := filepath.Join(string(f), entry.Name()), false
		switch path {
		case f.Notebook():
			vain = unedited(f)
		case f.Files():
			vain = onlyData(path)
		case f.Trace(), f.Script(), filepath.Join(string(f), record.DataFolder):
			vain = true
		}
		if !vain {
			return false
		}
	}
	return disk.RemoveFolder(string(f)) == nil
}

// onlyData reports whether a folder of cells has nothing but the set-up cell's link to the data.
func onlyData(folder string) bool {
	wrote, err := os.ReadDir(folder)
	return err == nil && !slices.ContainsFunc(wrote, func(entry fs.DirEntry) bool {
		return entry.Name() != record.DataFolder || entry.Type() != fs.ModeSymlink
	})
}

// unedited reports whether a run has no reply of a model, and nobody has edited its notebook or script.
func unedited(f record.Folder) bool {
	nb, err := notebook.Open(f.Notebook())
	if err != nil {
		return false
	}
	t, err := page.Read(nb)
	if err != nil || t.RoundsTaken()+len(t.Remarks)+t.Usage.Calls > 0 {
		return false
	}
	script, err := disk.ReadPlain(f.Script(), disk.MaxDocument)
	return err != nil || slices.Contains(t.Scripts, record.Digest(string(script)))
}
