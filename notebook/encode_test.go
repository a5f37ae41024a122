package notebook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// same checks that got is want.
func same(t rapid.TB, what any, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%v: -want +got\n%s", what, diff)
	}
}

// python runs a script that reads JSON and prints JSON.
func python(t *testing.T, script string, in, out any) {
	t.Helper()
	cmd := exec.Command(pyenvtest.Tools(t), "-I", script)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(pyenvtest.Must(json.Marshal(in))), os.Stderr
	if err := json.Unmarshal(pyenvtest.Must(cmd.Output()), out); err != nil {
		t.Fatal(script, err)
	}
}

// lineBreaks has every line break that Python knows, and some that it does not.
const lineBreaks = "a\nb\r\nc\rd\ve\ff\x1cg\x1dh\x1ei\u0085j\u2028k\u2029l\n\nm\n\rn\x00o\x1fp\u00a0q\u200b"

// escapes has what JSON encoders escape differently, and what looks like it.
const escapes = `<b>&amp;</b> "quoted" \ \n \u2028 \\u2028 \\\u2029 \ufffd ` + "\t\b\f\x00\x1b[0m\x7f é 漢字 🎉 \u2028\\\u2029 \ufffd"

func code(source string, outputs ...notebook.Output) notebook.Cell {
	return notebook.Cell{Type: notebook.Code, Source: source, Outputs: outputs}
}

func data(mime string, value any) notebook.Output {
	return notebook.Output{Type: notebook.DisplayData, Data: notebook.MIMEBundle{mime: value}}
}

