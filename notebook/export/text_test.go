package export_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	source "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"dsstar/notebook"
	"dsstar/notebook/export"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// checkMarkdown checks that no cell swallows what follows: text after the notebook is a
// paragraph of the document.
func checkMarkdown(t rapid.TB, nb *notebook.Notebook) {
	t.Helper()
	const next = "what is behind"
	nb.Cells = append(nb.Cells, text(next))
	md := export.Markdown(nb, export.Options{})
	last := goldmark.New().Parser().Parse(source.NewReader(md)).LastChild()
	if last.Kind() != ast.KindParagraph || strings.TrimSpace(string(last.Lines().Value(md))) != next {
		t.Errorf("the end is not a paragraph but the %s %q in\n%s", last.Kind(), last.Lines().Value(md), md)
	}
}

func sample() *notebook.Notebook {
	setup := code("import os", prints("hidden\n"), prints("twice\n"),
		notebook.Output{Type: notebook.Stream, Name: "stderr", Text: "warning\n"}, prints("again\n"),
		notebook.Output{Type: notebook.ErrorOutput, EName: "E", EValue: "v"})
	setup.Metadata = map[string]any{"jupyter": map[string]any{"source_hidden": true, "outputs_hidden": true}}
	remote := text("![x](http://evil.test/a) <img src=\"http://evil.test/b\">") // only its address is left
	att := text("A picture: ![dot](attachment:dot.png)\n\n```\nnever closed")
	att.Attachments = map[string]notebook.MIMEBundle{"dot.png": {"image/png": png}}
	question := text("# Which *store*?\n\n**Answer**\n\n```\nNorth\n```\n\n✔ **Verified**: it is proved.")
	question.Metadata = map[string]any{"dsstar": map[string]any{"role": "question"}}
	nb := of(question, setup, remote, att, text("<!-- never closed"), text("<details><summary>never closed</summary>\n\ntext"),
		code("%matplotlib inline\nfiles = !ls\nif x:\n    %time y()\nz = (10\n  % 3)\ndf.head()",
			prints("50%\r100%\n```\n\x1b[31mred\x1b[0m\n"),
			shows(notebook.MIMEBundle{"text/html": frame, "text/plain": "   a\n0  b"}),
			shows(notebook.MIMEBundle{"image/png": png, "text/plain": "<Figure size 1x1>"}),
			shows(notebook.MIMEBundle{"text/html": frame}),
			shows(notebook.MIMEBundle{"text/latex": "$x$", "text/plain": "<Latex>"}),
			notebook.Output{Type: notebook.ErrorOutput, EName: "E", EValue: "v", Traceback: []string{"\x1b[31mE\x1b[0m: v"}}),
		code("%%bash\nls", prints("a\n")), code("%%time\nx = 1"), code("  \n"), notebook.Cell{Type: notebook.Raw, Source: "raw"})
	nb.Metadata = map[string]any{"dsstar": map[string]any{"verified": true}}
	return nb
}

func TestGolden(t *testing.T) {
	for name, got := range map[string]string{
		"page.html": page(t, sample()), "text.md": string(export.Markdown(sample(), export.Options{})), "script.py": string(export.Script(sample())),
	} {
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(golden), got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
