package export

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	xhtml "golang.org/x/net/html"

	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// Markdown returns the notebook as one Markdown file. Code and its outputs become code blocks, and
// pictures become data URIs. Markdown stays unchanged, except that remote pictures are only named
// (see [notebook.InertMarkdown]).
func Markdown(nb *notebook.Notebook) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- %s -->\n\n", Mark)
	for i := range nb.Cells {
		c := &nb.Cells[i]
		switch c.Type {
		case notebook.Markdown:
			paragraph(&b, closed(attached(notebook.InertMarkdown(visible(c.Source)), c.Attachments)))
		case notebook.Raw:
			paragraph(&b, fence(c.Source, ""))
		case notebook.Code:
			if strings.TrimSpace(c.Source) != "" {
				paragraph(&b, folded(hidden(c, "source_hidden"), "Code", fence(c.Source, Language(nb))))
			}
			paragraph(&b, folded(hidden(c, "outputs_hidden"), "Output", textOutputs(c)))
		}
	}
	return []byte(strings.TrimRight(b.String(), "\n") + "\n")
}

// paragraph writes text followed by an empty line.
func paragraph(b *strings.Builder, text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		b.WriteString(text + "\n\n")
	}
}

func folded(closed bool, title, text string) string {
	if !closed || text == "" {
		return text
	}
	return fmt.Sprintf("<details>\n<summary>%s</summary>\n\n%s\n\n</details>", title,
		strings.Trim(text, "\n"))
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

func textOutputs(c *notebook.Cell) string {
	var b strings.Builder
	for _, o := range joined(c.Outputs) {
		switch o.Type {
		case notebook.Stream, notebook.ErrorOutput:
			paragraph(&b, fence(lastState(o), ""))
		default:
			paragraph(&b, textDisplay(o))
		}
	}
	return b.String()
}

// lastState returns an output as a terminal finally shows it, without colours.
func lastState(o notebook.Output) string {
	o.Text = notebook.Overstrike(o.Text)
	return strings.ReplaceAll(o.PlainText(), "\r", "")
}

// textDisplay shows an output in Markdown: as a picture if it has one, otherwise as text. Python's
// tables always have text.
func textDisplay(o notebook.Output) string {
	o.Data = notebook.Inert(o.Data)
	for _, mime := range []string{"image/png", "image/jpeg", "image/svg+xml", "image/gif",
		"image/webp"} {
		if uri := pictureURI(o.Data, mime); uri != "" {
			alt := regexp.QuoteMeta(altOf(o)) // escapes what Markdown would interpret
			return fmt.Sprintf("![%s](%s)", strings.NewReplacer("<", "&lt;", "\n", " ").Replace(alt), uri)
		}
	}
	if md := str(o, "text/markdown"); md != "" {
		return closed(visible(md))
	}
	if plain := lastState(o); strings.TrimSpace(plain) != "" && readable(o) {
		return fence(plain, "")
	}
	if tex := str(o, "text/latex"); tex != "" {
		return fence(tex, "tex")
	}
	if c := (cleaner{}); o.Data["text/html"] != nil {
		if text, ok := c.HTML(str(o, "text/html")); ok && strings.TrimSpace(wordsOf(text)) != "" {
			return fence(wordsOf(text), "")
		}
	}
	if o.Data["application/json"] != nil {
		return fence(indented(o.Data["application/json"]), "json")
	}
	return fence(lastState(o), "")
}

// wordsOf returns the text of cleaned HTML, with a line for each row of a table.
func wordsOf(text string) string {
	root, err := xhtml.Parse(strings.NewReader(text))
	if err != nil {
		return ""
	}
	var b strings.Builder
	for n := range root.Descendants() {
		switch {
		case n.Type == xhtml.TextNode:
			b.WriteString(strings.Join(strings.Fields(n.Data), " "))
		case n.Data == "tr" || n.Data == "p" || n.Data == "div" || n.Data == "br" || n.Data == "li":
			b.WriteByte('\n')
		case n.Data == "td" || n.Data == "th":
			b.WriteByte('\t')
		}
	}
	return strings.TrimSpace(b.String())
}

var attachment = lazy.Regexp(`attachment:[^\s"'<>()]+`)

// attached replaces references to a cell's attachments with data URIs.
func attached(source string, attachments map[string]notebook.MIMEBundle) string {
	if len(attachments) == 0 {
		return source
	}
	return attachment().ReplaceAllStringFunc(source, func(name string) string {
		if uri := picture(name, attachments, nil); uri != "" {
			return uri
		}
		return name
	})
}

// closers lists what closes constructs that Markdown may leave open: code blocks, and HTML that an
// empty line does not end.
var closers = []string{"-->", "?>", ">", "]]>", "</script>", "</pre>", "</style>", "</textarea>"}

// closed returns Markdown with all open blocks closed. Open ones would swallow the next cell.
func closed(source string) string {
	source = strings.TrimRight(source, "\n")
	if ends(source) {
		return balanced(source)
	}
	for _, mark := range []string{"`", "~"} {
		longest := mark + mark + mark
		for strings.Contains(source, longest+mark) {
			longest += mark
		}
		if ended := source + "\n" + longest; ends(ended) {
			return balanced(ended)
		}
	}
	for _, closer := range closers {
		if ended := source + "\n" + closer; ends(ended) {
			return balanced(ended)
		}
	}
	return fence(source, "")
}

// ends reports whether source leaves no block open: a paragraph after it is still a paragraph.
func ends(source string) bool {
	const next = "the-next-cell"
	whole := []byte(source + "\n\n" + next + "\n")
	last := markdown().Parser().Parse(text.NewReader(whole)).LastChild()
	return last != nil && last.Kind() == ast.KindParagraph &&
		strings.TrimSpace(string(last.Lines().Value(whole))) == next
}

var detailsTag = lazy.Regexp(`(?i)<(/?)details\b`)

// balanced closes open folded sections.
func balanced(source string) string {
	whole := []byte(source)
	open := 0
	root := markdown().Parser().Parse(text.NewReader(whole))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		raw := ""
		switch n := n.(type) {
		case *ast.HTMLBlock:
			raw = string(n.Lines().Value(whole))
		case *ast.RawHTML:
			raw = string(n.Segments.Value(whole))
		}
		if entering {
			for _, tag := range detailsTag().FindAllStringSubmatch(raw, -1) {
				if tag[1] == "" {
					open++
				} else {
					open = max(open-1, 0)
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return source + strings.Repeat("\n\n</details>", open)
}
