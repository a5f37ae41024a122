package export

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/disk"
)

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
	for _, mime := range forms {
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
