package page

import (
	"cmp"
	"embed"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// The templates of Markdown cells, one for each role. They must escape all that is not dsstar's own
// text, with prose, paragraphs, html, path or fence.
//
//go:embed cells/*.md.tmpl
var cellTexts embed.FS

var templates = sync.OnceValue(func() *template.Template {
	set := template.New("")
	body := func(name string, data any) (string, error) {
		var b strings.Builder
		err := set.ExecuteTemplate(&b, name, data)
		return strings.TrimRight(b.String(), "\n"), err
	}
	return template.Must(set.Funcs(template.FuncMap{
		"prose": prose, "paragraphs": Prose, "html": inHTML, "fence": prompts.Fence, "path": inFiles,
		"title": questionTitle, "line": brief.OneLine, "clip": record.Clipped, "bare": bare,
		"after": record.After, "withFiles": record.WithFiles, "taken": taken,
		"printed": printed, "problem": brief.Problem, "tries": tries,
		"skipped": files.InWords, "plural": human.Plural, "dollars": human.Dollars, "bytes": human.Bytes,
		"ruled":    func(ruling string) string { return rulings[ruling] },
		"safety":   func() string { return strings.Join(record.Safety, " ") },
		"handMark": func() string { return handMark },
		"join":     strings.Join, "inc": func(i int) int { return i + 1 }, "body": body,
	}).ParseFS(cellTexts, "cells/*.md.tmpl"))
})

// text returns the text of a cell.
func text(role string, data any) string {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, role+".md.tmpl", data); err != nil {
		panic(err) // a mistake in a template
	}
	return strings.TrimSpace(b.String())
}

// handMark follows the text of a step whose cell a person wrote or changed.
const handMark = "*The cell was written or changed by hand.*"

// rulings says what an arbiter ruled.
var rulings = map[string]string{
	"":                    "Another reading of the question explains the difference",
	record.RuledSame:      "Both mean the same",
	record.RuledFirst:     "The steps were found wrong",
	record.RuledSecond:    "It was found wrong",
	record.RuledReading:   "Each is right for its reading of the question",
	record.RuledUndecided: "Which is right could not be decided",
}

// inFiles returns the path of a file that cells wrote, as a link has it.
func inFiles(name string) string {
	to := url.URL{Path: path.Join(record.FilesFolder, name)}
	return to.EscapedPath()
}

// bare returns a sentence in one line without its full stop.
func bare(sentence string) string { return strings.TrimRight(brief.OneLine(sentence), " .:") }

// taken returns the option of a reading that the steps take, or "".
func taken(r record.Reading) string {
	if r.Chosen < 0 || r.Chosen >= len(r.Options) {
		return ""
	}
	return r.Options[r.Chosen].Text
}

// shownChars limits how much of a discarded output is shown. The record has all of it.
const shownChars = 6000

// printed returns what a discarded cell printed.
func printed(x notebook.Execution) string {
	out := x.PlainText()
	if x.Status != notebook.OK {
		out = cmp.Or(brief.ErrorReport(x, shownChars), out)
	}
	return brief.Clip(out, shownChars)
}

// A turn is a round with its number among those of the run, or has no more than attempts at a cell,
// or what a person did.
type turn struct {
	record.Round
	Number int
	Old    bool     // a person, or new data, have changed cells since
	Of     string   // at which cell the attempts were; "": it needs no name
	By     []string // what a person did

	Fate    string // why it has no cell
	Dropped bool   // its step was in the plan
}

// tries returns attempts that did not become a cell.
func tries(of string, attempts []record.Attempt, returns ...record.Return) turn {
	return turn{Round: record.Round{Attempts: attempts, Returns: returns}, Of: of}
}

// Heading returns the heading of the step, and what is not in it.
func (t turn) Heading() (h struct{ Title, Body string }) {
	h.Title, h.Body = headed(brief.OneLine(cmp.Or(t.Rewrite, t.Step)), stepTitleChars)
	return h
}

// Undone says how the session went back after the attempt of a number, from 1; "" if it did not.
func (t turn) Undone(attempt int) (how string) {
	for _, b := range t.Returns {
		if b.After == attempt {
			how = record.HowRestored(b.Restoration)
		}
	}
	return how
}

// Log returns what persons changed, the rounds without a cell, and the attempts that did not become
// cells.
func (p part) Log() (all []turn) {
	cells := p.Drawn(p.Method.Script)
	for n, lap := range p.Laps() {
		if n > 0 {
			all = append(all, turn{By: lap.Start.What, Number: p.Before() + lap.Start.Number})
		}
		for _, r := range lap.Rounds {
			if slices.ContainsFunc(cells, func(c *record.Round) bool { return c.Number == r.Number }) {
				of := fmt.Sprintf("Step %d", r.Place)
				all = append(all, tries(of, r.Attempts[:len(r.Attempts)-1], r.Returns...))
			} else {
				all = append(all, p.without(r, n < len(p.Former)))
			}
		}
	}
	if f := p.Final; f != nil {
		rest := f.Attempts
		if _, drawn := p.FinalCell(); drawn {
			rest = rest[:len(rest)-1]
		}
		all = append(all, tries("Answer", rest, f.Returns...))
	}
	return slices.DeleteFunc(all, func(t turn) bool {
		return t.By == nil && t.Fate == "" && len(t.Attempts) == 0
	})
}

// without returns a round that has no cell, perhaps any more, since the question began again.
func (p part) without(r record.Round, former bool) turn {
	t := turn{Round: r, Number: p.Before() + r.Number, Dropped: true}
	switch _, ran := r.Accepted(); {
	case r.Dropped > 0 && r.Rejected():
		t.Fate = brief.Problem(r.Attempts[len(r.Attempts)-1].Execution)
	case r.Dropped == r.Number:
		t.Fate = "dropped"
	case r.Dropped > 0:
		t.Fate = fmt.Sprintf("dropped in round %d", p.Before()+r.Dropped)
	case former:
		t.Fate = "dropped by hand"
	case ran && p.Method.Script:
		t.Fate, t.Dropped = "its script became the next one", false
	default:
		t.Fate, t.Dropped = "under way", false
	}
	return t
}
