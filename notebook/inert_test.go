package notebook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/notebooktest"
)

// fetchers returns what a browser would fetch from the host for this HTML.
func fetchers(text string) (all []string) {
	for n := range pyenvtest.Must(html.Parse(strings.NewReader(text))).Descendants() {
		for _, a := range n.Attr {
			silent := n.Type != html.ElementNode || n.Data == "a" && a.Key == "href"
			inside := a.Key == "srcdoc" || strings.HasPrefix(a.Val, "data:image/svg") && n.Data != "img"
			if !silent && a.Key != "title" && a.Key != "class" && a.Key != "alt" && !strings.HasPrefix(a.Key, "data-") &&
				(strings.Contains(a.Val, "evil.test") || inside) {
				all = append(all, n.Data+" "+a.Key+"="+a.Val)
			}
		}
		if n.Type == html.TextNode && n.Parent.Data == "style" && strings.Contains(n.Data, "evil") && (strings.Contains(n.Data, "l(") || strings.Contains(n.Data, "@")) {
			all = append(all, "style "+n.Data)
		}
	}
	return all
}

// rendered returns the HTML of Markdown, including all HTML in it.
func rendered(t rapid.TB, markdown string) string {
	t.Helper()
	var b bytes.Buffer
	g := goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(renderer.WithUnsafe()))
	if err := g.Convert([]byte(markdown), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var formulaIn = regexp.MustCompile(`\$[^$]*\$|\\\\\([^)]*\\\\\)`)

// renderedMath is like [rendered], but first takes formulas out of Markdown and puts them back
// into the HTML, like JupyterLab.
func renderedMath(t *testing.T, markdown string) string {
	t.Helper()
	var formulas []string
	page := rendered(t, formulaIn.ReplaceAllStringFunc(markdown, func(formula string) string {
		formulas = append(formulas, formula)
		return fmt.Sprintf("@@%d@@", len(formulas)-1)
	}))
	for i, formula := range formulas {
		page = strings.Replace(page, fmt.Sprintf("@@%d@@", i), html.EscapeString(formula), 1)
	}
	return page
}

func TestInertHTML(t *testing.T) {
	for name, text := range notebooktest.Fetching("http://evil.test/") {
		for _, mime := range []string{"text/html", "image/svg+xml"} {
			data := notebook.MIMEBundle{mime: "<p>before</p>" + text + "<p>after</p>", "text/plain": "x"}
			got := notebook.Inert(data)
			said, _ := got["text/plain"].(string)
			if got[mime] != nil || got[notebook.SwitchedOff(mime)] != data[mime] ||
				!strings.HasPrefix(said, "x\n[note: ") {
				t.Errorf("%s: %v is left of\n%s", name, got, text)
			}
			same(t, name+", a second time", got, notebook.Inert(got))
		}
	}
}

func TestInertMarkdown(t *testing.T) {
	texts := notebooktest.FetchingMarkdown("http://evil.test/")
	maps.Copy(texts, notebooktest.Fetching("http://evil.test/"))
	for name, text := range texts {
		for _, text := range []string{text, "`<!--` " + text, "`<style>` " + text, "```\n<textarea><title>\n```\n" + text} {
			got := notebook.InertMarkdown(text)
			left := append(fetchers(rendered(t, got)), fetchers(renderedMath(t, got))...)
			if len(left) > 0 || strings.Contains(got, "```mermaid") {
				t.Errorf("%s: %s\nleaves %q of\n%s", name, got, left, text)
			}
			same(t, name+", a second time", got, notebook.InertMarkdown(got))
		}
	}
}

// Scripts that nothing ends take time that grows with the text, not with its square.
func TestInertLong(t *testing.T) {
	for _, end := range []string{"", "</script x", "</script/>"} {
		text := "//" + strings.Repeat("<script>", 1<<17) + end
		if notebook.Inert(notebook.MIMEBundle{"text/html": text})["text/html"] == text {
			t.Errorf("it is left, with %q", end)
		}
	}
}

// TestInertAny: what stays as it is of pieces that change the meaning of others fetches nothing.
func TestInertAny(t *testing.T) {
	pieces := rapid.SampledFrom(append(strings.Split("< > = / \" ' ` $ \\ , ![ ]( ) ]: [r] x <b> </b> </ <svg> </svg> <math> <table>"+
		" <style> </style> <script> </script> <title> </title> <textarea> </textarea> <noscript> </noscript> <!-- --> --!> <![CDATA[ ]]>"+
		" ?> url(//evil.test) url(a) src= title= style= srcset= //evil.test &lt; &gt; &quot; ```", " "),
		" ", "\n", "\n\n", "<img ", "<img src=//evil.test", "<b title=\"", "<td background=", "<a href=\"", "<\u017fcript>", "</\u017fcript>", "</script x>", "</script/>", "<style title=\"", "<https://a", "<?xml ", "<!doctype ", "> ", "- "))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 1, 14).Draw(t, "pieces"), "")
		if notebook.Inert(notebook.MIMEBundle{"text/html": text})["text/html"] == text && len(fetchers(text)) > 0 {
			t.Errorf("%s is left, and fetches %q", text, fetchers(text))
		}
		got := notebook.InertMarkdown(text)
		if left := fetchers(rendered(t, got)); len(left) > 0 || notebook.InertMarkdown(got) != got {
			t.Errorf("%s\nleaves %q of\n%s", got, left, text)
		}
	})
}

