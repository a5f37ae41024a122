package files

import (
	"encoding/xml"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"
)

var (
	htmlTag   = regexp.MustCompile(`(?i)<(!doctype html|html|head|body|table|div)\b`)
	htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
)

// markup looks at text that begins with a tag.
func (s source) markup(text, ext string) (Look, bool) {
	start := text[:min(len(text), 4<<10)]
	if ext != ".xml" && htmlTag.MatchString(start) || ext == ".html" || ext == ".htm" {
		kind := "HTML page"
		if m := htmlTitle.FindStringSubmatch(text); m != nil && strings.TrimSpace(m[1]) != "" {
			title := strings.Join(strings.Fields(html.UnescapeString(m[1])), " ")
			kind += ", title " + strconv.Quote(cut(title, 100))
		}
		return Look{Kind: kind, Format: "html", Shape: s.alone("html")}, true
	}
	root, child := elements(text)
	if root == "" {
		return Look{}, false
	}
	return Look{Kind: "XML document, root element " + cut(root, 60), Format: "xml",
		Shape: shape("xml", collapse(root), collapse(child))}, true
}

// elements returns the names of the root element and of its first child.
func elements(text string) (root, child string) {
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.Strict = false
	// The text is already UTF-8, whatever it declares.
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		token, err := dec.RawToken()
		if err != nil {
			return root, ""
		}
		switch e := token.(type) {
		case xml.StartElement:
			if root != "" {
				return root, e.Name.Local
			}
			root = e.Name.Local
		case xml.EndElement:
			return root, ""
		}
	}
}
