package export

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
)

// The allowed elements, those with attributes besides common first. Of classes, only dataframe is
// allowed.
var (
	attributes = map[string]string{"a": "href", "col": "span", "colgroup": "span",
		"details": "open", "font": "color", "img": "alt width height", "li": "value", "ol": "start type reversed",
		"td": "colspan rowspan", "th": "colspan rowspan scope"}
	elements = strings.Fields(`abbr b bdi bdo blockquote br caption center cite code dd del dfn div dl
		dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i ins kbd mark p pre q s samp small span strike strong
		sub summary sup table tbody tfoot thead tr tt u ul var wbr`)
	common = "align class dir lang title valign"
	// Those that are removed with their content. Other elements are replaced with their content.
	dropped = strings.Fields(`applet audio base button canvas embed frame frameset head iframe link
		math meta noembed noframes noscript object plaintext script select style svg template textarea
		title video xmp`)
)

// A cleaner sanitizes HTML for a page. The zero value is ready to use.
type cleaner struct {
	// data URI of a picture by its name in src; "" if unknown; nil: none is known
	picture func(name string) string

	active   bool   // active content of the last HTML was left out
	controls bool   // a control was left out
	solid    bool   // a table or a picture remains
	heading  string // the first heading
	words    string // all text
}

// HTML returns sanitized, balanced HTML, which cannot close an enclosing element. ok is false
// if it cannot be parsed.
func (c *cleaner) HTML(text string) (cleaned string, ok bool) {
	c.heading, c.active, c.controls, c.solid = "", false, false, false
	root := element("body")
	nodes, err := html.ParseFragment(strings.NewReader(visible(text)), root)
	if err != nil {
		return "", false // nested too deeply
	}
	for _, n := range nodes {
		root.AppendChild(n)
	}
	var b strings.Builder
	clean := element("body")
	for _, kept := range c.children(root) {
		clean.AppendChild(kept)
		if err := html.Render(&b, kept); err != nil {
			return "", false
		}
	}
	c.words = textOf(clean)
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

func (c *cleaner) children(n *html.Node) (all []*html.Node) {
	for child := range n.ChildNodes() {
		all = append(all, c.node(child)...)
	}
	return all
}

// node returns the sanitized node, or the nodes that replace it.
func (c *cleaner) node(n *html.Node) []*html.Node {
	more, known := attributes[n.Data]
	switch {
	case n.Type == html.TextNode:
		return words(n.Data)
	case n.Type != html.ElementNode:
		return nil
	case n.Namespace != "" || slices.Contains(dropped, n.Data):
		c.active = true
		return nil
	case n.Data == "input":
		c.controls = true
		return nil
	case !known && !slices.Contains(elements, n.Data):
		return c.children(n)
	}
	kept := element(n.Data)
	for _, a := range n.Attr {
		if a.Namespace != "" || !slices.Contains(strings.Fields(more+" "+common), a.Key) {
			c.active = c.active || strings.HasPrefix(a.Key, "on")
		} else if value, ok := attribute(a); ok {
			kept.Attr = append(kept.Attr, html.Attribute{Key: a.Key, Val: value})
		}
	}
	switch n.Data {
	case "img":
		return c.image(n, kept)
	case "table":
		c.solid = true
	case "code":
		language, ok := strings.CutPrefix(attr(n, "class"), "language-")
		if ok && n.Parent.Data == "pre" {
			kept.AppendChild(&html.Node{Type: html.RawNode, Data: code(textOf(n), language)})
			return []*html.Node{kept}
		}
	}
	for _, child := range c.children(n) {
		kept.AppendChild(child)
	}
	if c.heading == "" && (n.Data == "h1" || n.Data == "h2") {
		c.heading = textOf(kept)
	}
	return []*html.Node{kept}
}

var plain = lazy.Regexp(`^[\w .,%#+-]*$`)

// attribute returns the sanitized value of an attribute.
func attribute(a html.Attribute) (string, bool) {
	switch a.Key {
	case "href":
		return link(a.Val)
	case "alt", "title", "lang":
		return a.Val, true
	case "class":
		return "dataframe", slices.Contains(strings.Fields(a.Val), "dataframe")
	}
	return a.Val, plain().MatchString(a.Val)
}

// link returns an allowed link target: a web or mail address, or a file by its path from the notebook.
func link(to string) (string, bool) {
	to = strings.TrimSpace(to)
	u, err := url.Parse(to)
	if err != nil || !slices.Contains([]string{"", "http", "https", "mailto"}, u.Scheme) ||
		strings.HasPrefix(to, "#") || strings.Contains(to, `\`) {
		return "", false
	}
	return to, true
}

var dataImage = lazy.Regexp(
	`^\s*data:image/(?:png|jpeg|gif|webp|svg\+xml)(?:;charset=[\w-]+)?;base64,[A-Za-z0-9+/=\s]+$`)

// image embeds a picture, or shows only the name of one outside the notebook.
func (c *cleaner) image(n, kept *html.Node) []*html.Node {
	src, uri := attr(n, "src"), ""
	if dataImage().MatchString(src) {
		uri = strings.Join(strings.Fields(src), "")
	} else if c.picture != nil {
		uri = c.picture(src)
	}
	if uri == "" {
		if runes := []rune(src); len(runes) > 100 {
			src = string(runes[:100]) + "…"
		}
		return words("[picture: " + strings.TrimSpace(attr(n, "alt")+" "+src) + "]")
	}
	c.solid = true
	kept.Attr = append(kept.Attr, html.Attribute{Key: "src", Val: uri})
	return []*html.Node{kept}
}

func words(text string) []*html.Node { return []*html.Node{{Type: html.TextNode, Data: text}} }

func attr(n *html.Node, key string) string {
	is := func(a html.Attribute) bool { return a.Key == key && a.Namespace == "" }
	return lists.First(n.Attr, is).Val
}

func element(name string) *html.Node {
	return &html.Node{Type: html.ElementNode, Data: name, DataAtom: atom.Lookup([]byte(name))}
}

// textOf returns the text below n, with tabs between the cells of tables.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		} else if d.Data == "td" {
			b.WriteByte('\t')
		}
	}
	return b.String()
}
