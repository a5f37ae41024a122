package main

import (
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook/human"
)

// descriptions is the object that describe --json prints. Its fields are a
// contract: see docs/results.md.
type descriptions struct {
	Files    []fileDescription `json:"files"`
	Seconds  record.Seconds    `json:"seconds"`
	Warnings []string          `json:"warnings"`
}

type fileDescription struct {
	Name        string `json:"name"`
	Size        int64  `json:"size"` // bytes, with the files that belong to it
	Kind        string `json:"kind"`
	Description string `json:"description"`
	Like        string `json:"like"`      // the description is what differs from that file's
	Corrected   bool   `json:"corrected"` // it begins with what a person says
	Whole       bool   `json:"whole"`     // it is the content
	Error       string `json:"error"`     // why there is none
	unreached   bool   // the run ended before it was described
}

// newDescriptions returns a trajectory's descriptions.
func newDescriptions(t *record.Trajectory) descriptions {
	d := descriptions{Files: []fileDescription{}, Seconds: t.Seconds,
		Warnings: []string{}}
	for i, f := range t.Task.Files[:len(t.Descriptions)] { // there are none if the run ended at once
		own := t.Descriptions[i]
		unreached := own.Text == "" && own.Error == ""
		if unreached {
			own.Error = "the run ended before it"
		}
		d.Files = append(d.Files, fileDescription{
			Name: f.Name, Size: f.Size, Kind: own.Kind, Description: own.Text,
			Like: own.Like, Corrected: own.Corrected, Whole: own.Whole,
			Error: own.Error, unreached: unreached,
		})
	}
	d.Warnings = append(d.Warnings, t.Warnings...)
	return d
}

// print writes each description below a line with its file and origin.
func (d descriptions) print(b *strings.Builder) {
	for _, f := range d.Files {
		if f.unreached {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		heading := []string{ui.Printable(f.Name), human.Bytes(f.Size),
			ui.Clean(f.Kind), ui.Clean(f.from())}
		heading = slices.DeleteFunc(heading, func(part string) bool { return part == "" })
		fmt.Fprintf(b, "== %s\n", strings.Join(heading, " · "))
		if f.Description != "" {
			clean := ui.Cleaner{Still: true}
			b.WriteString(clean.Text(strings.TrimRight(f.Description, "\n")) + "\n")
		}
	}
}

// from returns the origin of a description.
func (f fileDescription) from() string {
	switch {
	case f.Error != "":
		return "not described: " + f.Error
	case f.Corrected:
		return "with what a person says"
	case f.Whole:
		return "the content itself"
	case f.Like != "":
		return "as " + ui.Printable(f.Like) + ", but"
	}
	return ""
}
