package notebook

import (
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"dsstar/notebook/lazy"
)

// Inert returns the data of an output, changed so that showing it fetches nothing from
// elsewhere: a cell can write the data that it reads into the address of a picture, and
// JupyterLab fetches pictures even when it opens an untrusted notebook. HTML and drawings that may
// fetch something get a MIME type that no viewer shows, and Markdown is changed as by
// [InertMarkdown]. A line says so. Data that fetches nothing, or is inert already, stays as it is.
// So do scripts, which run only if the reader trusts the notebook, and links, which only people
// follow. The given bundle is not changed.
func Inert(data MIMEBundle) MIMEBundle {
	all, note := maps.Clone(data), ""
	for mime, value := range data {
		text, isText := value.(string)
		fetches := false
		switch {
		case IsSwitchedOff(mime):
		case isText && mime == "text/markdown":
			all[mime] = InertMarkdown(text)
		case isText && (mime == "text/html" || mime == "image/svg+xml"):
			fetches = fetchesHTML(text, false)
		case draws().MatchString(mime):
			fetches = fetchesSpec("", value)
		}
		if fetches {
			delete(all, mime)
			all[SwitchedOff(mime)], note = value, offNote
		}
	}
	if note != "" {
		text, _ := all["text/plain"].(string)
		all["text/plain"] = strings.TrimPrefix(text+"\n"+note, "\n")
	}
	return all
}

const (
	off     = "/x-dsstar-off-"
	offNote = "[note: opening this might have fetched something from elsewhere, which is switched off]"
)

// SwitchedOff returns the MIME type that [Inert] gives data that may fetch something.
func SwitchedOff(mime string) string { return strings.Replace(mime, "/", off, 1) }

// IsSwitchedOff reports whether [Inert] has given data this MIME type.
func IsSwitchedOff(mime string) bool { return strings.Contains(mime, off) }

// InertMarkdown returns Markdown without pictures from elsewhere. If HTML in it, also in code
// blocks, may fetch something, all tags become text. A note says so.
func InertMarkdown(text string) string {
	inert := text
	if mermaid().MatchString(text) && (remote(text) || picturesIn().MatchString(text)) {
		inert = mermaid().ReplaceAllString(inert, "${1}text $2")
	}
	if remote(inert) {
		inert = withoutPictures(inert)
		if fetchesHTML(inert, true) {
			inert = markup().ReplaceAllStringFunc(inert,
				func(tag string) string { return "&lt;" + tag[1:] })
		}
	}
	if inert == text {
		return text
	}
	return inert + "\n\n" + strings.NewReplacer("[", `\[`, "]", `\]`).Replace(offNote)
}

var (
	markup = lazy.Regexp(`<[A-Za-z/!?]`)
	// The tokens of HTML and SVG that every parser reads in the same way: no "<" stands within a tag,
	// comment or style sheet (but for <a> in a comment of scikit-learn's), so that wherever a parser
	// begins a tag, it is one of these.
	token = lazy.Regexp(`(?i)<(style)(?:` + bare + `)*\s*>(?:\s*<!\[CDATA\[)?((?:[^<]|<a>)*)</style\s*>|` +
		`<(script)(?:` + bare + `)*\s*>((?s:.*?))</script\s*>|` +
		"(<(?:https?|mailto):[^\\s<>\"'`\\\\$]*>)|" + // a link of Markdown
		`<([a-z][\w.:-]*)((?:` + bare + `)*)\s*/?>|` +
		`</[a-z][\w.:-]*\s*>|<!--[^<]*?-->|<!doctype[^<>\[]*>|<\?xml\s[^<>?]*\?>`)
	scriptEnd = lazy.Regexp(`</script\s*>`)
	values    = lazy.Regexp(attribute)
	splits    = lazy.Regexp(`[\n\r\f$\\]|!\[`) // a tag of Markdown, to some parsers
	// after these, scripts contain markup
	foreign = lazy.Regexp(`(?i)<(?:svg|math)\b`)
)

// An attribute, with its name and value as groups, and without groups.
const (
	attribute = `\s+([^\s"'<>=\x60/\\]+)(?:\s*=\s*(?:"([^"<]*)"|'([^'<]*)'|([^\s"'<>=\x60]+)))?`
	bare      = `\s+[^\s"'<>=\x60/\\]+(?:\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>=\x60]+))?`
)

