// Package export turns any notebook into one self-contained file: an HTML page ([HTML]),
// Markdown ([Markdown]) or a script ([Script]).
//
// The content of a notebook comes from models, data and strangers, and is not trusted. None of
// it can run in a page, reach the network or break the page's structure. All HTML, including
// that of Markdown, is parsed and reduced to the elements and attributes that clean.go lists.
// Pictures in SVG become images, in which scripts do not run. The page's content security policy
// allows only its own style.
//
// It is a separate package so that importers of notebook do not link the parsers.
package export

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"text/template"

	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/lazy"
)

// Options are the inputs of an export besides the notebook.
type Options struct {
	Title string // used if the notebook has no heading
	// the notebook's folder, for pictures that it names; nil: none are read
	Files *os.Root
}

// Mark occurs near the beginning of every page and Markdown file that this package makes.
const Mark = "made by dsstar export"

// A writer writes a notebook in one format. Its funcs return text as the format has it; all else is
// plain text, which the template escapes.
type writer struct {
	nb      *notebook.Notebook
	options Options
	forms   []string // the MIME types of outputs that are shown, the best first
	cleaner cleaner

	markdown func(c *notebook.Cell, source string) string // nil: of an output
	html     func(text string, hasText bool) string       // "": there is better, such as its text

	// what the template shows
	Title, State, Style string
	Code                bool // there is code
	Cells               []cell
}

// A cell is what a template shows of a cell.
type cell struct {
	Class string
	Parts []part
}

// A part is code, or outputs, or the text of a cell.
type part struct {
	Class, Title string
	Hidden       bool // Jupyter hides it
	Count        int  // of the execution, for code
	Blocks       []block
}

// A block is one output, code or text.
type block struct {
	Kind string
	Text string
	Alt  string // of a picture
}

func (w *writer) write(form string, funcs template.FuncMap) []byte {
	for i := range w.nb.Cells {
		w.Cells = append(w.Cells, w.cell(&w.nb.Cells[i]))
	}
	w.Title = cmp.Or(line(w.Title), line(w.options.Title), "Notebook")
	var b strings.Builder
	err := template.Must(template.New("").Funcs(funcs).Parse(form)).Execute(&b, w)
	if err != nil {
		panic(err) // a mistake in the template, which any notebook shows
	}
	return []byte(strings.TrimRight(b.String(), "\n") + "\n")
}

func (w *writer) cell(c *notebook.Cell) cell {
	w.cleaner.picture = func(name string) string {
		return picture(name, c.Attachments, w.options.Files)
	}
	one := cell{Class: string(c.Type) + look(c)}
	add := func(p part, blocks ...block) {
		for _, b := range blocks {
			if b.Text = visible(b.Text); strings.TrimSpace(b.Text) != "" {
				p.Blocks = append(p.Blocks, b)
			}
		}
		if len(p.Blocks) > 0 {
			one.Parts = append(one.Parts, p)
		}
	}
	switch c.Type {
	case notebook.Markdown:
		add(part{}, block{Kind: "markdown", Text: w.markdown(c, c.Source)})
	case notebook.Raw:
		add(part{}, block{Kind: "raw", Text: c.Source})
	case notebook.Code:
		hidden, _ := c.Metadata["jupyter"].(map[string]any)
		if strings.TrimSpace(c.Source) != "" {
			w.Code = true
			add(part{Class: "source", Title: "Code", Hidden: hidden["source_hidden"] == true,
				Count: c.ExecutionCount}, block{Kind: "source", Text: c.Source})
		}
		add(part{Class: "outputs", Title: "Output", Hidden: hidden["outputs_hidden"] == true ||
			c.Metadata["collapsed"] == true}, w.outputs(c)...)
	}
	return one
}

// outputs returns the outputs of a cell.
func (w *writer) outputs(c *notebook.Cell) (all []block) {
	for _, o := range c.Outputs {
		switch {
		case o.Type == notebook.ErrorOutput:
			all = append(all, block{Kind: "error", Text: terminal(o)})
		case o.Type != notebook.Stream:
			all = append(all, w.display(o)...)
		case o.Name == "stderr":
			all = append(all, block{Kind: "stderr", Text: terminal(o)})
		default:
			all = append(all, block{Kind: "stdout", Text: terminal(o)})
		}
	}
	return all
}

// terminal returns an output's text as a terminal would show it, without colours.
func terminal(o notebook.Output) string { return notebook.Overstrike(o.PlainText()) }

func line(text string) string { return strings.Join(strings.Fields(visible(text)), " ") }

// own returns the metadata under dsstar's key.
func own(metadata map[string]any) map[string]any {
	of, _ := metadata["dsstar"].(map[string]any)
	return of
}

// look returns the class of one of dsstar's cells, by its role; "" for others.
func look(c *notebook.Cell) string {
	switch role := own(c.Metadata)["role"]; role {
	case "question", "report", "asked", "verdict", "final", "tried", "proof":
		return " " + role.(string)
	}
	return ""
}

var languageName = lazy.Regexp(`^[\w+#./-]{1,40}$`)

