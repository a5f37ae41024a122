package export

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"dsstar/notebook"
)

// joined merges consecutive outputs of the same stream.
func joined(outputs []notebook.Output) []notebook.Output {
	var all []notebook.Output
	for _, o := range outputs {
		if n := len(all) - 1; n >= 0 && o.Type == notebook.Stream && all[n].Type == notebook.Stream &&
			all[n].Name == o.Name {
			all[n].Text += o.Text
		} else {
			all = append(all, o)
		}
	}
	return all
}

func (p *page) outputs(c *notebook.Cell) {
	var b strings.Builder
	for _, o := range joined(c.Outputs) {
		switch o.Type {
		case notebook.Stream:
			if text := terminal(o.Text); text != "" {
				class := "out"
				if o.Name == "stderr" {
					class = "out stderr"
				}
				fmt.Fprintf(&b, "<pre class=\"%s\">%s</pre>\n", class, text)
			}
		case notebook.ErrorOutput:
			fmt.Fprintf(&b, "<pre class=\"out error\">%s</pre>\n", terminal(traceback(o)))
		default:
			b.WriteString(p.display(o))
		}
	}
	if b.Len() > 0 {
		p.fold(hidden(c, "outputs_hidden"), "outputs", "Output", b.String())
	}
}

func traceback(o notebook.Output) string {
	if len(o.Traceback) == 0 {
		return o.EName + ": " + o.EValue
	}
	return strings.Join(o.Traceback, "\n")
}

// display shows the richest representation that a page can show, with a note if a notebook could
// show more.
func (p *page) display(o notebook.Output) string {
	for _, f := range forms {
		if o.Data[f.mime] == nil {
			continue
		}
		if shown := f.show(p, o); shown != "" {
			return shown + note(o, f.mime)
		}
	}
	return note(o, "")
}

// note names the MIME types that are not shown; shown is the one that is. It returns "" if nothing
// worth noting is missing.
func note(o notebook.Output, shown string) string {
	var left []string
	for _, mime := range slices.Sorted(maps.Keys(o.Data)) {
		if notebook.IsSwitchedOff(mime) { // nothing shows it, and plain text says so
			continue
		}
		i := slices.IndexFunc(forms, func(f form) bool { return f.mime == mime })
		j := slices.IndexFunc(forms, func(f form) bool { return f.mime == shown })
		if mime != shown && (i < 0 || j < 0 || mime == "text/html" && i < j) {
			left = append(left, mime)
		}
	}
	if len(left) == 0 || shown != "" && !strings.HasPrefix(shown, "text/plain") {
		return ""
	}
	return fmt.Sprintf("<p class=\"note\">Only a notebook can show this in full: %s</p>\n",
		html.EscapeString(visible(strings.Join(left, ", "))))
}

// A form shows data of a MIME type. show returns "" if it cannot.
type form struct {
	mime string
	show func(*page, notebook.Output) string
}

const svg = "image/svg+xml"

// svgOff is the MIME type of an SVG that may fetch something. As a picture, it fetches nothing:
// https://www.w3.org/TR/svg-integration/#secure-static-mode.
var svgOff = notebook.SwitchedOff(svg)

// htmlOff is the MIME type of HTML that may fetch something, which the page is without.
var htmlOff = notebook.SwitchedOff("text/html")

// forms is in order of preference: JupyterLab's, except for LaTeX.
var forms = []form{
	{"text/html", asHTML("text/html")},
	{htmlOff, asHTML(htmlOff)},
	{"text/markdown", func(p *page, o notebook.Output) string {
		return block("text", markup(&p.cleaner, str(o, "text/markdown")))
	}},
	{svg, image(svg)},
	{"image/png", image("image/png")},
	{"image/jpeg", image("image/jpeg")},
	{"image/gif", image("image/gif")},
	{"image/webp", image("image/webp")},
	{svgOff, image(svgOff)},
	{"text/latex", latex},
	{"application/json", func(_ *page, o notebook.Output) string {
		if readable(o) {
			return ""
		}
		return preformatted(indented(o.Data["application/json"]))
	}},
	{"text/plain", func(_ *page, o notebook.Output) string {
		return preformatted(str(o, "text/plain"))
	}},
}

