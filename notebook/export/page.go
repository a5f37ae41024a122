package export

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"io/fs"
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// Options are the inputs of an export besides the notebook.
type Options struct {
	Title string // used if the notebook has no heading
	// the notebook's folder, for pictures that it names; nil: none are read
	Files fs.FS
	// that folder as the page's folder sees it, with slashes, for links to files; "": the same
	Folder string
}

//go:embed page.css
var style string

// policy is the content security policy: inline style and data images only.
const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; " +
	"form-action 'none'"

// Mark occurs near the beginning of every page and Markdown file that this package makes.
const Mark = "made by dsstar export"

// HTML returns the notebook as one self-contained page without scripts.
func HTML(nb *notebook.Notebook, o Options) []byte {
	p := &page{nb: nb, options: o, cleaner: cleaner{Folder: o.Folder, Highlight: code}}
	for i := range nb.Cells {
		p.cell(&nb.Cells[i])
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="generator" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>
%s</style>
</head>
<body%s>
`, policy, Mark, html.EscapeString(p.title()), style, p.state())
	if p.code {
		b.WriteString("<input type=\"checkbox\" id=\"code\" checked>\n<label for=\"code\">Code</label>\n")
	}
	b.WriteString("<main>\n" + p.b.String() + "</main>\n</body>\n</html>\n")
	return []byte(b.String())
}

// A page is a page under construction.
type page struct {
	nb      *notebook.Notebook
	options Options
	cleaner cleaner
	b       strings.Builder
	heading string // the first heading
	code    bool   // the page has code
}

func (p *page) title() string {
	for _, title := range []string{p.heading, p.options.Title} {
		if title = strings.Join(strings.Fields(visible(title)), " "); title != "" {
			return title
		}
	}
	return "Notebook"
}

// state returns the HTML class attribute that says how a run of dsstar ended.
func (p *page) state() string {
	switch own(p.nb.Metadata)["verified"] {
	case true:
		return ` class="run verified"`
	case false:
		return ` class="run"`
	}
	return ""
}

// own returns the metadata under dsstar's key.
func own(metadata map[string]any) map[string]any {
	of, _ := metadata["dsstar"].(map[string]any)
	return of
}

// look returns the class of one of dsstar's cells, by its role; "" for others.
func look(c *notebook.Cell) string {
	switch role := own(c.Metadata)["role"]; role {
	case "question", "report", "asked", "verdict", "final", "tried", "proof":
		return fmt.Sprintf(" %s", role)
	}
	return ""
}

func (p *page) cell(c *notebook.Cell) {
	fmt.Fprintf(&p.b, "<section class=\"%s%s\">\n", c.Type, look(c))
	p.cleaner.Picture = func(name string) string {
		return picture(name, c.Attachments, p.options.Files)
	}
	switch c.Type {
	case notebook.Markdown:
		p.b.WriteString(markup(&p.cleaner, c.Source))
		p.heading = cmp.Or(p.heading, p.cleaner.Heading)
	case notebook.Raw:
		fmt.Fprintf(&p.b, "<pre>%s</pre>\n", html.EscapeString(visible(c.Source)))
	case notebook.Code:
		p.source(c)
		p.outputs(c)
	}
	p.b.WriteString("</section>\n")
}

// source writes the code of a cell, folded if Jupyter hides it.
func (p *page) source(c *notebook.Cell) {
	if strings.TrimSpace(c.Source) == "" {
		return
	}
	p.code = true
	count := ""
	if c.ExecutionCount > 0 {
		count = fmt.Sprintf(` data-count="%d"`, c.ExecutionCount)
	}
	block := fmt.Sprintf("<pre class=\"source\"%s><code>%s</code></pre>\n", count,
		code(c.Source, Language(p.nb)))
	p.fold(hidden(c, "source_hidden"), "source", "Code", block)
}

// fold writes a block, in a folded section if closed.
func (p *page) fold(closed bool, class, title, block string) {
	if closed {
		block = fmt.Sprintf("<details class=\"%s\">\n<summary>%s</summary>\n%s</details>\n", class,
			title, block)
	}
	p.b.WriteString(block)
}

// hidden reports whether Jupyter hides that part of the cell.
func hidden(c *notebook.Cell, part string) bool {
	of, _ := c.Metadata["jupyter"].(map[string]any)
	return of[part] == true || part == "outputs_hidden" && c.Metadata["collapsed"] == true
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
