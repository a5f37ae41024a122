package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsstar/agent/brief"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
	"dsstar/notebook/notebooktest"
)

// running holds pieces of HTML that call ran with their names if a page executes them.
var running = map[string]string{
	"script":     `<script>ran('script')</script>`,
	"onerror":    `<img src=x onerror="ran('onerror')">`,
	"svg":        `<svg onload="ran('svg')"><circle r=9 /></svg>`,
	"svg script": `<svg><script>ran('svg script')</script></svg>`,
	"srcdoc":     `<iframe srcdoc="<script>parent.ran('srcdoc')</script>"></iframe>`,
	"frame":      `<iframe src="javascript:parent.ran('frame')"></iframe>`,
	"link":       `<a href="javascript:ran('link')">more</a>`,
	"link tab":   "<a href=\"java\tscript:ran('link tab')\">more</a>",
	"svg link":   `<svg><a href="javascript:ran('svg link')"><text y=20>more</text></a></svg>`,
	"table":      `<table class="dataframe"><tr><td onmouseover="ran('table')" onclick="ran('table')">1</td></tr></table>`,
	"button":     `<button onclick="ran('button')">Go</button>`,
	"form":       `<form action="javascript:ran('form')"><button>Go</button></form>`,
	"toggle":     `<details open ontoggle="ran('toggle')"><summary>x</summary>y</details>`,
	"focus":      `<input autofocus onfocus="ran('focus')">`,
	"animation":  `<style>@keyframes k { from {color: red} }</style><p style="animation: k 1s" onanimationstart="ran('animation')">x</p>`,
	"object":     `<object data="data:text/html,<script>parent.ran('object')</script>"></object><video src=x onerror="ran('object')"></video>`,
	"refresh":    `<meta http-equiv="refresh" content="0;url=javascript:ran('refresh')">`,
	"base":       `<base href="https://example.org/"><link rel="stylesheet" href="https://example.org/x.css">`,
	"closing":    `</pre></div></section></main><script>ran('closing')</script>`,
	"mutation":   `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=ran('mutation')&gt;">`,
	"noscript":   `<noscript><p title="</noscript><img src=x onerror=ran('noscript')>">`,
}

