package notebook

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"dsstar/notebook/lazy"
)

// Inert returns the data of an output, changed so that showing it fetches nothing from
// elsewhere: a cell can write the data that it reads into the address of a picture, and
// JupyterLab fetches pictures even when it opens an untrusted notebook. HTML and Markdown that may
// fetch something are replaced as by [InertHTML] and [InertMarkdown], and drawings get a MIME type
// that no viewer draws. A line says so. Data that fetches nothing, or is inert already, stays as it
// is. So do scripts, which run only if the reader trusts the notebook, and links, which only people
// follow. The given bundle is not changed.
func Inert(data MIMEBundle) MIMEBundle {
	changed := false
	all := maps.Clone(data)
	var drawings switched // cannot contain a note: text/plain gets it
	for _, mime := range slices.Sorted(maps.Keys(data)) {
		text, isText := data[mime].(string)
		before := drawings.n
		switch {
		case IsSwitchedOff(mime):
		case isText && mime == "text/html":
			all[mime] = InertHTML(text)
			changed = changed || all[mime] != text
		case isText && mime == "text/markdown":
			all[mime] = InertMarkdown(text)
			changed = changed || all[mime] != text
		case isText && mime == "image/svg+xml":
			if drawings.html(text, false) < len(text) {
				drawings.off(text)
			}
		case draws().MatchString(mime):
			drawings.spec(data[mime])
		}
		if drawings.n > before {
			delete(all, mime)
			all[SwitchedOff(mime)] = data[mime]
			changed = true
		}
	}
	if !changed {
		return data
	}
	if drawings.n > 0 {
		text, _ := all["text/plain"].(string)
		all["text/plain"] = strings.TrimPrefix(text+"\n"+drawings.note(), "\n")
	}
	return all
}

const off = "/x-dsstar-off-"

// SwitchedOff returns the MIME type that [Inert] gives a drawing of a MIME type.
func SwitchedOff(mime string) string { return strings.Replace(mime, "/", off, 1) }

// IsSwitchedOff reports whether [Inert] has given a drawing this MIME type.
func IsSwitchedOff(mime string) bool { return strings.Contains(mime, off) }

// InertHTML returns HTML as it is if showing it fetches nothing. Otherwise it returns what a
// [Cleaner] leaves of it, without pictures from elsewhere, and a note.
func InertHTML(text string) string {
	var s switched
	end := s.html(text, false)
	text = text[:end] + noTags(text[end:])
	if s.n == 0 {
		return text
	}
	c := Cleaner{inert: true}
	cleaned, ok := c.HTML(text)
	if !ok {
		cleaned = html.EscapeString(text)
	}
	return cleaned + "\n<p>" + html.EscapeString(s.note()) + "</p>"
}

// InertMarkdown returns Markdown without pictures from elsewhere. If HTML in it, also in code
// blocks, may fetch something, all tags become text. A note says so.
func InertMarkdown(text string) string {
	var s switched
	text = s.pictures(text)
	before := s.n
	end := s.html(text, true)
	text = text[:end] + noTags(text[end:])
	if s.n > before {
		text = markupIn().ReplaceAllStringFunc(text, noTags)
	}
	if s.n == 0 {
		return text
	}
	return text + "\n\n" + strings.NewReplacer("[", `\[`, "]", `\]`, "_", `\_`).Replace(s.note())
}

// switched counts what may fetch something.
type switched struct {
	n     int
	hosts []string
}

// note returns a text that says what was disabled.
func (s *switched) note() string {
	note := "[note: opening this might have fetched something from elsewhere, which is switched off"
	if len(s.hosts) > 0 {
		note += ": " + strings.Join(s.hosts, ", ")
	}
	return note + "]"
}

var hostIn = lazy.Regexp(`//([\w.:-]{1,60})`)

// off counts a text that may fetch something, and notes the first hosts in it.
func (s *switched) off(text string) {
	s.n++
	for _, m := range hostIn().FindAllStringSubmatch(text[:min(len(text), 10_000)], 3) {
		if len(s.hosts) < 3 && !slices.Contains(s.hosts, m[1]) {
			s.hosts = append(s.hosts, m[1])
		}
	}
}

// raw lists the elements whose content is not HTML, at least to some parsers.
var raw = strings.Fields(
	"iframe noembed noframes noscript plaintext script style textarea title xmp")

