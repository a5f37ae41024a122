package notebook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// Generators of notebooks that nbformat finds valid, with the values that
// Read gives: numbers are json.Numbers as Python writes them.
var (
	texts = rapid.Custom(func(t *rapid.T) string {
		pieces := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"\n", "\r\n", "\r", "\v", "\f", "\x1c", "\u0085", "\u2028", "\u2029", `\u2028`, `\`, `"`, "<&>", "\x00", "\x7f", "\ufffd", `\ufffd`, "é", "🎉", "x = 1e-5",
		}))
		return strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "pieces"), "")
	})
	numbers = rapid.OneOf(
		rapid.Map(rapid.Int64(), func(n int64) any { return json.Number(fmt.Sprint(n)) }),
		rapid.SampledFrom([]any{json.Number("0.5"), json.Number("1.0"), json.Number("-1e-05"), json.Number("1e+16"), json.Number("123456789012345678901234567890")}),
	)
	leaves = rapid.OneOf(numbers, texts.AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil))
	values = rapid.OneOf(leaves, rapid.SliceOfN(leaves, 0, 3).AsAny(),
		rapid.MapOfN(texts, leaves, 0, 3).AsAny(), rapid.SliceOfN(objects.AsAny(), 0, 2).AsAny())
	objects  = rapid.MapOfN(rapid.StringMatching(`x[a-zé-]{0,4}`), leaves, 0, 3) // the schema knows some other keys
	metadata = rapid.MapOfN(rapid.StringMatching(`x[a-z.]{0,4}`), values, 0, 3)
	bundles  = rapid.Custom(func(t *rapid.T) notebook.MIMEBundle {
		b := notebook.MIMEBundle{}
		for _, mime := range rapid.SliceOf(rapid.SampledFrom([]string{
			"text/plain", "text/html", "image/png", "image/svg+xml", "application/javascript", "application/json", "application/vnd.x+json",
		})).Draw(t, "mime types") {
			b[mime] = texts.Draw(t, "text")
			if strings.HasSuffix(mime, "json") {
				b[mime] = values.Draw(t, "value")
			}
		}
		return b
	})
	outputs = rapid.Custom(func(t *rapid.T) notebook.Output {
		kind := rapid.SampledFrom([]notebook.OutputType{
			notebook.Stream, notebook.DisplayData, notebook.ExecuteResult, notebook.ErrorOutput,
		}).Draw(t, "output type")
		switch kind {
		case notebook.Stream:
			return streamed(rapid.SampledFrom([]string{"stdout", "stderr"}).Draw(t, "name"), texts.Draw(t, "text"))
		case notebook.ErrorOutput:
			return notebook.Output{Type: kind, EName: texts.Draw(t, "ename"), EValue: texts.Draw(t, "evalue"), Traceback: rapid.SliceOfN(texts, 0, 3).Draw(t, "traceback")}
		}
		o := notebook.Output{Type: kind, Data: bundles.Draw(t, "data"), Metadata: metadata.Draw(t, "metadata")}
		if kind == notebook.ExecuteResult {
			o.ExecutionCount = rapid.IntRange(0, 99).Draw(t, "count")
		}
		return o
	})
	cells = rapid.Custom(func(t *rapid.T) notebook.Cell {
		c := notebook.Cell{
			ID:       rapid.StringMatching(`[a-zA-Z0-9_-]{0,64}`).Draw(t, "id"),
			Type:     rapid.SampledFrom([]notebook.CellType{notebook.Code, notebook.Markdown, notebook.Raw}).Draw(t, "type"),
			Source:   texts.Draw(t, "source"),
			Metadata: metadata.Draw(t, "metadata"),
		}
		if c.Type == notebook.Code {
			c.Outputs = rapid.SliceOfN(outputs, 0, 4).Draw(t, "outputs")
			c.ExecutionCount = rapid.IntRange(0, 99).Draw(t, "count")
		} else {
			c.Attachments = rapid.MapOfN(texts, bundles, -1, 2).Draw(t, "attachments")
		}
		return c
	})
	anyNotebook = rapid.Custom(func(t *rapid.T) *notebook.Notebook {
		return &notebook.Notebook{Cells: rapid.SliceOfN(cells, 0, 4).Draw(t, "cells"), Metadata: metadata.Draw(t, "metadata")}
	})
)

func TestReadUndoesEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyNotebook.Draw(t, "notebook")
		file := encode(want)
		got := pyenvtest.Must(notebook.Read(strings.NewReader(file)))
		same(t, "read", want, got, cmpopts.EquateEmpty())
		if err := outline(t, file, want); err != nil {
			t.Fatal(err)
		}
	})
}

// outline checks that the outline of a file, if it has one, is the notebook without outputs.
func outline(t rapid.TB, file string, nb *notebook.Notebook) error {
	got, err := notebook.ReadOutline(strings.NewReader(file), 1<<20)
	for i := range nb.Cells {
		nb.Cells[i].Outputs = nil
	}
	if err == nil {
		same(t, "outline", nb, got, cmpopts.EquateEmpty())
	}
	return err
}

