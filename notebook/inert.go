package notebook

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"dsstar/notebook/lazy"
)

// off is the prefix of the names of disabled attributes. No viewer fetches anything for them.
const off = "data-dsstar-"

// Inert returns the data of an output, changed so that showing it fetches nothing from
// elsewhere: a cell can write the data that it reads into the address of a picture, and
// JupyterLab fetches pictures even when it opens an untrusted notebook. Inert renames what
// would fetch, so the text stays and the address is readable, and adds a line that says so.
// Data that fetches nothing stays as it is. So do scripts, which run only if the reader trusts
// the notebook, and links, which only people follow. The given bundle is not changed.
func Inert(data MIMEBundle) MIMEBundle {
	changed := false
	all := maps.Clone(data)
	var plain switched // for data that cannot contain a note: text/plain gets it
	for _, mime := range slices.Sorted(maps.Keys(data)) {
		switch text, ok := data[mime].(string); {
		case ok && mime == "text/html":
			all[mime] = InertHTML(text)
			changed = changed || all[mime] != text
		case ok && mime == "text/markdown":
			all[mime] = InertMarkdown(text)
			changed = changed || all[mime] != text
		case ok && mime == "image/svg+xml":
			all[mime] = plain.html(text, false)
			changed = changed || all[mime] != text
		case draws().MatchString(mime) && plain.spec(data[mime]):
			delete(all, mime)
			all[strings.Replace(mime, "/", "/x-dsstar-off-", 1)] = data[mime]
			changed = true
		}
	}
	if !changed {
		return data
	}
	if note := plain.note(); note != "" {
		text, _ := all["text/plain"].(string)
		all["text/plain"] = strings.TrimPrefix(text+"\n"+note, "\n")
	}
	return all
}

// InertHTML is [Inert] for HTML.
func InertHTML(text string) string {
	var s switched
	inert := s.html(text, false)
	if note := s.note(); note != "" {
		inert += "\n<p>" + html.EscapeString(note) + "</p>"
	}
	return inert
}

// InertMarkdown is [Inert] for Markdown. It treats HTML in code blocks as HTML, too.
func InertMarkdown(text string) string {
	var s switched
	inert := s.markdown(text)
	if note := s.note(); note != "" {
		inert += "\n\n" + strings.NewReplacer("[", `\[`, "]", `\]`, "_", `\_`).Replace(note)
	}
	return inert
}

// switched counts what was disabled.
type switched struct {
	n        int
	hosts    []string
	restarts int
}

// note returns a text that says what was disabled, or "".
func (s *switched) note() string {
	if s.n == 0 {
		return ""
	}
	note := "[note: opening this would have fetched something from elsewhere, which is switched off"
	if len(s.hosts) > 0 {
		note += ": " + strings.Join(s.hosts, ", ")
	}
	return note + "]"
}

var hostIn = lazy.Regexp(`//([\w.:-]{1,60})`)

// off counts a disabled text, and notes the first hosts in it.
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

// html returns HTML or SVG that fetches nothing. Tags that fetch nothing stay byte for byte.
// Text is escaped where parsers disagree on whether it is text. In Markdown, no construct
// hides tags, because what hides them in HTML (such as a comment) may be words in a code block.
func (s *switched) html(text string, markdown bool) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var b strings.Builder
	foreign := false // after SVG or MathML, in which scripts and styles contain markup
	z := html.NewTokenizer(strings.NewReader(text))
	at := 0
	next := func() (html.TokenType, string) {
		kind := z.Next()
		token := string(z.Raw()) // a copy: reading names changes it
		at += len(token)
		return kind, token
	}
	for {
		kind, token := next()
		switch kind {
		case html.ErrorToken: // the end, perhaps within a tag
			b.WriteString(noTags(token + text[at:]))
			return b.String()
		case html.TextToken:
			b.WriteString(token)
		case html.EndTagToken:
			if strings.Contains(token[1:], "<") { // some parsers end the tag at the "<"
				s.off(token)
				token = noTags(token)
			}
			b.WriteString(token)
		case html.CommentToken, html.DoctypeToken:
			switch {
			case markdown && strings.Contains(token[1:], "<"): // perhaps not a comment
				if s.restarts++; s.restarts > maxRestarts {
					return b.String() + noTags(token+text[at:])
				}
				return b.String() + "&lt;" + s.html(token[1:]+text[at:], markdown)
			case harmlessDeclaration(token):
				b.WriteString(token)
			default:
				s.off(token)
				b.WriteString("<!--" + noMarkup.Replace(token) + "-->")
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			foreign = foreign || t.Data == "svg" || t.Data == "math"
			tag := s.tag(t, token, markdown)
			if !slices.Contains(raw, t.Data) {
				b.WriteString(tag)
				continue
			}
			if markdown || kind == html.SelfClosingTagToken { // parsers disagree on its content
				z.NextIsNotRawText()
				if !markdown || t.Data == "style" {
					tag = noTags(token) // omitting it would join the text around it
				}
				b.WriteString(tag)
				continue
			}
			kind, content := next()
			if kind == html.TextToken {
				b.WriteString(s.content(t.Data, tag, content, foreign))
			} else {
				b.WriteString(tag + content) // no content: this is the end tag, or the end of text
			}
		}
	}
}

// maxRestarts limits how often Markdown is parsed again after what looked like a comment.
const maxRestarts = 100

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

