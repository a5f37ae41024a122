package export

import (
	"bytes"
	"embed"
	"html"
	"io/fs"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"

	"dsstar/notebook/lazy"
)

// markdown parses the Markdown of notebooks: with tables, links and strikes as on GitHub,
// and HTML.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Linkify, extension.Strikethrough,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithRendererOptions(renderer.WithUnsafe()), // the result is cleaned: see markup
	)
})

// markup converts Markdown to sanitized HTML.
func markup(c *cleaner, source string) string {
	var b bytes.Buffer
	if markdown().Convert([]byte(formulasAsCode(visible(source))), &b) == nil {
		if cleaned, ok := c.HTML(b.String()); ok {
			return cleaned
		}
	}
	return "<pre>" + html.EscapeString(visible(source)) + "</pre>\n"
}

// codeOrFormula matches code, blocks of HTML, and formulas with what follows. As in pandoc, "$5 or $6"
// is none; nor is what a code span is part of.
var codeOrFormula = lazy.Regexp("(?m)^ *(?:```|~~~)(?s:.*?)^ *(?:```|~~~)|^(?: {4}|\t).*$|`+[^`]*`+|" +
	`^ {0,3}</?[A-Za-z!](?:[^\n]+\n?)+|` +
	`\\[$\x60\\]|(\$\$\n?(?:[^$\x60\n]+\n?)+\$\$|` +
	`\\begin\{(?:[^\x60\n]+\n?)+\\end\{[^}\n]*\}|` +
	`\$(?:[^\s$\x60\\]|\\[^\n])(?:[ \t]*(?:[^\s$\x60\\]|\\[^\n]))*\$)([^0-9\x60]|\z)`)

// formulasAsCode makes code of TeX ($…$, $$…$$ and \begin{…}…\end{…}), so that it is not read as
// Markdown.
func formulasAsCode(source string) string {
	return codeOrFormula().ReplaceAllStringFunc(source, func(found string) string {
		m := codeOrFormula().FindStringSubmatch(found)
		if m[1] == "" {
			return found
		}
		return "`` " + strings.Join(strings.Fields(m[1]), " ") + " ``" + m[2]
	})
}

// lexers contains chroma's lexers for the languages of notebooks. Chroma's own package registers
// all languages at program start, which takes longer than all other initialization.
//
//go:embed lexers/*.xml
var lexers embed.FS

var known = sync.OnceValue(func() *chroma.LexerRegistry {
	all := chroma.NewLexerRegistry()
	names, _ := fs.Glob(lexers, "lexers/*.xml") // they are embedded, and a test loads all
	for _, name := range names {
		all.Register(chroma.MustNewXMLLexer(lexers, name))
	}
	return all
})

// coloured matches chroma's classes that page.css knows, of some their first letters.
var coloured = lazy.Regexp(`^(?:[kcsm]|ow$|n[bcdeft]$|bp$|fm$)`)

// code returns code as HTML, highlighted if its language is known and it is not very long.
func code(text, language string) string {
	text = visible(text)
	plain := html.EscapeString(text)
	lexer := known().Get(strings.TrimPrefix(strings.ToLower(language), "i")) // ipython3
	if lexer == nil || len(text) > 200<<10 {
		return plain
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return plain
	}
	var b, all strings.Builder
	for _, t := range tokens.Tokens() {
		all.WriteString(t.Value)
		if class := coloured().FindString(chroma.StandardTypes[t.Type]); class != "" && t.Value != "" {
			b.WriteString(`<span class="` + class + `">` + html.EscapeString(t.Value) + "</span>")
		} else {
			b.WriteString(html.EscapeString(t.Value))
		}
	}
	if all.String() != text {
		return plain // never lose a character for colours
	}
	return b.String()
}
