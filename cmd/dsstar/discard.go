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
	own := []string{f.Notebook(), f.Files(), f.Trace(), f.Script(), filepath.Join(string(f), record.DataFolder)}
	foreign := func(entry fs.DirEntry) bool {
		return !slices.Contains(own, filepath.Join(string(f), entry.Name()))
	}
	made := func(entry fs.DirEntry) bool { // by cells: the set-up cell makes a link
		return entry.Name() != record.DataFolder || entry.Type() != fs.ModeSymlink
	}
	entries, err := os.ReadDir(string(f))
	files, _ := os.ReadDir(f.Files()) // there may be none
	if err != nil || slices.ContainsFunc(entries, foreign) || slices.ContainsFunc(files, made) ||
		exists(f.Notebook()) && !unedited(f) {
		return false
	}
	return disk.RemoveFolder(string(f)) == nil
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