// fetchesHTML reports whether HTML or SVG may fetch something, or parsers may disagree on it. In
// Markdown, style sheets and scripts may be words in a code block, and hide nothing.
func fetchesHTML(text string, markdown bool) (fetches bool) {
	if !remote(text) {
		return false
	}
	lower := strings.ToLower(text)
	// (?i) takes ſ and the sign of Kelvin for letters, parsers do not. Browsers let anything that begins
	// as an end of a script end it. Each script without one would be read to the end of the text.
	if strings.ContainsAny(text, "ſ\u212a") ||
		strings.Count(lower, "</script") != len(scriptEnd().FindAllString(lower, -1)) ||
		strings.LastIndex(lower, "<script") > strings.LastIndex(lower, "</script") {
		return true
	}
	inForeign := foreign().MatchString(text)
	rest := token().ReplaceAllStringFunc(text, func(found string) string {
		m := token().FindStringSubmatch(found)
		isRaw, css, script, tag, attributes := m[1]+m[3] != "", m[2]+m[5], m[4], m[6], m[7]
		fetches = fetches || markdown && isRaw || !inertCSS(css) ||
			inForeign && markup().MatchString(script) || fetchesTag(tag, attributes, markdown)
		return "x"
	})
	return fetches || markup().MatchString(rest)
}

// fetchesTag reports whether a start tag may fetch something. In Markdown, a tag on several lines
// may be something else: prefixes of quotes and lists may follow line breaks, and formulas and
// images may begin in attributes.
func fetchesTag(tag, attributes string, markdown bool) bool {
	element := strings.ToLower(tag)
	isOpen := element == "style" || element == "script" // its content is not read
	if isOpen || markdown && splits().MatchString(attributes) {
		return true
	}
	for _, a := range values().FindAllStringSubmatch(attributes, -1) {
		value := html.UnescapeString(a[2] + a[3] + a[4])
		// another parser may read the value as markup
		if markup().MatchString(value) || !harmless(element, strings.ToLower(a[1]), value) {
			return true
		}
	}
	return false
}

// words matches attributes whose values no viewer ever fetches.
var words = lazy.Regexp(`^(?:alt|title|class|id|name|lang|dir|role|rel|target|width|height|v?align|` +
	`(?:bg)?color|border|label|placeholder|type|value|headers|abbr|datetime|cite|media|sizes|` +
	`summary|download|content-type|version|xml:(?:space|lang)|(?:data-|aria-|xmlns|rdf:|on).*)$`)

// harmless reports whether an attribute fetches nothing.
func harmless(element, key, value string) bool {
	if key == "style" {
		return inertCSS(value)
	}
	isLink := (key == "href" || key == "xlink:href") && (element == "a" || element == "area")
	isPicture := slices.Contains([]string{"img", "image", "input", "video"}, element) &&
		pictureURI().MatchString(value)
	return isLink || isPicture || words().MatchString(key) || !remote(value)
}

var (
	cssEscape = lazy.Regexp(`\\(?:([0-9a-fA-F]{1,6})\s?|\n|(.))`)
	cssLines  = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n")
	// of a part of the page, a picture, or a file beside the notebook
	cssURL = lazy.Regexp(`(?i:url)\(\s*["']?` +
		`(?:data:image/(?:png|jpe?g|gif|webp|svg\+xml)(?:;[\w=-]+)*,[\w+/=%-]*|` +
		`#?/?(?:[\w%.-]+/)*[\w%.-]*)["']?\s*\)`)
	cssFetches = lazy.Regexp(`(?i)(?:url|image-set|image|src)\(|@import|-moz-binding`)
)

// inertCSS reports whether CSS fetches nothing. CSS in SVG may contain HTML's escapes.
func inertCSS(css string) bool {
	return !slices.ContainsFunc([]string{css, html.UnescapeString(css)}, func(css string) bool {
		return cssFetches().MatchString(cssURL().ReplaceAllString(withoutEscapes(css), " "))
	})
}

func withoutEscapes(css string) string {
	return cssEscape().ReplaceAllStringFunc(cssLines.Replace(css), func(escape string) string {
		parts := cssEscape().FindStringSubmatch(escape)
		var r rune
		if _, err := fmt.Sscanf(parts[1], "%x", &r); err == nil {
			return string(r)
		}
		return parts[2]
	})
}

