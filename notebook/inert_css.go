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
	cssURL    = lazy.Regexp(`url\(\s*(?:"([^"]*)"|'([^']*)'|([^)]*))\s*\)`)
)

// fetching lists what makes CSS fetch something, besides url().
var fetching = []string{"@import", "image-set(", "image(", "src(", "-moz-binding", "behavior:",
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
		lower := strings.ToLower(plain)
		if slices.ContainsFunc(fetching, func(f string) bool { return strings.Contains(lower, f) }) {
			return false
		}
		if !strings.Contains(lower, "url(") {
			continue
		}
		// Not lower, because base64 is case-sensitive; "URL(" also begins a URL.
		all := cssURL().FindAllStringSubmatch(strings.ReplaceAll(plain, "URL(", "url("), -1)
		if len(all) != strings.Count(lower, "url(") {
			return false
		}
		for _, m := range all {
			if address := m[1] + m[2] + m[3]; !inertAddress(address) && !inertPicture(address) {
				return false
			}
		}
	}
	return true
}
