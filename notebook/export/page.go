package export

import (
	"cmp"
	_ "embed"
	"html"
	"strings"
	"text/template"

	"dsstar/notebook"
)

//go:embed page.css
var style string

//go:embed page.html
var pageText string

// HTML returns the notebook as one self-contained page without scripts.
func HTML(nb *notebook.Notebook, o Options) []byte {
	w := &writer{nb: nb, options: o, forms: onPages, Style: style,
		cleaner:  cleaner{folder: o.Folder},
		template: template.Must(template.New("page").Parse(pageText))}
	w.markdown = func(c *notebook.Cell, source string) string {
		text := markup(&w.cleaner, source)
		if c != nil {
			w.Title = cmp.Or(w.Title, w.cleaner.heading)
		}
		return text
	}
	w.html = w.clean
	w.code = func(source string) string { return code(source, Language(nb)) }
	w.text = func(kind, text string) string {
		switch kind {
		case "stdout", "stderr", "error", "plain":
			return terminal(text)
		case "tex":
			text = strings.TrimSpace(text)
		}
		return html.EscapeString(visible(text))
	}
	switch own(nb.Metadata)["verified"] {
	case true:
		w.State = "run verified"
	case false:
		w.State = "run"
	}
	return w.write()
}
