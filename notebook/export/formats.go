package export

import (
	"bytes"
	"cmp"
	"embed"
	_ "embed"
	"html"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/alecthomas/chroma/v2"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

//go:embed page.css
var style string

//go:embed page.html
var pageText string

// HTML returns the notebook as one self-contained page without scripts.
func HTML(nb *notebook.Notebook, o Options) []byte {
	w := &writer{nb: nb, options: o, forms: forms, Style: style}
	w.markdown = func(c *notebook.Cell, source string) string {
		text := markup(&w.cleaner, source)
		if c != nil {
			w.Title = cmp.Or(w.Title, w.cleaner.heading)
		}
		return text
	}
	w.html = w.clean
	switch own(nb.Metadata)["verified"] {
	case true:
		w.State = "run verified"
	case false:
		w.State = "run"
	}
	return w.write(pageText, template.FuncMap{
		"code": func(source string) string { return code(source, Language(nb)) }})
}

//go:embed text.md
var markdownText string

// Markdown returns the notebook as one Markdown file. Code and its outputs become code blocks, and
// pictures become data URIs. Markdown stays unchanged, except that remote pictures are only named
// (see [notebook.InertMarkdown]).
func Markdown(nb *notebook.Notebook, _ Options) []byte {
	w := &writer{nb: nb, forms: slices.Concat(pictures, forms)}
	w.markdown = func(c *notebook.Cell, source string) string {
		source = notebook.InertMarkdown(visible(source))
		if swallows(source) {
			return fence(source, "")
		}
		return attachment().ReplaceAllStringFunc(strings.Trim(source, "\n"), func(name string) string {
			if c == nil {
				return name
			}
			return cmp.Or(picture(name, c.Attachments, nil), name)
		})
	}
	w.html = func(text string, hasText bool) string { // which Markdown shows better
		if hasText || w.clean(text, false) == "" {
			return ""
		}
		return strings.TrimSpace(emptyLines().ReplaceAllString(w.cleaner.words, "\n"))
	}
	return w.write(markdownText, template.FuncMap{
		"alt": func(text string) string {
			return strings.NewReplacer("<", "&lt;", "\n", " ").Replace(regexp.QuoteMeta(text))
		},
		"fence": func(kind, text string) string {
			return fence(text, map[string]string{"source": Language(nb), "json": kind, "tex": kind}[kind])
		},
	})
}

// fence returns a code block that the text cannot close.
func fence(text, language string) string {
	if text = strings.TrimRight(visible(text), "\n"); strings.TrimSpace(text) == "" {
		return ""
	}
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + language + "\n" + text + "\n" + marks
}

var (
	attachment = lazy.Regexp(`attachment:[^\s"'<>()]+`)
	details    = lazy.Regexp(`(?i)<(/?)details\b`)
	emptyLines = lazy.Regexp(`\n\s+`)
)

// swallows reports whether Markdown leaves a block open, such as a code block or a comment, which
// would take in the next cell.
func swallows(source string) bool {
	open := 0
	for _, tag := range details().FindAllStringSubmatch(source, -1) {
		if open += 1 - 2*len(tag[1]); open < 0 {
			return true
		}
	}
	const next = "the-next-cell"
	whole := []byte(source + "\n\n" + next + "\n")
	last := markdown().Parser().Parse(text.NewReader(whole)).LastChild()
	return open > 0 || last.Kind() != ast.KindParagraph ||
		strings.TrimSpace(string(last.Lines().Value(whole))) != next
}

// Script returns the code cells in order as one script. A "%%" comment, which editors recognize,
// precedes each cell. Lines that only IPython understands are commented out if they are not indented.
func Script(nb *notebook.Notebook) []byte {
	var cells []string
	inPython := strings.HasPrefix(strings.TrimPrefix(Language(nb), "i"), "python")
	for _, c := range nb.Cells {
		source, lines := strings.TrimRight(c.Source, "\n"), magic()
		if c.Type != notebook.Code || strings.TrimSpace(source) == "" {
			continue
		}
		if first := strings.TrimSpace(source); strings.HasPrefix(first, "%%") &&
			!takesPython().MatchString(first) {
			lines = anyLine()
		}
		if inPython {
			source = lines.ReplaceAllString(source, "# $0")
		}
		cells = append(cells, "# %%\n"+source+"\n")
	}
	return []byte(strings.Join(cells, "\n\n"))
}

var (
	magic = lazy.Regexp(`(?m)^(?:%{1,2}[a-z]\w|!\S|\?\w|` +
		`\w[\w.]*\?{1,2}[ \t]*$|\w[\w., ]*=[ \t]*[%!]\w).*`)
	// cell magics whose cells are Python
	takesPython = lazy.Regexp(`^%%(?:time|timeit|capture|prun|memit|mprun|python3?|pypy|debug)\b`)
	anyLine     = lazy.Regexp(`(?m)^.*$`)
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
