package export_test

import (
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	source "github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
	"dsstar/notebook/export"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// png is a picture of one pixel.
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func text(source string) notebook.Cell { return notebook.Cell{Type: notebook.Markdown, Source: source} }

func code(source string, outputs ...notebook.Output) notebook.Cell {
	return notebook.Cell{Type: notebook.Code, Source: source, Outputs: outputs, ExecutionCount: 1}
}

func shows(data notebook.MIMEBundle) notebook.Output {
	return notebook.Output{Type: notebook.DisplayData, Data: data}
}

func prints(text string) notebook.Output {
	return notebook.Output{Type: notebook.Stream, Name: "stdout", Text: text}
}

func of(cells ...notebook.Cell) *notebook.Notebook { return &notebook.Notebook{Cells: cells} }

// page makes the page of a notebook, checks that it is inert and has the notebook's structure,
// and returns its main part.
func page(t rapid.TB, nb *notebook.Notebook, options ...export.Options) string {
	t.Helper()
	whole := string(export.HTML(nb, append(options, export.Options{Title: "T"})[0]))
	sections := 0
	for n := range pyenvtest.Must(html.Parse(strings.NewReader(whole))).Descendants() {
		if n.Type == html.ElementNode {
			checkElement(t, n)
		}
		if n.Type == html.ElementNode && n.Data == "section" {
			sections++
			if n.Parent.Data != "main" || n.Parent.Parent.Data != "body" {
				t.Errorf("a section stands in a %s", n.Parent.Data)
			}
		}
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %s", n.Data)
		}
	}
	for element, most := range own {
		if strings.Count(whole, "<"+element) > most+strings.Count(whole, "<"+element+"er") {
			t.Errorf("the page has more than %d of %s", most, element)
		}
	}
	_, after, _ := strings.Cut(whole, "<main>\n")
	main, isWhole := strings.CutSuffix(after, "</main>\n</body>\n</html>\n")
	if !isWhole || sections != len(nb.Cells) {
		t.Errorf("%d sections for %d cells\n%s", sections, len(nb.Cells), after)
	}
	return main
}

// own are the page's own elements, to which content must not add.
var own = map[string]int{"style": 1, "title": 1, "head": 1, "body": 1, "html": 1, "main": 1, "input": 1, "label": 1, "meta": 6}

var never = strings.Fields("script iframe object embed applet base link form button textarea select svg math template noscript frame video audio")

func checkElement(t rapid.TB, n *html.Node) {
	t.Helper()
	if slices.Contains(never, n.Data) || n.Namespace != "" {
		t.Errorf("the page has a %s element", n.Data)
	}
	for _, a := range n.Attr {
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "srcdoc", a.Key == "action", a.Key == "formaction", a.Key == "srcset", a.Key == "background", a.Key == "style":
			t.Errorf("%s has the attribute %s", n.Data, a.Key)
		case a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/"):
			t.Errorf("%s has the source %.60q", n.Data, a.Val)
		case a.Key == "href":
			u, err := url.Parse(a.Val)
			if err != nil || !slices.Contains([]string{"", "http", "https", "mailto"}, u.Scheme) {
				t.Errorf("a link leads to %q", a.Val)
			}
		}
	}
}

// want checks that parts are in a text, and those after a "!" are not.
func want(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		part, no := strings.CutPrefix(part, "!")
		if strings.Contains(got, part) == no {
			t.Errorf("%q, not to be there: %v\n%.3000s", part, no, got)
		}
	}
}