// readable reports whether an output has text for readers, not only an object's repr such as
// <IPython.core.display.HTML object>.
func readable(o notebook.Output) bool {
	plain := strings.TrimSpace(str(o, "text/plain"))
	return plain != "" && !strings.HasPrefix(plain, "<")
}

func str(o notebook.Output, mime string) string {
	s, _ := o.Data[mime].(string)
	return s
}

func block(class, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return fmt.Sprintf("<div class=\"out %s\">%s</div>\n", class, text)
}

func preformatted(text string) string {
	if text = terminal(text); strings.TrimSpace(text) == "" {
		return ""
	}
	return "<pre class=\"out\">" + text + "</pre>\n"
}

func indented(value any) string {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return ""
	}
	return string(data)
}

// asHTML shows HTML, or returns "" if so little is left without scripts that plain text is better.
func asHTML(mime string) func(*page, notebook.Output) string {
	return func(p *page, o notebook.Output) string {
		text, ok := p.cleaner.HTML(str(o, mime))
		if c := &p.cleaner; !ok || readable(o) && (c.Controls || c.Active && !c.Solid) {
			return ""
		}
		if !p.cleaner.Solid && strings.TrimSpace(wordsOf(text)) == "" {
			return ""
		}
		return block("html", text)
	}
}

// latex shows the source of mathematics, unless there is readable text.
func latex(_ *page, o notebook.Output) string {
	if readable(o) {
		return ""
	}
	if text := strings.TrimSpace(visible(str(o, "text/latex"))); text != "" {
		return block("text", `<code class="tex display">`+html.EscapeString(text)+"</code>")
	}
	return ""
}

// image shows a picture.
func image(mime string) func(*page, notebook.Output) string {
	return func(_ *page, o notebook.Output) string {
		uri := pictureURI(o.Data, mime)
		if uri == "" {
			return ""
		}
		size := ""
		of, _ := o.Metadata[mime].(map[string]any)
		for _, key := range []string{"width", "height"} {
			if n, ok := of[key].(json.Number); ok {
				size += fmt.Sprintf(` %s="%s"`, key, html.EscapeString(n.String()))
			}
		}
		return block("image",
			fmt.Sprintf(`<img src="%s" alt="%s"%s>`, uri, html.EscapeString(altOf(o)), size))
	}
}

// altOf returns the alternative text of a picture.
func altOf(o notebook.Output) string {
	if text := strings.Trim(visible(str(o, "text/plain")), "<> \n"); text != "" && len(text) < 200 {
		return text
	}
	return "Figure"
}

// pictureURI returns the data URI of the picture of a MIME type in data; "" if there is none
// or it is invalid.
func pictureURI(data notebook.MIMEBundle, mime string) string {
	text, _ := data[mime].(string)
	if mime == svg || mime == svgOff {
		if !strings.Contains(text, "<svg") {
			return ""
		}
		return imageURI(svg, []byte(strings.ToValidUTF8(text, "")))
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil || http.DetectContentType(raw) != mime {
		return ""
	}
	return imageURI(mime, raw)
}

// maxPicture is the maximum size of a picture read from a file, in bytes.
const maxPicture = 20 << 20

// picture returns the data URI of a picture that Markdown names: one attached to
// the cell, or a file beside the notebook; "" if there is none.
func picture(name string, attached map[string]notebook.MIMEBundle, files fs.FS) string {
	name, err := url.PathUnescape(name)
	if err != nil {
		return ""
	}
	if name, ok := strings.CutPrefix(name, "attachment:"); ok {
		for _, f := range forms {
			if uri := pictureURI(attached[name], f.mime); uri != "" {
				return uri
			}
		}
		return ""
	}
	name = path.Clean(name)
	if files == nil || !fs.ValidPath(name) {
		return ""
	}
	// Checked before opening, too: opening a pipe blocks.
	if info, err := fs.Stat(files, name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := files.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxPicture {
		return ""
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxPicture))
	if err != nil {
		return ""
	}
	mime := http.DetectContentType(raw)
	if strings.EqualFold(path.Ext(name), ".svg") && bytes.Contains(raw, []byte("<svg")) {
		mime = svg
	} else if !strings.HasPrefix(mime, "image/") ||
		!slices.ContainsFunc(forms, func(f form) bool { return f.mime == mime }) {
		return ""
	}
	return imageURI(mime, raw)
}