// corpus returns notebooks that together have every feature of the format.
func corpus() map[string]*notebook.Notebook {
	kernelspec := map[string]any{
		"kernelspec":    map[string]any{"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
		"language_info": map[string]any{"name": "python", "version": "3.12.1", "codemirror_mode": map[string]any{"name": "ipython", "version": 3}},
	}
	type struc struct {
		Zebra, Apple string
		Seconds      float64 `json:"seconds"`
	}
	cells := map[string][]notebook.Cell{
		"no cells": nil,
		"ids":      {{ID: "a", Type: notebook.Raw}, {ID: "a", Type: notebook.Raw, Source: "x"}, {ID: "b", Type: notebook.Raw}},
		"texts": {code(lineBreaks, streamed("stdout", lineBreaks)), {Type: notebook.Markdown, Source: lineBreaks},
			code(escapes, data("text/html", escapes), data("application/json", map[string]any{escapes: escapes})),
			code("a\xffb\\ufffd\xc3", streamed("stdout", "\xff"))},
		"outputs": {code("", notebook.Output{Type: notebook.ExecuteResult}, notebook.Output{Type: notebook.ErrorOutput},
			notebook.Output{Type: notebook.DisplayData, Data: notebook.MIMEBundle{
				"text/latex": "$x$\n", "application/pdf": "a\nb", "application/xml": "<a>\n</a>", "application/vnd.x+json": "a\nb",
			}, Metadata: map[string]any{"image/png": map[string]any{"width": 640, "needs_background": "light"}}})},
		"attachments": {{Type: notebook.Raw, Attachments: map[string]notebook.MIMEBundle{}},
			{Type: notebook.Code, Attachments: map[string]notebook.MIMEBundle{"a.png": {"image/png": ""}}}}, // the schema allows none
		"metadata": {{Type: notebook.Code, Metadata: map[string]any{
			"tags": []string{"parameters"}, "trusted": true, "dsstar": struc{Zebra: "<z>", Apple: lineBreaks, Seconds: 2.5},
			"nested": map[string]any{"b": []any{map[string]any{"z": 1, "a": []any{}}, []any{[]any{}}, nil}, "é": false, "Z": ""},
			"ints":   []any{0, -1, math.MaxInt64, uint64(math.MaxUint64), json.Number("123456789012345678901234567890")},
			"floats": []any{-2.5, 0.1, 1.0 / 3, 0.00012, 1e-300, 1e22, json.Number("1.0"), json.Number("1e-05")},
			"texts":  []any{"1e-5", `"1e-5`, `\"-0`, "-0"},
		}}},
	}
	notebooks := map[string]*notebook.Notebook{"no metadata": {}, "metadata of the notebook": {Metadata: map[string]any{
		"title": "t", "authors": []any{map[string]any{"name": "Ada"}}, "signature": "", "orig_nbformat": 2, "dsstar": struc{Seconds: 0.25},
	}}}
	for name, cells := range cells {
		notebooks[name] = &notebook.Notebook{Metadata: kernelspec, Cells: cells}
	}
	for seed := range 200 {
		notebooks[fmt.Sprintf("random %d", seed)] = anyNotebook.Example(seed)
	}
	return notebooks
}

func TestEncodeIsCanonical(t *testing.T) {
	ours, theirs := map[string]string{}, map[string]string{}
	for name, nb := range corpus() {
		ours[name] = encode(nb)
	}
	python(t, "testdata/canonical.py", ours, &theirs)
	for name := range ours {
		same(t, name, theirs[name], ours[name])
	}
}

func encode(nb *notebook.Notebook) string { return string(pyenvtest.Must(nb.Encode())) }

// TestEncodeKeeps: new ids stay the same, and metadata are not changed.
func TestEncodeKeeps(t *testing.T) {
	nb := &notebook.Notebook{Cells: []notebook.Cell{{Type: notebook.Raw}, {ID: "kept", Type: notebook.Raw},
		{ID: "kept", Type: notebook.Raw, Metadata: map[string]any{"trusted": true}}}, Metadata: map[string]any{"signature": "s"}}
	first := encode(nb)
	ids := []string{nb.Cells[0].ID, nb.Cells[1].ID, nb.Cells[2].ID}
	if ids[0] == "" || ids[1] != "kept" || ids[2] == "kept" || ids[2] == ids[0] || encode(nb) != first {
		t.Errorf("ids are %q", ids)
	}
	if len(nb.Metadata) != 1 || len(nb.Cells[2].Metadata) != 1 {
		t.Errorf("metadata is now %v, the cell's %v", nb.Metadata, nb.Cells[2].Metadata)
	}
}

func TestEncodeRefuses(t *testing.T) {
	unwritable := map[string]any{"x": math.NaN()}
	for want, nb := range map[string]*notebook.Notebook{
		"encode notebook: metadata: ":           {Metadata: unwritable},
		"encode notebook: metadata of cell 1: ": {Cells: []notebook.Cell{{Type: notebook.Raw, Metadata: unwritable}}},
		"encode notebook: json: ":               {Cells: []notebook.Cell{code("", data("application/json", math.Inf(1)))}},
	} {
		if _, err := nb.Encode(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want %s…", err, want)
		}
	}
}

// TestGuardRewritten: what Jupyter changes by itself is not an edit, but anything that
// a person changes is one.
func TestGuardRewritten(t *testing.T) {
	const file = `{"cells": [{"id": "step-0", "cell_type": "code", "source": ["print(1)\n", "2"], "execution_count": 1,
  "metadata": {"dsstar": {"half": 0.5}}, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]},
  {"output_type": "execute_result", "execution_count": 1, "data": {"application/json": {"x": 3}}, "metadata": {}}]}],
  "metadata": {"dsstar": {"seconds": 2}}, "nbformat": 4, "nbformat_minor": 5}`
	for want, all := range map[error][][2]string{nil: {
		{`"seconds": 2`, `"seconds": 2.0`},
		{`"x": 3`, `"x": 3.0`},
		{`{"dsstar": {"half"`, `{"trusted": true, "execution": {"iopub.status.busy": "now"}, "dsstar": {"half"`},
		{`"execution_count": 1`, `"execution_count": 7`},
		{`{"dsstar": {"sec`, `{"kernelspec": {"name": "other"}, "language_info": {"version": "3.14"}, "dsstar": {"sec`},
		{`["print(1)\n", "2"]`, `"print(1)\n2"`},
		{`"nbformat_minor": 5`, `"nbformat_minor": 4`},
		{` `, `  `},
	}, disk.ErrEdited: {
		{`print(1)`, `print(2)`},
		{`"1\n"`, `"one\n"`},
		{`"x": 3`, `"x": 4`},
		{`"step-0"`, `"step-one"`},
		{`"stdout"`, `"stderr"`},
		{`"metadata": {`, `"metadata": {"tags": ["mine"],`},
		{`0.5`, `0.75`},
		{`"seconds": 2`, `"seconds": "2"`},
	}} {
		for _, change := range all {
			changed := strings.ReplaceAll(file, change[0], change[1])
			path := filepath.Join(t.TempDir(), "notebook.ipynb")
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil || changed == file {
				t.Fatal(change, err)
			}
			g := notebook.Guard(path)
			g.Accept([]byte(file))
			if err := g.Write([]byte("{}")); !errors.Is(err, want) {
				t.Errorf("%s: %v", change, err)
			}
		}
	}
}