func TestHead(t *testing.T) {
	whole := string(export.HTML(of(text("x")), export.Options{}))
	before, _, _ := strings.Cut(whole, "<style>")
	want(t, before, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline';`, export.Mark, "<title>Notebook</title>")
	want(t, whole, "!http://", "!https://", "!@import", "!url(")
	headed := of(text("words"), text("## A <b>&amp;</b> *b*"), text("# B"), text("c"))
	for title, nb := range map[string]*notebook.Notebook{"A &amp; b": headed, "T": of(code("# x"))} {
		want(t, string(export.HTML(nb, export.Options{Title: "T"})), "<title>"+title+"</title>")
	}
}

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

// hostile is content that tries to run, to reach the network or to break the page.
var hostile = []string{
	"<script>alert(1)</script>", "</pre></div></section></main></body></html>", "<img src=x onerror=alert(1)>", "</style><script>x</script>",
	"[x](javascript:alert(1))", "[x](java\nscript:alert(1))", "<a href=' &#x6a;avascript:alert(1)'>x</a>", "<a href='JaVaScRiPt:alert(1)'>x</a>",
	"<a href='java&#9;script:alert(1)'>x</a>", "<a href='data:text/html,<script>x</script>'>x</a>", "<a href=vbscript:x>x</a>", "![x](javascript:x)",
	"<svg><script>x</script><style><img src=x onerror=y></style></svg>", "<svg/onload=alert(1)>", "<math><mtext></form><form><mglyph><style></math><img src onerror=x>",
	"<style>@import 'https://example.org'; body{display:none}</style>", "<div style='background:url(https://example.org)'>x</div>",
	"<div style='position:fixed;top:0;background:\\75 rl(x)'>x</div>", "<iframe srcdoc='<script>x</script>'></iframe>", "<object data=x><p>y</object>",
	"<form action=https://example.org><button>x</button><input name=y><textarea></form>", "<base href=https://example.org>", "<meta http-equiv=refresh content=0>",
	"<noscript><p title=\"</noscript><img src=x onerror=y>\">", "<textarea><p title=\"</textarea><img src=x onerror=y>\">", "<title></title><script>", "<!--><img src=x onerror=y>-->",
	"<plaintext>", "<xmp></xmp><script>x</script>", "<table><td><div><p>", "</details></summary>", "<details><summary>", "<p id=code><p id=code>", "<b><i><a><table><tr>", "<body onload=x>", "<html class=x>",
	"```html\n</code></pre><script>x</script>", "~~~", "`", "$<script>x</script>$", "$$", "\\begin{x}</code><script>\\end{x}", "&lt;script&gt;", "\x00<scr\x00ipt>", "\xff\xfe", "\x1b[31m<script>", "\x1b]8;;javascript:x\x07y",
	"<img src=\"data:image/svg+xml;base64,PHN2Zz4=\">", "<img src='data:text/html;base64,PHNjcmlwdD4='>", "<img srcset='https://example.org/x 2x'>", "<video poster=https://example.org>", "<link rel=stylesheet href=https://example.org>", "<section><main>",
	"[a]: javascript:x\n[a]", "<https://example.org/\"onmouseover=x>", "| a |\n|---|\n| <script>x</script> |", "<select><option>", "<template><script>x</script></template>", "<frameset><frame src=x>", "\r\n\r", "<a name=code id='x\"y'>",
	"<?php x ?>", "<![CDATA[ x", "<!doctype html>", "<label for=code>", "<input type=checkbox id=code>", "<ol start='1\"x'>", "<font color=red face=x>", "<td colspan=9999>",
}

// everywhere puts a text in every untrusted place of a notebook.
func everywhere(s string) *notebook.Notebook {
	nb := of(
		notebook.Cell{Type: notebook.Markdown, Source: s, Attachments: map[string]notebook.MIMEBundle{s: {"image/png": s}}},
		notebook.Cell{Type: notebook.Raw, Source: s},
		notebook.Cell{Type: notebook.Code, Source: s, Metadata: map[string]any{"dsstar": map[string]any{"role": s}}, Outputs: []notebook.Output{
			prints(s), {Type: notebook.Stream, Name: s, Text: s}, {Type: notebook.ErrorOutput, EName: s, EValue: s, Traceback: []string{s}}, {Type: notebook.ErrorOutput, EName: s, EValue: s},
			shows(notebook.MIMEBundle{"text/html": s}), shows(notebook.MIMEBundle{"text/html": s, "text/plain": s}), shows(notebook.MIMEBundle{"text/markdown": s}),
			shows(notebook.MIMEBundle{"text/latex": s}), shows(notebook.MIMEBundle{"application/json": map[string]any{s: s}}), shows(notebook.MIMEBundle{s: s}),
			{Type: notebook.DisplayData, Data: notebook.MIMEBundle{"image/png": png, "text/plain": s}, Metadata: map[string]any{"image/png": map[string]any{"width": s}}},
			shows(notebook.MIMEBundle{"image/png": s}), shows(notebook.MIMEBundle{"image/svg+xml": "<svg>" + s}),
		}},
	)
	nb.Metadata = map[string]any{"language_info": map[string]any{"name": s, "file_extension": s}}
	return nb
}

func TestHostile(t *testing.T) {
	for _, s := range hostile {
		t.Run(fmt.Sprintf("%.40q", s), func(t *testing.T) {
			page(t, everywhere(s))
			checkMarkdown(t, everywhere(s))
		})
	}
	page(t, everywhere(strings.Join(hostile, "\n")))
}

// TestAnyNotebook combines hostile pieces at random.
func TestAnyNotebook(t *testing.T) {
	pieces := rapid.OneOf(rapid.SampledFrom(hostile), rapid.SampledFrom([]string{"\n", "\n\n", " ", "<p>", "</p>", "<td>", "<a href=#x>", "<b>", "</b>", "* ", "> ", "    ", "x", "<h1>", "# ", "</table>"}), rapid.StringN(0, 8, -1))
	rapid.Check(t, func(t *rapid.T) {
		nb := everywhere(strings.Join(rapid.SliceOfN(pieces, 1, 6).Draw(t, "pieces"), ""))
		page(t, nb)
		checkMarkdown(t, nb)
	})
}

// TestDeep: very deep nesting ends, as plain text.
func TestDeep(t *testing.T) {
	const n = 5000
	for _, s := range []string{"<div>", "> ", "- ", "*a ", "[", "![", "$a ", "<b>", "`` ` ", "<table><tr><td>", "(", "\\begin{a}", "<svg>", "&#", "<!--", "|", "_*"} {
		got := page(t, of(text("# before\n\n"+strings.Repeat(s, n)), code("", shows(notebook.MIMEBundle{"text/html": strings.Repeat(s, n), "text/plain": "plain"})), text("behind")))
		want(t, got, "before", "<p>behind</p>")
		export.Markdown(of(text(strings.Repeat(s, n))), export.Options{})
	}
}

// frame is what pandas gives.
const frame = `<div>
<style scoped>
    .dataframe tbody tr th { vertical-align: top; }
</style>
<table border="1" class="dataframe">
  <thead>
    <tr style="text-align: right;"><th></th><th>a</th></tr>
  </thead>
  <tbody>
    <tr><th>0</th><td>&lt;b&gt;</td></tr>
  </tbody>
</table>
</div>`

func TestDisplays(t *testing.T) {
	svg := `<svg xmlns="http://www.w3.org/2000/svg"><script>x</script></svg>`
	const remote = `<svg xmlns="http://www.w3.org/2000/svg"><image href="http://evil.test/a"/></svg>`
	for _, test := range []struct {
		name string
		data notebook.MIMEBundle
		want []string
	}{
		{"table", notebook.MIMEBundle{"text/html": frame, "text/plain": "   a\n0  b"},
			[]string{`<table class="dataframe">`, "<tr><th></th>", "<td>&lt;b&gt;</td>", "!scoped", "!border", "!note"}},
		{"chart by a script", notebook.MIMEBundle{"text/html": "<div id=x>Loading…</div><script>draw()</script>", "image/png": png, "text/plain": "Chart()", "application/vnd.x+json": map[string]any{}},
			[]string{`<img src="data:image/png;base64,` + png + `" alt="Chart()">`, "!Loading", "!note"}},
		{"widget", notebook.MIMEBundle{"application/vnd.jupyter.widget-view+json": map[string]any{"model_id": "x"}, "text/plain": "IntSlider(value=0)"},
			[]string{`<pre class="out">IntSlider(value=0)</pre>`, "Only a notebook can show this in full: application/vnd.jupyter.widget-view+json"}},
		{"sound", notebook.MIMEBundle{"text/html": "<audio controls><source src='data:audio/wav;base64,AAAA'></audio>", "text/plain": "<IPython.lib.display.Audio object>"},
			[]string{"&lt;IPython.lib.display.Audio object&gt;", "Only a notebook can show this in full: text/html"}},
		{"estimator", notebook.MIMEBundle{"text/html": "<style>#sk{}</style><pre>Ridge()</pre><b>please rerun</b><input type=checkbox><table><tr><td>alpha</table>", "text/plain": "Ridge()"},
			[]string{`<pre class="out">Ridge()</pre>`, "!rerun"}},
		{"words beside a script", notebook.MIMEBundle{"text/html": "<h3>Hello</h3><script>x</script>", "text/plain": "<IPython.core.display.HTML object>"}, []string{"<h3>Hello</h3>", "!IPython"}},
		{"only a script", notebook.MIMEBundle{"application/javascript": "alert(1)"}, []string{"Only a notebook can show this in full: application/javascript", "!alert"}},
		{"markdown", notebook.MIMEBundle{"text/markdown": "**b**", "text/plain": "<M>"}, []string{"<strong>b</strong>"}},
		{"svg", notebook.MIMEBundle{"image/svg+xml": svg, "text/plain": "<Figure>"}, []string{`<img src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(svg)) + `" alt="Figure">`}},
		{"svg that fetches", notebook.Inert(notebook.MIMEBundle{"image/svg+xml": remote, "text/plain": "<Figure>"}),
			[]string{`<img src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(remote)) + `"`, "!Only"}},
		{"chart that fetches", notebook.Inert(notebook.MIMEBundle{"application/vnd.vega.v6+json": map[string]any{"url": "http://evil.test/a"}}),
			[]string{"is switched off", "!Only"}},
		{"svg in html", notebook.MIMEBundle{"text/html": `<b>x</b><svg viewBox="0 0 1 1"><use xlink:href="#a"/></svg>`}, []string{`<div class="out html"><b>x</b></div>`}},
		{"not a picture", notebook.MIMEBundle{"image/png": "bm90", "text/plain": "words"}, []string{`<pre class="out">words</pre>`, "!<img"}},
		{"gif", notebook.MIMEBundle{"image/gif": "R0lGODlhAQABAAAAACw="}, []string{"data:image/gif;base64,R0lGODlhAQABAAAAACw="}},
		{"latex", notebook.MIMEBundle{"text/latex": "$x<y$", "text/plain": "<Latex object>"}, []string{`<code class="tex display">$x&lt;y$</code>`}},
		{"latex with text", notebook.MIMEBundle{"text/latex": "$x$", "text/plain": "x"}, []string{`<pre class="out">x</pre>`}},
		{"json", notebook.MIMEBundle{"application/json": map[string]any{"a": 1}, "text/plain": "<JSON object>"}, []string{"{\n  &#34;a&#34;: 1\n}"}},
		{"pdf", notebook.MIMEBundle{"application/pdf": "JVBERi0=", "text/plain": "doc"}, []string{"doc", "application/pdf"}},
		{"nothing", notebook.MIMEBundle{}, []string{"!out"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want(t, page(t, of(code("", shows(test.data)))), test.want...)
		})
	}
}

// TestColours: highlighting loses no character, in every language.
func TestColours(t *testing.T) {
	source := "%%time\n@f\ndef g(x):  # c\n    \"\"\"d\n\te\"\"\"\n    return None if x > 1.5 else 'é' \\\n  !ls\n<T> $x `y` \"unclosed"
	for _, language := range []string{"python", "IPython3", "R", "julia", "bash", "sql", "json", "brainf", ""} {
		nb := of(code(source))
		nb.Metadata = map[string]any{"language_info": map[string]any{"name": language}}
		plain := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page(t, nb), "")
		if got := strings.TrimSpace(html.UnescapeString(plain)); got != source {
			t.Errorf("%s: got %q\nwant %q", language, got, source)
		}
	}
	want(t, page(t, of(code("def g(): return 1"))), `<span class="k">def</span> <span class="nf">g</span>(): <span class="k">return</span> <span class="m">1</span>`)
}

func TestFormulas(t *testing.T) {
	for source, want := range map[string]string{
		"$a_1 * b*$ x*y*":                                 `<code>$a_1 * b*$</code> x<em>y</em>`,
		"$x$, $5 and $6":                                  `<code>$x$</code>, $5 and $6`,
		"$5 or `a$b`":                                     "$5 or <code>a$b</code>",
		"`$x$` $`a`$ $ x$ $a\nb$":                         "<code>$x$</code> $<code>a</code>$ $ x$ $a\nb$",
		"$a \\$ b$ and $\\alpha$":                         `<code>$a \$ b$</code> and <code>$\alpha$</code>`,
		"\\$5 `` ` `` $x$\n\n    $a$ b\n\nc":              "$5 <code>`</code> <code>$x$</code></p>\n<pre><code>$a$ b\n</code></pre>\n<p>c",
		"x\n\n<div>\n$a$\n</div>\n\ny":                    "x</p>\n<div>\n$a$\n</div>\n<p>y",
		"$$\na*b*c\n$$":                                   "<code>$$ a*b*c $$</code>",
		"\\begin{a}\n\\begin{b}\n\\end{b} x_1\n\\end{a}.": "<code>\\begin{a} \\begin{b} \\end{b} x_1 \\end{a}</code>.",
	} {
		if got := page(t, of(text(source))); got != "<section class=\"markdown\">\n<p>"+want+"</p>\n</section>\n" {
			t.Errorf("%q is\n%s", source, got)
		}
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
	markup := text("# My *heading*\n\n[there](#place)\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n" +
		"<details>\n<summary>More <b>now</b></summary>\n\n**inside**\n\n```python\nx = 'y'\n```\n\n</details>\n\n" +
		"![p](attachment:a%20b.png) ![](files/b.png) ![](../b.png) ![web](https://example.org/x.png) ![x](secret.png)\n\n" +
		"$a_1 * b*$ for $5 and $6\n\n- [x] done\n\n<div align=\"center\" onclick=\"x()\"><font color=\"red\">old</font></div>")
	markup.Attachments = map[string]notebook.MIMEBundle{"a b.png": {"image/png": png}}
	nb := of(question, markup, setup, remote, att, text("<!-- never closed"), text("<details><summary>never closed</summary>\n\ntext"),
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
	raw, _ := base64.StdEncoding.DecodeString(png)
	files := pyenvtest.Must(os.OpenRoot(t.TempDir()))
	defer files.Close()
	pyenvtest.OK(t, errors.Join(files.Mkdir("files", 0o700), files.WriteFile("files/b.png", raw, 0o600),
		files.WriteFile("secret.png", []byte("secret"), 0o600))) // it is no picture, whatever its name
	for name, got := range map[string]string{
		"page.html": page(t, sample(), export.Options{Files: files}),
		"text.md":   string(export.Markdown(sample(), export.Options{})),
		"script.py": string(export.Script(sample())),
	} {
		path := filepath.Join("testdata", name+".golden")
		if *update {
			pyenvtest.OK(t, os.WriteFile(path, []byte(got), 0o644))
		}
		golden := pyenvtest.Must(os.ReadFile(path))
		if diff := cmp.Diff(string(golden), got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
