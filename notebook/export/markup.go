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
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	renderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"dsstar/notebook/lazy"
)

// markdown parses the Markdown of notebooks: with tables, links and strikes as on GitHub,
// mathematics and HTML.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Linkify, extension.Strikethrough,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithInlineParsers(util.Prioritized(mathematics{}, 150))),
		goldmark.WithRendererOptions(renderer.WithUnsafe()), // the result is cleaned: see markup
	)
})

// markup converts Markdown to sanitized HTML.
func markup(c *cleaner, source string) string {
	var b bytes.Buffer
	if markdown().Convert([]byte(visible(source)), &b) == nil {
		if cleaned, ok := c.HTML(b.String()); ok {
			return cleaned
		}
	}
	return "<pre>" + html.EscapeString(visible(source)) + "</pre>\n"
}

// mathematics keeps TeX ($…$, $$…$$ and \begin{…}…\end{…}) from being read as Markdown. The page
// shows its source.
type mathematics struct{}

func (mathematics) Trigger() []byte { return []byte{'$', '\\'} }

// formula matches a formula at the beginning of a text and what follows. As in pandoc, "$5 or $6"
// is none; nor is what a code span is part of.
var formula = lazy.Regexp(`^(?:(\$\$[^$]*[^\s$][^$]*\$\$|` +
	`\\begin\{(?s:.{1,40}?)\}(?s:.*)\\end\{[^}\n]*\})|` +
	`(\$(?:[^\s$\x60\\]|\\[^\n])(?:[ \t]*(?:[^\s$\x60\\]|\\[^\n]))*\$)(?:[^0-9]|$))`)

func (mathematics) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	number, begin := block.Position()
	var ahead []byte // to the end of the paragraph, at most longFormula
	for line, _ := block.PeekLine(); line != nil &&
		len(ahead) < longFormula; line, _ = block.PeekLine() {
		ahead = append(ahead, line[:min(len(line), longFormula)]...)
		block.AdvanceLine()
	}
	block.SetPosition(number, begin)
	found := formula().FindSubmatch(ahead)
	if found == nil {
		return nil
	}
	tex, class := found[2], "tex"
	if tex == nil {
		tex, class = found[1], "tex display"
	}
	block.Advance(len(tex))
	node := ast.NewString(
		[]byte(`<code class="` + class + `">` + html.EscapeString(string(tex)) + `</code>`))
	node.SetCode(true) // the text is HTML already
	return node
}

// longFormula is the maximum length of a formula, in bytes.
const longFormula = 2000

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