var noMarkup = strings.NewReplacer("<", "&lt;", ">", "&gt;")

// content returns the start tag and the content of a raw element, made inert.
func (s *switched) content(name, tag, content string, foreign bool) string {
	switch name {
	case "script":
		if !strings.Contains(strings.ToLower(content), "</script") &&
			!(foreign && markupIn().MatchString(content)) {
			return tag + content
		}
	case "style":
		css := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(content), "<![CDATA["), "]]>")
		if markupIn().MatchString(css) || !inertCSS(css) {
			s.off(content)
			return fmt.Sprintf(`%s %scss="%s">`, strings.TrimRight(tag, "/> "), off,
				html.EscapeString(noTags(content)))
		}
		return tag + content
	default:
		if !strings.Contains(content, "<") {
			return tag + content
		}
	}
	s.off(content)
	return html.EscapeString(tag + content)
}

// oneLine rewrites a start tag so that Markdown cannot read it as anything else: prefixes of
// quotes and lists may follow line breaks, and formulas and images may begin in attributes.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ", "\f", " ", "$", "&#36;", `\`, "&#92;",
	"![", "!&#91;")

// tag returns a start tag that fetches nothing.
func (s *switched) tag(t html.Token, token string, markdown bool) string {
	if markdown && autolink().MatchString(token) {
		return token
	}
	changed := false
	var kept []html.Attribute
	for _, a := range t.Attr {
		switch {
		case !attributeName().MatchString(a.Key):
			changed = true
			s.off(a.Val)
			a = html.Attribute{Key: off + "odd", Val: a.Key + "=" + a.Val}
		case !harmlessAttribute(t.Data, a.Key, a.Val):
			changed = true
			s.off(a.Val)
			a.Key = off + strings.ReplaceAll(a.Key, ":", "-")
		}
		// another parser may read the value as markup
		if markupIn().MatchString(a.Val) && (markdown || t.Data != "script") {
			changed = true
			a.Val = noTags(a.Val)
		}
		kept = append(kept, a)
	}
	if !elementName().MatchString(t.Data) {
		s.off(token)
		return noTags(token)
	}
	if changed {
		t.Attr = kept
		token = t.String()
	}
	if markdown {
		token = oneLine.Replace(token)
	}
	return token
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
	case slices.Contains([]string{"img", "image", "input", "video"}, element) && inertPicture(value):
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

var (
	rasterURI = lazy.Regexp(
		`^\s*data:image/(?:png|jpe?g|gif|webp|bmp|avif|x-icon)(?:;[\w=-]+)*,[\w+/=%\s-]*$`)
	svgURI = lazy.Regexp(`^\s*data:image/svg\+xml((?:;[\w=-]+)*),([^\\]*)$`)
)

// inertPicture reports whether a value is the data URI of a picture that fetches nothing.
func inertPicture(value string) bool {
	if rasterURI().MatchString(value) {
		return true
	}
	parts := svgURI().FindStringSubmatch(value)
	if parts == nil {
		return false
	}
	svg, err := url.PathUnescape(parts[2])
	if err == nil && strings.HasSuffix(parts[1], ";base64") {
		var data []byte
		data, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(svg), ""))
		svg = string(data)
	}
	var s switched
	s.html(svg, false)
	return err == nil && s.n == 0
}

// localImage matches a Markdown image whose file is beside the notebook or attached to it.
var localImage = lazy.Regexp(
	"^!\\[[^\\[\\]\\\\`<>]*\\]\\((?:attachment:)?[\\w./%-]+(?: \"[^\"\\\\<>]*\")?\\)")

// mermaid matches the beginning of a Mermaid drawing in Markdown.
var mermaid = lazy.Regexp("(?i)((?:```|~~~)[ \t]*)(mermaid)")

// markdown returns Markdown that fetches nothing. All its images begin with "![".
func (s *switched) markdown(text string) string {
	if mermaid().MatchString(text) && remoteIn().MatchString(text) {
		s.off(text)
		text = mermaid().ReplaceAllString(text, "${1}text $2")
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "![")
		b.WriteString(before)
		if !found {
			return s.html(b.String(), true)
		}
		image := "![" + after[:min(len(after), 1000)]
		switch match := localImage().FindString(image); {
		case match != "" && !strings.Contains(match, "//"), strings.HasPrefix(image,
			"![](data:image/png;base64,"):
			b.WriteString("![")
		default:
			s.off(image)
			b.WriteString(`!\[`)
		}
		text = after
	}
}

// draws matches the MIME types, besides HTML and SVG, that JupyterLab and its usual extensions
// draw even in an untrusted notebook, and that may contain addresses.
var draws = lazy.Regexp(`vega|plotly|mermaid|geo\+json`)

// remoteIn matches what may be a remote address in text that is mostly words. Mermaid names
// pictures with "img".
var remoteIn = lazy.Regexp(`//|\\\\|\bimg\b|\b(?i:https?|ftp|wss?|file|blob):`)

// spec reports whether a drawing (JSON or text) may fetch something, and notes what.
func (s *switched) spec(value any) bool {
	n := s.n
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
	return s.n > n
}

// isInertURL reports whether a drawing's url is a picture's data URI or the plain address of a
// file beside the notebook.
func isInertURL(value any) bool {
	text, ok := value.(string)
	return ok && (inertAddress(text) || rasterURI().MatchString(text))
}