// harmless fetches nothing, and is not to be touched.
var harmless = []string{
	"", "plain & simple < than", "a <b and c> d", "see <https://example.org/a?b=c#d> &lt;img src=//x&gt;",
	`<table border="1" class="dataframe"><thead><tr style="text-align: right;"><th></th></tr></thead><td>http://example.org/a.png</td></table>`,
	"<style scoped>\n    .dataframe tbody tr th:only-of-type { vertical-align: middle; }\n    .a > .b { color: red }\n</style>",
	`<style>#sk a::before {content: "\25B8 // "; background: var(--x, rgb(1 2 3)); mask: url(#m)}</style>`,
	"<style>/* due to the `<a>` HTML tag */ #sk { color: red }</style><a href=\"https://scikit-learn.org/\">?</a>",
	`<style>.logo { background-image: url(data:image/png;base64,iVBORw0KGgo=); }</style>`,
	`<style>.i { background-image: url(data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=); }</style>`,
	`<a href="https://example.org" target="_blank" rel="noopener">x</a><a name=top></a><!-- https://example.org -->`,
	`<img src="data:image/png;base64,iVBORw0KGgo=" alt="http://x: //y"><img src='plots/a.png' width=3><img src="attachment:a.png">`,
	`<script src="https://cdn.example.org/plotly.js"></script><script>if (a<b) { x("<img src='//y'>") }</script>`,
	`<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9" xmlns="http://www.w3.org/2000/svg" version="1.1"><metadata><rdf:RDF
 xmlns:cc="http://creativecommons.org/ns#"><dc:type rdf:resource="http://purl.org/dc/dcmitype/StillImage"/><dc:date>2026-01-01T10:00</dc:date>
</rdf:RDF></metadata><defs><style type="text/css">*{stroke-linejoin: round}</style></defs><use xlink:href="#a" style="fill: url(#g); d: path('M 0 0')"/>
<g clip-path="url(#p1)" transform="translate(1 2)"/></svg>`,
	`<svg><style type='text/css'><![CDATA[ .line { fill: none; } ]]></style></svg>`,
	`<input type="checkbox" id="s" checked><details open><summary>x</summary></details><font color=red>1</font>`,
}

func TestInertHarmless(t *testing.T) {
	markdown := []string{"# A\n\n![a](files/a.png) ![b](attachment:b.png \"c\") [c](https://example.org)", "a! [b]", "<b>x</b> `<i>`",
		"costs $5 <b title='[1]'>x</b> <https://example.org/a_(b)?c=d&e=f> <https://example.org/?u=https://example.org/a>"}
	for _, text := range harmless {
		same(t, text, text, notebook.Inert(notebook.MIMEBundle{"text/html": text})["text/html"])
		// In Markdown the one is never shown, and the other may be no script.
		if !strings.Contains(text, "<style") && !strings.Contains(text, "src='//y'") {
			markdown = append(markdown, text)
		}
	}
	for _, text := range markdown {
		same(t, "Markdown", text, notebook.InertMarkdown(text))
	}
}

// TestInertData: what may fetch something is switched off in a saved notebook, which says so, stays so,
// and does not differ from one in which it is not. What is given is not changed.
func TestInertData(t *testing.T) {
	for mime, raw := range map[string]string{
		"text/html":                        `"<p>Sales</p><img src='http://evil.test/a'>"`,
		"text/markdown":                    `"Sales ![x](http://evil.test/a)"`,
		"text/vnd.mermaid":                 `"flowchart LR; A[Sales]; B@{ img: 'http://evil.test/a' }"`,
		"image/svg+xml":                    `"<svg><text>Sales</text><image href='http://evil.test/a'/></svg>"`,
		"application/geo+json":             `{"name": "Sales", "icon": "http://evil.test/a"}`,
		"application/vnd.plotly.v1+json":   `{"title": "Sales", "layout": [{"source": "//evil.test/a"}]}`,
		"application/vnd.vegalite.v5+json": `{"title": "Sales", "data": {"url": "http://evil.test/a"}}`,
		"application/vnd.vega.v6+json":     `{"title": "Sales", "data": {"url": {"signal": "'ht' + 'tp:/' + '/evil.test'"}}}`,
	} {
		shown := func(raw string) []notebook.Output {
			var value any
			if err := json.Unmarshal([]byte(raw), &value); err != nil {
				t.Fatal(err)
			}
			return []notebook.Output{data(mime, value)}
		}
		given := shown(raw)
		saved := fold(t, []message{{"display_data", fmt.Sprintf(`{"data": {%q: %s}}`, mime, raw)}})
		inert := notebook.Inert(given[0].Data)
		same(t, mime, inert, saved[0].Data)
		same(t, mime+", a second time", inert, notebook.Inert(inert))
		said, _ := inert["text/plain"].(string)
		if isOff := inert[mime] == nil && strings.Contains(said, "[note: "); isOff != (mime != "text/markdown") {
			t.Errorf("%s is %v", mime, inert)
		}
		same(t, mime+", given", shown(raw), given)
		if d := compare.Outputs(given, saved, 0); len(d) > 0 {
			t.Errorf("%s is a difference: %v", mime, d)
		}
		other := shown(strings.Replace(raw, "Sales", "Costs", 1))
		if d := compare.Outputs(other, saved, 0); len(d) == 0 {
			t.Errorf("another %s is no difference", mime)
		}
	}
	for name, data := range map[string]notebook.MIMEBundle{
		"text":   {"text/plain": "http://evil.test/a", "image/png": "iVBORw0KGgo="},
		"chart":  {"application/vnd.vegalite.v5+json": map[string]any{"$schema": "https://vega.github.io/x.json", "data": map[string]any{"url": "data/a.csv"}}},
		"plotly": {"application/vnd.plotly.v1+json": map[string]any{"config": map[string]any{"plotlyServerURL": "https://plot.ly"}}},
	} {
		same(t, name, data, notebook.Inert(data))
	}
}
