package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/record"
)

// forPeople reports whether the answer is printed as text for people.
func (a *app) forPeople(j job) bool {
	return !j.json && (j.answer == "text" || j.answer == "" && a.stdoutTTY)
}

// say prints the answer.
func (a *app) say(j job, t *record.Trajectory, folder record.Folder) error {
	files := delivered(t, folder)
	if a.forPeople(j) {
		_, err := fmt.Fprintln(a.stdout, inWords(t, files))
		return err
	}
	if _, err := fmt.Fprintln(a.stdout, t.Answer()); err != nil {
		return err
	}
	for _, path := range files {
		j.progress.Paste("written  %s", path)
	}
	return nil
}

// inWords is the answer for people: itself, with what it is worth; the answers under other
// readings; the model's sentences; and the paths of files.
func inWords(t *record.Trajectory, files []string) string {
	mark := " "
	if strings.Contains(t.Answer(), "\n") {
		mark = "\n"
	}
	text := "Answer, " + t.Label() + ":" + mark + t.Answer()
	for _, r := range t.OpenReadings() {
		text += "\n\nIt depends on a reading: " + r.InWords(t.Answer())
	}
	if t.Summary() != "" {
		text += "\n\n" + t.SummaryLabel() + ":\n" + t.Summary()
	}
	if len(files) > 0 {
		text += "\n\n" + strings.Join(files, "\n")
	}
	return text
}

// maxPictures is the number of pictures that are named besides the files of the answer.
const maxPictures = 5

var isPicture = regexp.MustCompile(`(?i)\.(png|jpe?g|svg|gif|webp|pdf)$`)

// delivered returns the paths of the files that are part of the answer, and of the first pictures
// that cells have written. Links are not followed.
func delivered(t *record.Trajectory, folder record.Folder) []string {
	given, paths, pictures := t.Given(), []string{}, 0
	_ = filepath.WalkDir(folder.Files(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		name, _ := filepath.Rel(folder.Files(), path) // which it is in
		asked := slices.Contains(given, filepath.ToSlash(name))
		if picture := isPicture.MatchString(name); entry.Type().IsRegular() &&
			(asked || picture && pictures < maxPictures) {
			paths = append(paths, path)
			if !asked {
				pictures++
			}
		}
		return nil
	})
	return paths
}
