package export

import (
	"encoding/base64"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dsstar/notebook/lazy"
)

// elements lists the allowed elements, each with its allowed attributes besides common.
var elements = map[string]string{
	"a": "href name", "abbr": "", "b": "", "bdi": "", "bdo": "", "blockquote": "", "br": "",
	"caption": "", "center": "", "cite": "",
	"code": "", "col": "span", "colgroup": "span", "dd": "", "del": "", "details": "open", "dfn": "",
	"div": "", "dl": "", "dt": "",
	"em": "", "figcaption": "", "figure": "", "font": "color", "h1": "", "h2": "", "h3": "",
	"h4": "", "h5": "", "h6": "", "hr": "",
	"i": "", "img": "src alt width height", "ins": "", "kbd": "", "li": "value", "mark": "",
	"ol": "start type reversed", "p": "",
	"pre": "", "q": "", "s": "", "samp": "", "small": "", "span": "", "strike": "", "strong": "",
	"sub": "", "summary": "", "sup": "",
	"table": "", "tbody": "", "td": "colspan rowspan", "tfoot": "", "th": "colspan rowspan scope",
	"thead": "", "tr": "", "tt": "",
	"u": "", "ul": "", "var": "", "wbr": "",
}

// common lists the attributes allowed on every element. For class, only the names in classes are
// allowed.
const common = "align class dir id lang style title valign"

var classes = []string{"dataframe", "tex", "display"}

// dropped lists the elements that are removed with their content. Other unknown elements are
// replaced with their content.
var dropped = strings.Fields(
	`applet audio base button canvas embed frame frameset head iframe link math meta noembed noframes
	noscript object plaintext script select style template textarea title video xmp`)

// A cleaner sanitizes HTML for a page, whose ids it knows. The zero value is ready to use.
type cleaner struct {
	Folder string // of the notebook, from the page's
	// data URI of a picture by its name in src; "" if unknown; nil: none is known
	Picture func(name string) string
	// HTML of code in a language, to be shown in its block; nil: the code
	Highlight func(code, language string) string

	Active   bool   // active content of the last HTML was left out
	Controls bool   // a control was replaced with text
	Solid    bool   // a table or a picture remains
	Heading  string // the first heading

	ids    map[string]bool
	styles map[string]string // style sheet declarations of the current HTML, by element id

}

// HTML returns sanitized, balanced HTML, which cannot close an enclosing element. ok is false
// if it cannot be parsed.
func (c *cleaner) HTML(text string) (cleaned string, ok bool) {
	c.styles, c.Active, c.Controls, c.Solid, c.Heading = nil, false, false, false, ""
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(visible(text)), body)
	if err != nil {
		return "", false // nested too deeply
	}
	for _, n := range nodes {
		c.collect(n)
	}
	var b strings.Builder
	for _, n := range nodes {
		for _, kept := range c.node(n) {
			if err := html.Render(&b, kept); err != nil {
				return "", false
			}
		}
	}
	return b.String(), true
}

// visible removes invalid UTF-8 and control characters.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n"))
}

// node returns the sanitized node, or the nodes that replace it.
func (c *cleaner) node(n *html.Node) []*html.Node {
	switch {
	case n.Type == html.TextNode:
		return []*html.Node{{Type: html.TextNode, Data: n.Data}}
	case n.Type != html.ElementNode:
		return nil
	case n.Data == "svg" && n.Namespace == "svg":
		return c.drawing(n)
	case n.Namespace != "" || slices.Contains(dropped, n.Data):
		c.Active = true
		return nil
	case n.Data == "input":
		c.Controls = true
		return checkbox(n)
	}
	attributes, known := elements[n.Data]
	if !known {
		return c.children(n)
	}
	kept := &html.Node{Type: html.ElementNode, Data: n.Data, DataAtom: n.DataAtom}
	for _, a := range n.Attr {
		if a.Namespace != "" || !slices.Contains(strings.Fields(attributes+" "+common), a.Key) {
			c.Active = c.Active || strings.HasPrefix(a.Key, "on")
		} else if value, ok := c.attribute(a); ok {
			kept.Attr = append(kept.Attr, html.Attribute{Key: a.Key, Val: value})
		}
	}
	c.style(n, kept)
	switch n.Data {
	case "img":
		return c.image(n, kept)
	case "table":
		c.Solid = true
	case "code":
		language, ok := strings.CutPrefix(attr(n, "class"), "language-")
		if ok && c.Highlight != nil && n.Parent != nil && n.Parent.Data == "pre" {
			block := element("span")
			block.AppendChild(&html.Node{Type: html.RawNode, Data: c.Highlight(textOf(n), language)})
			kept.AppendChild(block)
			return []*html.Node{kept}
		}
	}
	for _, child := range c.children(n) {
		kept.AppendChild(child)
	}
	if c.Heading == "" && (n.Data == "h1" || n.Data == "h2") {
		c.Heading = textOf(kept)
	}
	return []*html.Node{kept}
}

func (c *cleaner) children(n *html.Node) []*html.Node {
	var all []*html.Node
	for child := range n.ChildNodes() {
		all = append(all, c.node(child)...)
	}
	return all
}

