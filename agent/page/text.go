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
		"safety": func() string { return strings.Join(record.Safety, " ") },
		"join":   strings.Join, "inc": func(i int) int { return i + 1 }, "dec": func(i int) int { return i - 1 },
	}).ParseFS(cellTexts, "cells/*.md.tmpl"))
})

func text(role string, data any) string {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, role+".md.tmpl", data); err != nil {
		panic(err) // a mistake in a template
	}
	return strings.TrimSpace(b.String())
}

// inFiles returns the path of a file that cells wrote, as a link has it.
func inFiles(name string) string {
	return (&url.URL{Path: path.Join(record.FilesFolder, name)}).EscapedPath()
}

// bare returns a sentence in one line without its full stop.
func bare(sentence string) string { return strings.TrimRight(brief.OneLine(sentence), " .:") }

// shownChars limits how much of a discarded output is shown. The record has all of it.
const shownChars = 6000

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
		fate := "no cell"
		switch {
		case slices.ContainsFunc(cells, func(c *record.Round) bool { return c.Number == r.Number }):
			before(fmt.Sprintf("Step %d", r.Place), r.Attempts[:len(r.Attempts)-1])
			continue
		case r.Dropped > 0:
			fate = fmt.Sprintf("dropped in round %d", p.Before()+r.Dropped)
		case r.By != nil || n < len(p.Past):
			fate = "by hand"
		}
		r.Number += p.Before()
		all = append(all, turn{Round: r, Title: fmt.Sprintf("Round %d, %s", r.Number, fate)})
	}
	if f := p.Final; f != nil {
		rest := f.Attempts
		if p.FinalCell().IsCell() {
			rest = rest[:len(rest)-1]
		}
		before("Answer", rest)
	}
	return all
}

// JupyterLab takes even an escaped dollar or backslash for mathematics, unless it is alone in an
// element.
const plainDollar, plainBackslash = "<span>&#36;</span>", "<span>&#92;</span>"

// special escapes Markdown, mathematics and HTML.
var special = strings.NewReplacer(`\`, plainBackslash, "$", plainDollar, "`", "\\`", "*", `\*`, "_", `\_`,
	"[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;")

// prose escapes text for one Markdown paragraph. What stands between single backticks stays code.
func prose(text string) string {
	text = brief.OneLine(text)
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 || strings.Contains(text, "``") {
		return special.Replace(text)
	}
	for i := 0; i < len(parts); i += 2 {
		parts[i] = special.Replace(parts[i])
	}
	return strings.Join(parts, "`")
}

// Prose escapes text for Markdown, line by line.
func Prose(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = prose(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n\n")
}

var plainHTML = strings.NewReplacer(`\`, plainBackslash, "$", plainDollar, "<", "&lt;", ">", "&gt;",
	"&", "&amp;", `"`, "&#34;", "'", "&#39;", "`", "&#96;")

// inHTML escapes text for one line of raw HTML in a Markdown cell.
func inHTML(text string) string { return plainHTML.Replace(brief.OneLine(text)) }

// titleChars is the size of the longest title, in bytes.
const titleChars = 100

// title returns a text in one line, cut between words if it is long.
func title(text string) string {
	if text = brief.OneLine(text); len(text) <= titleChars {
		return text
	}
	return strings.TrimSpace(text[:max(0, strings.LastIndexByte(text[:titleChars], ' '))] + " …")
}

// A part is a question with what came of it, as the templates see it. Cells about the whole run are
// drawn of the last one.
type part struct {
	*record.Trajectory                    // as it was when the part ended
	all                *record.Trajectory // the whole
}

func partOf(t *record.Trajectory, k int) part { return part{t.Part(k), t} }

// Followed returns, of the first part, those after it.
func (p part) Followed() (later []*record.Trajectory) {
	for k := 1; p.First() && k < len(p.all.Questions); k++ {
		later = append(later, p.all.Part(k))
	}
	return later
}

// First reports whether the part is the first.
func (p part) First() bool { return p.Earlier() == 0 }

// Number returns the number of the part, from 1.
func (p part) Number() int { return p.Earlier() + 1 }

// Corrected returns the number of the question that corrects the answer; 0: none does.
func (p part) Corrected() int { return p.all.CorrectedBy(p.Earlier()) }

// Assumed returns the readings that evidence or a person has settled, or outputs decide.
func (p part) Assumed() []record.Reading {
	return slices.DeleteFunc(slices.Clone(p.Readings), func(r record.Reading) bool {
		decided := r.Decided() != "" && !r.Matters()
		return r.Problem != "" || !r.ByUser && !decided && (!r.Settled || r.Evidence == "")
	})
}

// Branched returns the readings of which a branch was computed.
func (p part) Branched() []record.Reading {
	return slices.DeleteFunc(slices.Clone(p.Readings), func(r record.Reading) bool {
		return !slices.ContainsFunc(r.Options, func(o record.Option) bool { return len(o.Attempts) > 0 })
	})
}

// maxAttached is the size of the largest chart that the report repeats, in base64.
const maxAttached = 200 << 10

// Chart returns the last chart of the last cell or, without one, of the last step, as the report
// repeats it; nil if there is none of such a size.
func (p part) Chart() map[string]notebook.MIMEBundle {
	for _, o := range slices.Backward(p.LastOutputs()) {
		if data, _ := o.Data["image/png"].(string); data != "" && len(data) <= maxAttached {
			return map[string]notebook.MIMEBundle{"chart": {"image/png": data}}
		}
	}
	return nil
}