// hostile returns a notebook of which each output, cell and attachment tries to run something, or to
// fetch from the address.
func hostile(address string) *notebook.Notebook {
	nb := &notebook.Notebook{Metadata: map[string]any{"kernelspec": python3,
		"signature": "sha256:0000", "trusted": true}}
	shown := func(data any, types ...string) {
		for _, mime := range types {
			const each = 40 // Lab shows fifty outputs of a cell
			if n := len(nb.Cells); n == 0 || len(nb.Cells[n-1].Outputs) == each {
				c := code(fmt.Sprint("c", n), "import json")
				c.Metadata = map[string]any{"jupyter": map[string]any{"source_hidden": true}, "trusted": true}
				nb.Cells = append(nb.Cells, c)
			}
			c := &nb.Cells[len(nb.Cells)-1]
			c.Source += fmt.Sprintf("\ndisplay({%q: json.loads(%s)}, raw=True)", mime,
				brief.Python(string(must(json.Marshal(data)))))
			c.Outputs = append(c.Outputs,
				notebook.Output{Type: notebook.DisplayData, Data: notebook.MIMEBundle{mime: data}})
		}
	}
	const html, markdown, latex, drawn = "text/html", "text/markdown", "text/latex", "image/svg+xml"
	var own []notebook.Cell
	for _, content := range running {
		shown(content, html, markdown)
		own = append(own, text(fmt.Sprint("own", len(own)), content))
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg" onload="ran('picture')"><script>ran('picture')</script><foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="ran('picture')"/></foreignObject></svg>`
	shown(svg, drawn)
	shown("ran('javascript')", "application/javascript", "text/javascript")
	shown(`$\href{javascript:ran('latex')}{x}$ $\unicode{<img src=x onerror=ran('latex')>}$ $\text{<img src=x onerror=ran('latex')>}$`, latex)
	shown("[x](javascript:ran('markdown')) ![x](javascript:ran('markdown')) <javascript:ran('markdown')> ```<img src=x onerror=ran('markdown')>```\n\n[r]\n\n[r]: javascript:ran('markdown')", markdown)
	shown(`<img src="data:image/svg+xml;base64,`+base64.StdEncoding.EncodeToString([]byte(svg))+`">`, html)
	for _, content := range notebooktest.Fetching(address) {
		shown(content, html, markdown, drawn)
	}
	for _, content := range notebooktest.FetchingMarkdown(address) {
		shown(content, markdown)
	}
	shown(`$\style{background: url(`+address+`tex)}{x} \class{a}{x} \includegraphics{`+address+`tex} \unicode{<img src="`+address+`tex">}$`,
		latex, markdown)
	shown("flowchart LR\n  A@{ img: \""+address+"mermaid\" }\n", "text/vnd.mermaid")
	for _, url := range []any{address + "vega", map[string]any{"signal": "'http:/' + '" + address[len("http:/"):] + "signal'"}} {
		shown(map[string]any{"$schema": "https://vega.github.io/schema/vega/v5.json",
			"width": 99, "height": 99, "data": []any{map[string]any{"name": "t", "url": url}},
		}, "application/vnd.vega.v5+json")
	}
	attached, raw := text("attached", "![x](attachment:a.svg)"), text("raw", running["script"])
	attached.Attachments = map[string]notebook.MIMEBundle{"a.svg": {drawn: svg}}
	raw.Type, raw.Metadata = notebook.Raw, map[string]any{"raw_mimetype": html}
	raises := "raise ValueError(" + brief.Python(running["script"]) + ")"
	nb.Cells = append(append(nb.Cells, own...), attached, raw, code("text", raises,
		notebook.Output{Type: notebook.Stream, Name: "stdout",
			Text: running["script"] + "\x1b]8;;javascript:ran('terminal')\x07x\x1b]8;;\x07 javascript:ran('terminal')"},
		notebook.Output{Type: notebook.ErrorOutput, EName: running["script"], EValue: running["onerror"],
			Traceback: []string{running["onerror"]}}))
	return nb
}

// outputsInLab selects the elements in which Lab shows untrusted content.
const outputsInLab = ".jp-OutputArea-output, .jp-RenderedMarkdown"

// TestNothingRuns opens a hostile notebook in a browser, both exported to a page by dsstar export
// and rewritten by dsstar in JupyterLab, which does not trust it. Nothing runs in either, and neither
// fetches anything. Controls show that the pieces do run, and fetch, where allowed.
func TestNothingRuns(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	l := startLab(t, "")
	control, controlAsked := listener(t)
	path := filepath.Join(l.Root, "attack.ipynb")
	noError(t, hostile(control).Save(path))
	visit := func(file string, expected ...any) (asked, ran []string) {
		asked = told[[]string](l, "visit", (&url.URL{Scheme: "file", Path: file}).String())
		return asked, told[[]string](l, "ran", expected...)
	}

	for name, content := range running {
		l.write("control.html", "<!doctype html><body>"+content)
		if slices.Contains([]string{"refresh", "base", "mutation", "noscript"}, name) {
			continue // browsers have closed these since
		}
		if _, ran := visit(filepath.Join(l.Root, "control.html"), name); !slices.Contains(ran, name) {
			t.Errorf("the control does not run %s: %s", name, content)
		}
	}

	a, _, stderr := testApp(t)
	run := func(args ...string) {
		if code := a.run(t.Context(), args); code != 0 {
			t.Fatal(stderr)
		}
	}
	run("export", path)
	if asked, ran := visit(strings.TrimSuffix(path, ".ipynb") + ".html"); len(asked)+len(ran) > 0 {
		t.Errorf("in the page ran %q, and it asked for %q", ran, asked)
	}

	inLab := func(name string, expected ...any) (ran []string) {
		l.do("visit", "about:blank")
		l.do("open", name)
		l.do("draw")
		l.do("poke", outputsInLab)
		return told[[]string](l, "ran", expected...)
	}
	if ran := inLab("attack.ipynb"); len(ran) > 0 {
		t.Errorf("in JupyterLab ran %q", ran)
	}
	waitFor(t, "the control fetches", func() bool {
		seen := controlAsked()
		return !slices.ContainsFunc([]string{"/img", "/md-image", "/vega"},
			func(name string) bool { return !slices.Contains(seen, name) })
	})
	// A new address, because the control page may still be loading.
	address, asked := listener(t)
	other := filepath.Join(t.TempDir(), "attack.ipynb")
	noError(t, hostile(address).Save(other))
	// dsstar rerun does not make it trusted, and its outputs fetch nothing.
	run("rerun", "--python", pyenvtest.Python(t), "--allow-errors", "-o",
		filepath.Join(l.Root, "again.ipynb"), other)
	if ran, fetched := inLab("again.ipynb"), asked(); len(ran)+len(fetched) > 0 {
		t.Errorf("in JupyterLab ran %q after a rerun, and it fetched %q", ran, fetched)
	}
	cmd := exec.CommandContext(t.Context(), pyenvtest.Lab(t), "-m", "jupyter", "trust", path)
	cmd.Env = append(os.Environ(),
		"JUPYTER_DATA_DIR="+filepath.Join(filepath.Dir(l.RuntimeDir), "data"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if ran := inLab("attack.ipynb", "javascript", "script"); !slices.Contains(ran, "javascript") ||
		!slices.Contains(ran, "script") {
		t.Errorf("the control: of a notebook that is trusted only %q ran", ran)
	}
}

// listener starts a server, and returns its address and the requests to it.
func listener(t *testing.T) (address string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	paths := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		paths[r.URL.Path] = true
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/", func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Sorted(maps.Keys(paths))
	}
}