// TestReadFromPractice: files that other programs leave are read, or the reason names the place.
func TestReadFromPractice(t *testing.T) {
	const file = `{"cells": [{"id": "a", "cell_type": "code", "source": "1", "execution_count": 1}], "nbformat": 4}`
	with := func(old, new string) string { return strings.Replace(file, old, new, 1) }
	cell := func(source string, count int) []notebook.Cell {
		return []notebook.Cell{{Type: notebook.Code, Source: source, ExecutionCount: count}}
	}
	const three = `{"metadata": {"name": "old"}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [
		{"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Title"]},
		{"cell_type": "code", "collapsed": false, "input": ["print(1)\n", "2"], "language": "python", "metadata": {}, "outputs": [
			{"output_type": "stream", "stream": "stdout", "text": ["1\n"]},
			{"output_type": "pyout", "prompt_number": 4, "text": ["2"], "html": ["<b>\n", "2</b>"], "metadata": {}},
			{"output_type": "display_data", "png": "iVBORw0KGgo=", "metadata": {}},
			{"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["t"]}], "prompt_number": 4}]},
		{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["text"]}]}]}`
	upgraded := []notebook.Cell{{Type: notebook.Markdown, Source: "## Title"}, {Type: notebook.Code, Source: "print(1)\n2", ExecutionCount: 4, Outputs: []notebook.Output{
		streamed("stdout", "1\n"),
		{Type: notebook.ExecuteResult, ExecutionCount: 4, Data: notebook.MIMEBundle{"text/plain": "2", "text/html": "<b>\n2</b>"}},
		data("image/png", "iVBORw0KGgo="),
		failed("E", "v", "t")}}, {Type: notebook.Markdown, Source: "text"}}
	for name, c := range map[string]struct {
		file string
		want []notebook.Cell
		err  string
	}{
		"byte order mark":     {"\ufeff" + file, cell("1", 1), "<nil>"},
		"an older minor":      {with(`"nbformat": 4`, `"nbformat": 4, "nbformat_minor": 2`), cell("1", 1), "<nil>"},
		"count in quotes":     {with(`count": 1`, `count": "1"`), cell("1", 0), "<nil>"},
		"conflict":            {with(`, "nbformat"`, ",\n   <<<<<<< HEAD\n"), nil, "it has a merge conflict, at line 2"},
		"conflict in a cell":  {with(`"1"`, `"<<<<<<< HEAD"`), cell("<<<<<<< HEAD", 1), "<nil>"},
		"surrogates":          {with(`"1"`, `"\ud83c\udf89 \\ud83d"`), cell(`🎉 \ud83d`, 1), "<nil>"},
		"half of a surrogate": {with(`"1"`, `["a", "\uDF89"]`), nil, `half of a surrogate pair (\uDF…)`},
		"version 3":           {three, upgraded, "<nil>"},
	} {
		nb, err := notebook.Read(strings.NewReader(c.file))
		if !strings.Contains(fmt.Sprint(err), c.err) {
			t.Errorf("%s: %v", name, err)
		} else if err == nil {
			ids := cmpopts.IgnoreFields(notebook.Cell{}, "ID")
			same(t, name, c.want, nb.Cells, cmpopts.EquateEmpty(), ids)
		}
	}
}

// notNotebooks is JSON that is no notebook of nbformat 4.
var notNotebooks = []string{
	`null`, `1`, `"x"`, `[]`, `{}`,
	`{"nbformat": 2, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": []}]}`,
	`{"nbformat": 5, "cells": []}`, `{"nbformat": "4"}`, `{"nbformat": 4.5}`,
	`{"nbformat": 4, "cells": {}}`, `{"nbformat": 4, "metadata": []}`, `{"nbformat": 4, "cells": ["x"]}`, `{"nbformat": 4, "cells": [null]}`,
	`{"nbformat": 4, "cells": [{"cell_type": "prose", "source": "x"}]}`,
	`{"nbformat": 4, "cells": [{"cell_type": "code", "source": 1}]}`,
	`{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["a", 1]}]}`,
	`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": {}}]}`,
	`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [null]}]}`,
	`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [{"output_type": "pyin"}]}]}`,
	`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [{"output_type": "display_data", "data": []}]}]}`,
	`{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [{"output_type": "error", "traceback": "x"}]}]}`,
	`{"nbformat": 4, "cells": [{"cell_type": "markdown", "attachments": {"a.png": "x"}}]}`,
}

func TestReadRefuses(t *testing.T) {
	others := []string{``, ` `, `{`, `garbage`, "\x00\xff", `{"nbformat": 4}}`, `{"nbformat": 4} {"nbformat": 4}`, `{"nbformat": 4, "cells": [`}
	for isJSON, files := range map[bool][]string{true: notNotebooks, false: others} {
		for _, file := range files {
			nb, err := notebook.Read(strings.NewReader(file))
			if nb != nil || err == nil || errors.Is(err, notebook.ErrFormat) != isJSON {
				t.Errorf("%q: error is %v", file, err)
			}
		}
	}
	if _, err := notebook.Read(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("unreadable file: error is %v", err)
	}
}

func TestTags(t *testing.T) {
	for tags, want := range map[string]string{`null`: "", `"parameters"`: "", `["parameters", 1, null, "x"]`: "parameters x"} {
		nb := pyenvtest.Must(notebook.Read(strings.NewReader(
			`{"nbformat": 4, "cells": [{"cell_type": "raw", "metadata": {"tags": ` + tags + `}}]}`)))
		same(t, tags, want, strings.Join(nb.Cells[0].Tags(), " "))
	}
}

func FuzzRead(f *testing.F) {
	for _, nb := range corpus() {
		f.Add([]byte(encode(nb)))
	}
	for _, file := range notNotebooks {
		f.Add([]byte(file))
	}
	const in = "{\"cells\": [\n {\n   \"cell_type\": \"code\",\n   \"outputs\": [\n%s\n   ]\n }\n], \"nbformat\": 4}"
	f.Add([]byte(fmt.Sprintf(in, `], "source": "others", "x": [`)))
	f.Fuzz(func(t *testing.T, file []byte) {
		nb, err := notebook.Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		first := encode(nb)
		again, err := notebook.Read(strings.NewReader(first))
		if err != nil || first != encode(again) {
			t.Fatalf("another notebook when it is read again: %v", err)
		}
		_ = outline(t, string(file), nb) // some have none
	})
}
