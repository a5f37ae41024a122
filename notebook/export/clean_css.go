package export

import (
	"strings"

	"golang.org/x/net/html"

	"dsstar/notebook/lazy"
)

var (
	// The CSS properties that content may set. None of them can move it over other content.
	properties = lazy.Regexp(`^(?:(?:background-)?color|background|(?:text|vertical)-align|` +
		`font-(?:size|style|weight)|text-decoration|white-space|(?:min-|max-)?width|padding(?:-\w+)?|` +
		`border(?:-\w+)*)$`)
	// Their values: numbers, words, colours and functions (pandas' Styler.bar draws with
	// gradients).
	values = lazy.Regexp(`^(?:[-#.,%)\w\s]|(?i:\brgba?\(|\bhsla?\(|\blinear-gradient\()|!important)+$`)
	rule   = lazy.Regexp(`([^{}]*)\{([^{}]*)\}`)
	byID   = lazy.Regexp(`^\s*#([\w-]+)\s*$`)
)

// declarations returns the allowed declarations.
func declarations(css string) string {
	var kept []string
	for declaration := range strings.SplitSeq(css, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !properties().MatchString(name) || len(value) > 1000 ||
			!values().MatchString(value) {
			continue
		}
		kept = append(kept, name+": "+value)
	}
	return strings.Join(kept, "; ")
}

// collect reads the style sheets below n, as pandas' Styler writes them: declarations by element
// id.
func (c *cleaner) collect(n *html.Node) {
	for sheet := range n.Descendants() {
		if sheet.Data != "style" || sheet.Namespace != "" {
			continue
		}
		for _, r := range rule().FindAllStringSubmatch(textOf(sheet), -1) {
			for selector := range strings.SplitSeq(r[1], ",") {
				if id := byID().FindStringSubmatch(selector); id != nil {
					c.styles[id[1]] += declarations(r[2]) + ";"
				}
			}
		}
	}
}