var (
	elementName   = lazy.Regexp(`^[a-z][\w.:-]*$`)
	attributeName = lazy.Regexp("^[^\\s\"'<>=`/\\\\]+$")
	// not a style element, even if a parser reads it as a tag
	autolink = lazy.Regexp("^<(?i:https?|mailto):[^\\s<>\"'`&()\\\\$]*>$")
	markupIn = lazy.Regexp(`<[A-Za-z/!?]`)
)

// html counts what may fetch something in HTML or SVG, and what parsers disagree on. It returns where
// a tag begins that does not end; the length of text if there is none. In Markdown, no construct
// hides tags, because what hides them in HTML (such as a comment) may be words in a code block.
func (s *switched) html(text string, markdown bool) (end int) {
	foreign := false // after SVG or MathML, in which scripts and styles contain markup
	inside := ""     // the raw element whose content may come next
	z := html.NewTokenizer(strings.NewReader(text))
	for at := 0; ; {
		kind := z.Next()
		token := string(z.Raw()) // a copy: reading names changes it
		if kind == html.ErrorToken && strings.Contains(text[at:], "<") {
			return at
		} else if kind == html.ErrorToken {
			return len(text)
		}
		at += len(token)
		element := inside
		inside = ""
		switch kind {
		case html.TextToken:
			if element != "" && !harmlessContent(element, token, foreign) {
				s.off(token)
			}
		case html.EndTagToken:
			if strings.Contains(token[1:], "<") { // some parsers end the tag at the "<"
				s.off(token)
			}
		case html.CommentToken, html.DoctypeToken:
			if markdown && strings.Contains(token[1:], "<") || !harmlessDeclaration(token) {
				s.off(token)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			foreign = foreign || t.Data == "svg" || t.Data == "math"
			s.tag(t, token, markdown)
			switch {
			case !slices.Contains(raw, t.Data):
			case markdown || kind == html.SelfClosingTagToken: // parsers disagree on its content
				z.NextIsNotRawText()
				if !markdown || t.Data == "style" {
					s.off(token)
				}
			default:
				inside = t.Data
			}
		}
	}
}

// harmlessDeclaration reports whether every parser reads the token as a comment or declaration
// (what begins with <! or <?), and whether it names no style sheet or entity.
func harmlessDeclaration(token string) bool {
	lower := strings.ToLower(token)
	if strings.HasPrefix(lower, "<!--") {
		return !markupIn().MatchString(token[1:])
	}
	return !strings.ContainsAny(token[1:], "<[") && !strings.Contains(lower, "stylesheet") &&
		!strings.Contains(lower, "entity")
}

// noTags returns HTML in which no tag begins.
func noTags(text string) string {
	return strings.ReplaceAll(text, "<", "&lt;")
}

// harmlessContent reports whether the content of a raw element fetches nothing.
func harmlessContent(element, content string, foreign bool) bool {
	switch element {
	case "script":
		return !strings.Contains(strings.ToLower(content), "</script") &&
			!(foreign && markupIn().MatchString(content))
	case "style":
		css := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(content), "<![CDATA["), "]]>")
		return !markupIn().MatchString(css) && inertCSS(css)
	}
	return !strings.Contains(content, "<")
}

// tag counts what a start tag may fetch. In Markdown, a tag on several lines may be something else:
// prefixes of quotes and lists may follow line breaks, and formulas and images may begin in
// attributes.
func (s *switched) tag(t html.Token, token string, markdown bool) {
	if markdown && autolink().MatchString(token) {
		return
	}
	if !elementName().MatchString(t.Data) ||
		markdown && (strings.ContainsAny(token, "\n\r\f$\\") || strings.Contains(token, "![")) {
		s.off(token)
	}
	for _, a := range t.Attr {
		// another parser may read the value as markup
		markup := markupIn().MatchString(a.Val) && (markdown || t.Data != "script")
		if markup || !attributeName().MatchString(a.Key) || !harmlessAttribute(t.Data, a.Key, a.Val) {
			s.off(a.Val)
		}
	}
}

// words lists attributes whose values no viewer ever fetches.
var words = strings.Fields(
	`alt title class id name lang dir role rel target width height align valign color bgcolor border
	label placeholder type value headers abbr datetime cite media sizes summary download content-type version xml:space
	xml:lang`)

