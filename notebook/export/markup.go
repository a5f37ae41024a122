package export

import (
	"bytes"
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	renderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown parses the Markdown of notebooks: GitHub's dialect, with mathematics and HTML.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(),
			parser.WithInlineParsers(util.Prioritized(mathematics{}, 150))),
		goldmark.WithRendererOptions(renderer.WithUnsafe()), // the result is cleaned: see markup
	)
})

// markup converts Markdown to sanitized HTML.
func markup(c *cleaner, source string) string {
	var b bytes.Buffer
	context := parser.NewContext(parser.WithIDs(headings{}))
	if markdown().Convert([]byte(visible(source)), &b, parser.WithContext(context)) == nil {
		if cleaned, ok := c.HTML(b.String()); ok {
			return cleaned
		}
	}
	return "<pre>" + html.EscapeString(visible(source)) + "</pre>\n"
}

// headings gives headings the same ids as Jupyter, for links.
type headings struct{}

func (headings) Generate(value []byte, _ ast.NodeKind) []byte {
	return []byte(strings.ReplaceAll(string(bytes.TrimSpace(value)), " ", "-"))
}

func (headings) Put([]byte) {}

// mathematics keeps TeX ($…$, $$…$$ and \begin{…}…\end{…}) from being read as Markdown. The page
// shows its source.
type mathematics struct{}

func (mathematics) Trigger() []byte { return []byte{'$', '\\'} }

func (mathematics) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	number, begin := block.Position()
	var ahead []byte // to the end of the paragraph, at most longFormula
	for line, _ := block.PeekLine(); line != nil &&
		len(ahead) < longFormula; line, _ = block.PeekLine() {
		ahead = append(ahead, line[:min(len(line), longFormula)]...)
		block.AdvanceLine()
	}
	block.SetPosition(number, begin)
	n := formula(string(ahead))
	if n == 0 {
		return nil
	}
	block.Advance(n)
	class := "tex"
	if ahead[0] == '\\' || ahead[1] == '$' {
		class = "tex display"
	}
	node := ast.NewString(
		[]byte(`<code class="` + class + `">` + html.EscapeString(string(ahead[:n])) + `</code>`))
	node.SetCode(true) // the text is HTML already
	return node
}

// longFormula is the maximum length of a formula, in bytes.
const longFormula = 2000

// formula returns the length of the formula at the beginning of text; 0 if there is none. As
// in pandoc, "$5 or $6" is not a formula.
func formula(text string) int {
	closer := "$"
	switch {
	case strings.HasPrefix(text, "$$"):
		closer = "$$"
	case strings.HasPrefix(text, `\begin{`):
		name, _, ok := strings.Cut(text[len(`\begin{`):], "}")
		if !ok {
			return 0
		}
		closer = `\end{` + name + "}"
	case strings.HasPrefix(text, `\`):
		return 0
	}
	at := len(closer)
	for range 5 { // dollar signs within
		if at >= len(text) {
			return 0
		}
		i := strings.Index(text[at:], closer)
		if i < 0 {
			return 0
		}
		inside, end := text[len(closer):min(len(text), max(len(closer), at+i))], at+i+len(closer)
		if closer != "$" {
			if strings.TrimSpace(inside) == "" {
				return 0
			}
			return end
		}
		spaced := strings.TrimSpace(inside) != inside || inside == ""
		number := end < len(text) && text[end] >= '0' && text[end] <= '9'
		if !spaced && !number && !strings.HasSuffix(inside, `\`) && !strings.Contains(inside, "\n") {
			return end
		}
		at = end
	}
	return 0
}
