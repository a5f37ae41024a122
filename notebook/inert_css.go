package notebook

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"dsstar/notebook/lazy"
)

var (
	cssEscape = lazy.Regexp(`\\(?:([0-9a-fA-F]{1,6})\s?|\n|(.))`)
	cssLines  = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n")
	// of a part of the page, a picture, or a file beside the notebook
	cssURL = lazy.Regexp(`(?i:url)\(\s*["']?(?:data:image/(?:png|jpe?g|gif|webp|svg\+xml)(?:;[\w=-]+)*,` +
		`[\w+/=%-]*|#?/?(?:[\w%.-]+/)*[\w%.-]*)["']?\s*\)`)
)

// fetching lists what makes CSS fetch something.
var fetching = []string{"url(", "@import", "image-set(", "image(", "src(", "-moz-binding", "behavior:",
	"expression("}

// inertCSS reports whether CSS fetches nothing. CSS in SVG may contain HTML's escapes.
func inertCSS(css string) bool {
	for _, text := range []string{css, html.UnescapeString(css)} {
		plain := cssEscape().ReplaceAllStringFunc(cssLines.Replace(text), func(escape string) string {
			parts := cssEscape().FindStringSubmatch(escape)
			var r rune
			if _, err := fmt.Sscanf(parts[1], "%x", &r); err == nil {
				return string(r)
			}
			return parts[2]
		})
		lower := strings.ToLower(cssURL().ReplaceAllString(plain, " "))
		if slices.ContainsFunc(fetching, func(f string) bool { return strings.Contains(lower, f) }) {
			return false
		}
	}
	return true
}