// Language returns the language of the notebook's code, in lower case. The default is "python".
func Language(nb *notebook.Notebook) string {
	for _, of := range []struct{ key, name string }{{"language_info", "name"},
		{"kernelspec", "language"}} {
		info, _ := nb.Metadata[of.key].(map[string]any)
		if s, _ := info[of.name].(string); languageName().MatchString(s) {
			return strings.ToLower(s)
		}
	}
	return "python"
}

const svg = "image/svg+xml"

// SVG and HTML that may fetch something. As a picture, such SVG fetches nothing:
// https://www.w3.org/TR/svg-integration/#secure-static-mode. A page is without what HTML fetches.
var svgOff, htmlOff = notebook.SwitchedOff(svg), notebook.SwitchedOff("text/html")

// The MIME types that are shown, the best first: JupyterLab's order, except for what has text for
// people.
var (
	pictures = []string{svg, "image/png", "image/jpeg", "image/gif", "image/webp", svgOff}
	forms    = slices.Concat([]string{"text/html", htmlOff, "text/markdown"}, pictures,
		[]string{forPeople, "text/latex", "application/json", "text/plain"})
)

// forPeople is text/plain that is more than an object's repr, such as <IPython.core.display.HTML
// object>.
const forPeople = "text"

// display shows the best form of an output, with a note if a notebook could show more.
func (w *writer) display(o notebook.Output) []block {
	var shown block
	for _, mime := range w.forms {
		if shown = w.show(o, mime); strings.TrimSpace(shown.Text) != "" {
			break
		}
	}
	left := slices.DeleteFunc(slices.Sorted(maps.Keys(o.Data)), func(mime string) bool {
		return notebook.IsSwitchedOff(mime) || // nothing shows it, and plain text says so
			slices.Contains([]string{"text/plain", "text/latex", "application/json"}, mime)
	})
	if len(left) == 0 || shown.Text != "" && shown.Kind != "plain" {
		return []block{shown}
	}
	return []block{shown, {Kind: "note", Text: strings.Join(left, ", ")}}
}

// show shows one form of an output. The block has no text if it cannot be shown.
func (w *writer) show(o notebook.Output, mime string) block {
	data := str(o, mime)
	switch {
	case mime == forPeople && readable(o), mime == "text/plain":
		return block{Kind: "plain", Text: terminal(o)}
	case data == "" && o.Data[mime] == nil:
	case mime == "text/html" || mime == htmlOff:
		return block{Kind: "html", Text: w.html(data, readable(o))}
	case mime == "text/markdown":
		return block{Kind: "text", Text: w.markdown(nil, data)}
	case mime == "text/latex":
		return block{Kind: "tex", Text: strings.TrimSpace(data)}
	case mime == "application/json":
		if data, err := json.MarshalIndent(o.Data[mime], "", "  "); err == nil {
			return block{Kind: "json", Text: string(data)}
		}
	default:
		alt := strings.Trim(visible(str(o, "text/plain")), "<> \n")
		if alt == "" || len(alt) >= 200 {
			alt = "Figure"
		}
		return block{Kind: "image", Text: pictureURI(o.Data, mime), Alt: alt}
	}
	return block{}
}

// clean sanitizes HTML. It returns "" if so little is left without scripts that text is better.
func (w *writer) clean(text string, hasText bool) string {
	c := &w.cleaner
	text, ok := c.HTML(text)
	if !ok || hasText && (c.controls || c.active && !c.solid) ||
		!c.solid && strings.TrimSpace(c.words) == "" {
		return ""
	}
	return text
}

func readable(o notebook.Output) bool {
	plain := strings.TrimSpace(str(o, "text/plain"))
	return plain != "" && !strings.HasPrefix(plain, "<")
}

func str(o notebook.Output, mime string) string {
	s, _ := o.Data[mime].(string)
	return s
}

// pictureURI returns the data URI of the picture of a MIME type in data; "" if there is none
// or it is invalid.
func pictureURI(data notebook.MIMEBundle, mime string) string {
	text, _ := data[mime].(string)
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	isPicture := err == nil && http.DetectContentType(raw) == mime
	if mime == svg || mime == svgOff {
		mime, raw, isPicture = svg, []byte(strings.ToValidUTF8(text, "")), strings.Contains(text, "<svg")
	}
	if !isPicture {
		return ""
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(raw)
}

// maxPicture is the maximum size of a picture read from a file, in bytes.
const maxPicture = 20 << 20

// picture returns the data URI of a picture that Markdown names: one attached to the cell, or a file
// beside the notebook; "" if there is none.
func picture(name string, attached map[string]notebook.MIMEBundle, files *os.Root) string {
	name, err := url.PathUnescape(name)
	if err != nil {
		return ""
	}
	attachment, isAttached := strings.CutPrefix(name, "attachment:")
	data := attached[attachment]
	if !isAttached && files != nil {
		raw, err := disk.ReadIn(files, name, maxPicture)
		if err != nil {
			return ""
		}
		data = notebook.MIMEBundle{
			http.DetectContentType(raw): base64.StdEncoding.EncodeToString(raw)}
		if strings.EqualFold(path.Ext(name), ".svg") {
			data[svg] = string(raw)
		}
	}
	for _, mime := range pictures {
		if uri := pictureURI(data, mime); uri != "" {
			return uri
		}
	}
	return ""
}
