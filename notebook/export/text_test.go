package export_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	source "github.com/yuin/goldmark/text"

	"dsstar/notebook"
	"dsstar/notebook/export"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// checkMarkdown checks that no cell swallows what follows: text after the notebook is a
// paragraph of the document.
func checkMarkdown(t T, nb *notebook.Notebook) {
	t.Helper()
	const next = "what is behind"
	nb.Cells = append(nb.Cells, text(next))
	md := export.Markdown(nb)
	last := goldmark.New().Parser().Parse(source.NewReader(md)).LastChild()
	if last.Kind() != ast.KindParagraph || strings.TrimSpace(string(last.Lines().Value(md))) != next {
		t.Errorf("the end is not a paragraph but the %s %q in\n%s", last.Kind(), last.Lines().Value(md), md)
	}
}

func sample() *notebook.Notebook {
	setup := code("import os", prints("hidden\n"))
	setup.Metadata = map[string]any{"jupyter": map[string]any{"source_hidden": true}}
	att := text("A picture: ![dot](attachment:dot.png)\n\n```\nnever closed")
	att.Attachments = map[string]notebook.MIMEBundle{"dot.png": {"image/png": png}}
	question := text("# Which *store*?\n\n**Answer**\n\n```\nNorth\n```\n\n✔ **Verified**: it is proved.")
	question.Metadata = map[string]any{"dsstar": map[string]any{"role": "question"}}
	nb := of(question, setup, att, text("<!-- never closed"), text("<details><summary>never closed</summary>\n\ntext"),
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
	script, commented := export.Script(sample())
	if commented != 5 {
		t.Errorf("%d lines are comments", commented)
	}
	for name, got := range map[string]string{
		"page.html": page(t, sample()), "text.md": string(export.Markdown(sample())), "script.py": string(script),
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

func TestScriptOfOtherLanguages(t *testing.T) {
	nb := of(code("%xy <- 1"), code("y"))
	nb.Metadata = map[string]any{"language_info": map[string]any{"name": "R"}}
	script, _ := export.Script(nb)
	if want := "# %%\n%xy <- 1\n\n\n# %%\ny\n"; string(script) != want {
		t.Errorf("%s", script)
	}
}

// TestLexers: the embedded lexers equal those of the library in use.
func TestLexers(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	copies, err := filepath.Glob("lexers/*.xml")
	if err != nil || len(copies) == 0 {
		t.Fatal(copies, err)
	}
	for _, path := range copies {
		ours, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "lexers", "embedded", filepath.Base(path)))
		if err != nil || string(ours) != string(theirs) {
			t.Errorf("%s is not chroma's: %v", path, err)
		}
	}
}

// TestMarkdownFetchesNothing: only the address of a remote picture is left.
func TestMarkdownFetchesNothing(t *testing.T) {
	const remote = "![x](http://evil.test/a) <img src=\"http://evil.test/b\">"
	nb := &notebook.Notebook{Cells: []notebook.Cell{{Type: notebook.Markdown, Source: remote},
		{Type: notebook.Code, Outputs: []notebook.Output{{Type: notebook.DisplayData, Data: notebook.MIMEBundle{"text/markdown": remote}}}}}}
	got := string(export.Markdown(nb))
	if strings.Contains(got, "![x]") || strings.Contains(got, "<img") || strings.Count(got, "http://evil.test/a") != 2 {
		t.Error(got)
	}
}
