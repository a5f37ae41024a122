package export

import (
	"strings"

	"golang.org/x/net/html"

	"dsstar/notebook/lazy"
)

// properties matches the CSS properties that content may set. None of them can move it over other
// content.
var properties = lazy.Regexp(
	`^(?:(?:background-)?color|background|(?:text|vertical)-align|font-(?:size|style|weight)|` +
		`text-decoration|white-space|(?:min-|max-)?width|padding(?:-\w+)?|border(?:-\w+)*)$`)

// values matches the allowed values: numbers, words, colours and functions (pandas' Styler.bar
// draws with gradients).
var values = lazy.Regexp(`^(?:[-#.,%()\w\s]|!important)*$`)

var calls = lazy.Regexp(`([\w-]*)\(`)

var functions = map[string]bool{"rgb": true, "rgba": true, "hsl": true, "hsla": true,
	"linear-gradient": true}

// declarations returns the allowed declarations.
func declarations(css string) string {
	var kept []string
	var background, color bool
	for declaration := range strings.SplitSeq(css, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !properties().MatchString(name) || !harmless(value) || value == "" {
			continue
		}
		kept = append(kept, name+": "+value)
		color = color || name == "color"
		background = background || strings.HasPrefix(name, "background") && value != "transparent"
	}
	if background && !color {
		// the page may be dark, but the author expected dark text on a light page
		kept = append(kept, "color: #1b1f24")
	}
	return strings.Join(kept, "; ")
}

func harmless(value string) bool {
	for _, call := range calls().FindAllStringSubmatch(strings.ToLower(value), -1) {
		if !functions[call[1]] {
			return false
		}
	}
	return len(value) < 1000 && values().MatchString(value)
}

var (
	rule = lazy.Regexp(`([^{}]*)\{([^{}]*)\}`)
	byID = lazy.Regexp(`^#([\w-]+)$`)
)

// collect reads the style sheets below n, as pandas' Styler writes them: declarations by element
// id.
func (c *cleaner) collect(n *html.Node) {
	for d := range n.Descendants() {
		c.sheet(d)
	}
	c.sheet(n)
}

func (c *cleaner) sheet(n *html.Node) {
	if n.Type != html.ElementNode || n.Data != "style" || n.Namespace != "" {
		return
	}
	for _, r := range rule().FindAllStringSubmatch(textOf(n), -1) {
		css := declarations(r[2])
		for selector := range strings.SplitSeq(r[1], ",") {
			if id := byID().FindStringSubmatch(strings.TrimSpace(selector)); id != nil && css != "" {
				if c.styles == nil {
					c.styles = map[string]string{}
				}
				c.styles[id[1]] += css + ";"
			}
		}
	}
}

// style sets the element's declarations: those of the style sheets, then its own.
func (c *cleaner) style(n, kept *html.Node) {
	if css := declarations(c.styles[attr(n, "id")] + attr(n, "style")); css != "" {
		kept.Attr = append(kept.Attr, html.Attribute{Key: "style", Val: css})
	}
}
