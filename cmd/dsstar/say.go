package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
)

// forPeople reports whether the answer is printed as text for people.
func (a *app) forPeople(j job) bool {
	return !j.json && (j.answer == "text" || j.answer == "" && a.stdoutTTY)
}

// say prints the answer.
func (a *app) say(j job, t *record.Trajectory, folder record.Folder) error {
	files := delivered(t, folder)
	if a.forPeople(j) {
		columns := 0
		if a.stdoutTTY {
			columns, _ = a.size()
		}
		_, err := fmt.Fprintln(a.stdout, inWords(t, files, columns))
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
// readings; the model's sentences; and the paths of files. Sentences are wrapped at columns; 0: not
// at all.
func inWords(t *record.Trajectory, files []string, columns int) string {
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
	text = wrapped(text, columns)
	if len(files) > 0 {
		text += "\n\n" + strings.Join(files, "\n")
	}
	return text
}

// wrapped wraps the lines of a text at words, and indents what is wrapped like its line.
func wrapped(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	var all []string
	for line := range strings.SplitSeq(text, "\n") {
		if ui.Width(line) <= columns {
			all = append(all, line)
			continue
		}
		words := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(words)]
		for _, l := range ui.Wrap(strings.Repeat(" ", ui.Margin)+words,
			columns+ui.Margin-len(indent), len(line)+1) {
			all = append(all, indent+l[ui.Margin:])
		}
	}
	return strings.Join(all, "\n")
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
