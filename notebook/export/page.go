package export

import (
	"cmp"
	_ "embed"
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
		cleaner: cleaner{folder: o.Folder}}
	w.markdown = func(c *notebook.Cell, source string) string {
		text := markup(&w.cleaner, source)
		if c != nil {
			w.Title = cmp.Or(w.Title, w.cleaner.heading)
		}
		return text
	}
	w.html = w.clean
	switch own(nb.Metadata)["verified"] {
	case true:
		w.State = "run verified"
	case false:
		w.State = "run"
	}
	return w.write(pageText, template.FuncMap{
		"code": func(source string) string { return code(source, Language(nb)) }})
}