// harmlessAttribute reports whether an attribute fetches nothing. Attributes of scripts are
// harmless, because scripts do not run in an untrusted notebook.
func harmlessAttribute(element, key, value string) bool {
	switch {
	case element == "script", slices.Contains(words, key):
		return true
	case slices.ContainsFunc([]string{"data-", "aria-", "xmlns", "rdf:", "on"},
		func(p string) bool { return strings.HasPrefix(key, p) }):
		return true
	case (key == "href" || key == "xlink:href") && (element == "a" || element == "area"):
		return true
	case key == "style":
		return inertCSS(value)
	case slices.Contains([]string{"img", "image", "input", "video"}, element) && pictureURI().MatchString(value):
		return true
	}
	return inertAddress(value)
}

var (
	attachment = lazy.Regexp(`^attachment:[\w./%-]+$`)
	scheme     = lazy.Regexp(`(?:^|[\s,;'"(=])[a-zA-Z][a-zA-Z0-9+.-]*:`)
)

// inertAddress reports whether a value contains only addresses of files beside the notebook,
// wherever in the value an address may begin.
func inertAddress(value string) bool {
	if attachment().MatchString(value) {
		return true
	}
	dense := strings.Map(func(r rune) rune { // browsers ignore these in addresses
		if r <= ' ' {
			return -1
		}
		return r
	}, value)
	lines := strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(value)
	lines = strings.TrimLeftFunc(lines, func(r rune) bool { return r <= ' ' })
	return !strings.Contains(dense, "//") && !strings.ContainsAny(dense, `\<`) &&
		!scheme().MatchString(lines)
}

// pictureURI matches the data URI of a picture. An SVG that is shown as a picture fetches nothing and
// runs nothing: https://www.w3.org/TR/svg-integration/#secure-static-mode.
var pictureURI = lazy.Regexp(`^\s*data:image/(?:png|jpe?g|gif|webp|bmp|avif|x-icon|svg\+xml)` +
	`(?:;[\w=-]+)*,[\w+/=%\s-]*$`)

// localImage matches a Markdown image whose file is beside the notebook or attached to it.
var localImage = lazy.Regexp(
	"^!\\[[^\\[\\]\\\\`<>]*\\]\\((?:attachment:)?[\\w./%-]+(?: \"[^\"\\\\<>]*\")?\\)")

// mermaid matches the beginning of a Mermaid drawing in Markdown.
var mermaid = lazy.Regexp("(?i)((?:```|~~~)[ \t]*)(mermaid)")

// pictures returns Markdown without pictures from elsewhere. All begin with "![".
func (s *switched) pictures(text string) string {
	if mermaid().MatchString(text) && remoteIn().MatchString(text) {
		s.off(text)
		text = mermaid().ReplaceAllString(text, "${1}text $2")
	}
	parts := strings.Split(text, "![")
	for i, after := range parts[1:] {
		image := "![" + after[:min(len(after), 1000)]
		match := localImage().FindString(image)
		local := match != "" && !strings.Contains(match, "//") ||
			strings.HasPrefix(image, "![](data:image/png;base64,")
		if local {
			parts[i+1] = "![" + after
		} else {
			s.off(image)
			parts[i+1] = `!\[` + after
		}
	}
	return strings.Join(parts, "")
}

// draws matches the MIME types, besides HTML and SVG, that JupyterLab and its usual extensions
// draw even in an untrusted notebook, and that may contain addresses.
var draws = lazy.Regexp(`vega|plotly|mermaid|geo\+json`)

// remoteIn matches what may be a remote address in text that is mostly words. Mermaid names
// pictures with "img".
var remoteIn = lazy.Regexp(`//|\\\\|\bimg\b|\b(?i:https?|ftp|wss?|file|blob):`)

// spec counts what a drawing (JSON or text) may fetch.
func (s *switched) spec(value any) {
	var walk func(key string, value any)
	walk = func(key string, value any) {
		switch v := value.(type) {
		case string:
			if key != "$schema" && key != "plotlyServerURL" && remoteIn().MatchString(v) {
				s.off(v)
			}
		case []any:
			for _, item := range v {
				walk(key, item)
			}
		case map[string]any:
			for k, item := range v {
				if k == "url" && !isInertURL(item) { // an expression may compute an address
					s.off(k)
				}
				walk(k, item)
			}
		}
	}
	walk("", value)
}

// isInertURL reports whether a drawing's url is a picture's data URI or the plain address of a
// file beside the notebook.
func isInertURL(value any) bool {
	text, ok := value.(string)
	return ok && (inertAddress(text) || pictureURI().MatchString(text))
}