var (
	// a picture's data URI, which is no address elsewhere wherever in a text an address may begin
	raster = lazy.Regexp(`data:image/(?:png;base64,iVBORw0KGgo|jpe?g;base64,/9j/|gif;base64,R0lGOD|` +
		`webp;base64,UklGR)[\w+/=]*`)
	// The data URI of any picture, as the whole value. An SVG that is shown as a picture fetches
	// and runs nothing: https://www.w3.org/TR/svg-integration/#secure-static-mode.
	pictureURI = lazy.Regexp(`^\s*data:image/(?:png|jpe?g|gif|webp|bmp|avif|x-icon|svg\+xml)` +
		`(?:;[\w=-]+)*,[\w+/=%\s-]*$`)
)

// remote reports whether a text may contain an address that is not of a file beside the notebook,
// however it is escaped and whatever reads it. Without one, nothing is fetched from elsewhere.
func remote(text string) bool {
	text = raster().ReplaceAllString(text, " ")
	for escaped := ""; escaped != text; {
		escaped, text = text, html.UnescapeString(text) // HTML may be in an attribute of HTML
	}
	for _, text := range []string{text, withoutEscapes(text)} {
		dense := strings.Map(func(r rune) rune { // browsers ignore these in addresses
			if r <= ' ' {
				return -1
			}
			return r
		}, text)
		if addressed(text) || addressed(dense) {
			return true
		}
	}
	return strings.Contains(text, "<!ENTITY") // may be a part of one
}

// schemes are those of addresses that browsers fetch; a data URI has a MIME type.
var schemes = strings.Fields("http https ftp ws wss file blob filesystem javascript vbscript data")

// addressed reports whether two slashes or a scheme stand in a text.
func addressed(text string) bool {
	slash := func(c byte) bool { return c == '/' || c == '\\' }
	for i := 1; i < len(text); i++ {
		if slash(text[i]) && slash(text[i-1]) {
			return true
		}
		if text[i] == ':' {
			before := text[max(i-20, 0):i]
			word := strings.ToLower(before[strings.LastIndexFunc(before, notLetter)+1:])
			if slices.Contains(schemes, word) &&
				(word != "data" || strings.Contains(text[i:min(i+60, len(text))], "/")) {
				return true
			}
		}
	}
	return false
}

func notLetter(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }

var (
	// a Markdown image whose file is beside the notebook or attached to it, or that is a data URI
	localImage = lazy.Regexp(`^!\[(?:\]\(data:image/png;base64,|` +
		`[^\[\]\\\x60<>]*\]\((?:attachment:)?[\w./%-]+(?: "[^"\\<>]*")?\))`)
	// the beginning of a Mermaid drawing in Markdown
	mermaid = lazy.Regexp("(?i)((?:```|~~~)[ \t]*)(mermaid)")
	// a picture in a Mermaid drawing, whose address may have Mermaid's own escapes
	picturesIn = lazy.Regexp(`\bimg\b`)
)

// withoutPictures returns Markdown without pictures from elsewhere. All begin with "![".
func withoutPictures(text string) string {
	parts := strings.Split(text, "![")
	for i, after := range parts[1:] {
		image := localImage().FindString("![" + after[:min(len(after), 1000)])
		if image != "" && !strings.Contains(image, "//") {
			parts[i+1] = "![" + after
		} else {
			parts[i+1] = `!\[` + after
		}
	}
	return strings.Join(parts, "")
}

// draws matches the MIME types, besides HTML and SVG, that JupyterLab and its usual extensions
// draw even in an untrusted notebook, and that may contain addresses.
var draws = lazy.Regexp(`vega|plotly|mermaid|geo\+json`)

// fetchesSpec reports whether a drawing (JSON or text) may fetch something: value is all of it, or
// has a key in it.
func fetchesSpec(key string, value any) bool {
	switch v := value.(type) {
	case string:
		return key != "$schema" && key != "plotlyServerURL" &&
			(remote(v) || picturesIn().MatchString(v))
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return fetchesSpec(key, item) })
	case map[string]any:
		for k, item := range v {
			_, isText := item.(string)
			if k == "url" && !isText || fetchesSpec(k, item) { // an address may be computed
				return true
			}
		}
	}
	return false
}
