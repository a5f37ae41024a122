package page

import (
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
	return template.Must(template.New("").Funcs(template.FuncMap{
		"prose": prose, "paragraphs": Prose, "html": inHTML, "fence": prompts.Fence, "path": inFiles,
		"title": title, "line": brief.OneLine, "clip": record.Clipped, "bare": bare,
		"after": record.After, "picture": record.IsPicture,
		"printed": printed, "tries": tries,
		"skipped": files.InWords, "plural": human.Plural, "dollars": human.Dollars, "bytes": human.Bytes,
		"ruled":    func(ruling string) string { return rulings[ruling] },
		"safety":   func() string { return strings.Join(record.Safety, " ") },
		"handMark": func() string { return handMark }, "summaryLabel": func() string { return record.SummaryLabel },
		"join": strings.Join, "inc": func(i int) int { return i + 1 },
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

// shownChars limits how much of a discarded output is shown. The record has all of it.
const shownChars = 6000

// printed returns what a discarded cell printed.
func printed(x notebook.Execution) string { return brief.Clip(x.PlainText(), shownChars) }

// A turn is what a cell shows of a round; in the log, what did not become a cell.
type turn struct {
	record.Round
	Old   bool   // a person, or new data, have changed cells since
	Title string // in the log
}

// tries returns attempts.
func tries(attempts []record.Attempt) turn { return turn{Round: record.Round{Attempts: attempts}} }

// Log returns what persons changed, the rounds without a cell, and the attempts before those that
// became cells.
func (p part) Log() (all []turn) {
	before := func(of string, attempts []record.Attempt) {
		if n := len(attempts); n > 0 {
			all = append(all, turn{Title: of + ", tried before", Round: record.Round{Attempts: attempts,
				Step: brief.Problem(attempts[n-1].Execution)}})
		}
	}
	cells := p.Drawn(p.Method.Script)
	for n, r := range p.Ever() {
		_, ran := r.Accepted()
		fate := "under way"
		switch {
		case slices.ContainsFunc(cells, func(c *record.Round) bool { return c.Number == r.Number }):
			before(fmt.Sprintf("Step %d", r.Place), r.Attempts[:len(r.Attempts)-1])
			continue
		case p.Method.Agent != "":
			fate = "no cell"
		case r.By != nil:
			fate = "by hand"
		case r.Dropped > 0:
			fate = fmt.Sprintf("dropped in round %d", p.Before()+r.Dropped)
		case n < len(p.Past):
			fate = "dropped by hand"
		case ran:
			fate = "its script became the next one"
		}
		r.Number += p.Before()
		all = append(all, turn{Round: r, Title: fmt.Sprintf("Round %d, %s", r.Number, fate)})
	}
	if f := p.Final; f != nil {
		rest := f.Attempts
		if _, drawn := p.FinalCell(); drawn {
			rest = rest[:len(rest)-1]
		}
		before("Answer", rest)
	}
	return all
}