var (
	plain = lazy.Regexp(`^[\w .,%#+-]*$`)
	idish = lazy.Regexp(`^[^\s"'<>]{1,200}$`)
)

// attribute returns the sanitized value of an attribute.
func (c *cleaner) attribute(a html.Attribute) (string, bool) {
	switch a.Key {
	case "href":
		return c.link(a.Val)
	case "src", "style": // see image and style
		return "", false
	case "alt", "title", "lang":
		return a.Val, true
	case "id", "name":
		// The id must be unique and differ from the page's own ids.
		id := "n-" + a.Val
		if !idish().MatchString(a.Val) || c.ids[id] {
			return "", false
		}
		c.ids[id] = true
		return id, true
	case "class":
		keep := slices.DeleteFunc(strings.Fields(a.Val),
			func(class string) bool { return !slices.Contains(classes, class) })
		return strings.Join(keep, " "), len(keep) > 0
	}
	return a.Val, plain().MatchString(a.Val)
}

// link returns an allowed link target: a web or mail address, a place in the page or a file by its
// path from the notebook.
func (c *cleaner) link(to string) (string, bool) {
	to = strings.TrimSpace(to)
	if place, ok := strings.CutPrefix(to, "#"); ok {
		return "#n-" + place, place != ""
	}
	u, err := url.Parse(to)
	if err != nil || !slices.Contains([]string{"", "http", "https", "mailto"}, u.Scheme) ||
		strings.Contains(to, `\`) {
		return "", false
	}
	if u.Scheme == "" && u.Host == "" && u.Path != "" && !path.IsAbs(u.Path) && c.Folder != "" {
		u.Path, u.RawPath = path.Join(c.Folder, u.Path), ""
		return u.String(), true
	}
	return to, true
}

// image embeds a picture, or shows only the name of one outside the notebook.
func (c *cleaner) image(n, kept *html.Node) []*html.Node {
	src, alt := attr(n, "src"), attr(n, "alt")
	uri := dataURI(src)
	if uri == "" && c.Picture != nil {
		uri = c.Picture(src)
	}
	if uri == "" {
		text := "[picture: " + strings.TrimSpace(alt+" "+shortened(src)) + "]"
		return []*html.Node{{Type: html.TextNode, Data: text}}
	}
	c.Solid = true
	kept.Attr = append(kept.Attr, html.Attribute{Key: "src", Val: uri})
	if alt == "" && !slices.ContainsFunc(kept.Attr,
		func(a html.Attribute) bool { return a.Key == "alt" }) {
		kept.Attr = append(kept.Attr, html.Attribute{Key: "alt", Val: "picture"})
	}
	return []*html.Node{kept}
}

func shortened(text string) string {
	if runes := []rune(text); len(runes) > 100 {
		return string(runes[:100]) + "…"
	}
	return text
}

// drawing converts an svg element to an image, in which scripts do not run.
func (c *cleaner) drawing(n *html.Node) []*html.Node {
	for name, space := range map[string]string{"xmlns": "http://www.w3.org/2000/svg",
		"xmlns:xlink": "http://www.w3.org/1999/xlink"} {
		// The parser represents "xmlns:xlink" as a namespaced attribute.
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool {
			return a.Key == name || a.Namespace != "" && a.Namespace+":"+a.Key == name
		})
		n.Attr = append(n.Attr, html.Attribute{Key: name, Val: space})
	}
	slices.SortFunc(n.Attr, func(a, b html.Attribute) int { return strings.Compare(a.Key, b.Key) })
	var b strings.Builder
	if html.Render(&b, n) != nil {
		return nil
	}
	c.Solid = true
	img := element("img",
		html.Attribute{Key: "src", Val: imageURI("image/svg+xml", []byte(b.String()))},
		html.Attribute{Key: "alt", Val: "drawing"})
	return []*html.Node{img}
}

// checkbox replaces the checkbox of a task list with text.
func checkbox(n *html.Node) []*html.Node {
	mark := "☐"
	switch {
	case attr(n, "type") != "checkbox":
		return nil
	case slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "checked" }):
		mark = "☑"
	}
	return []*html.Node{{Type: html.TextNode, Data: mark}}
}

var dataImage = lazy.Regexp(
	`^data:(image/(?:png|jpeg|gif|webp|svg\+xml))(?:;charset=[\w-]+)?;base64,([A-Za-z0-9+/=\s]+)$`)

// dataURI returns src if it is the data URI of a picture, else "".
func dataURI(src string) string {
	parts := dataImage().FindStringSubmatch(strings.TrimSpace(src))
	if parts == nil {
		return ""
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(parts[2]), ""))
	if err != nil {
		return ""
	}
	return imageURI(parts[1], data)
}

// imageURI returns the data URI of a picture.
func imageURI(mime string, data []byte) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func element(name string, attributes ...html.Attribute) *html.Node {
	return &html.Node{Type: html.ElementNode, Data: name, DataAtom: atom.Lookup([]byte(name)),
		Attr: attributes}
}

// textOf returns the text below n.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
