package notebook_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// version is the n-th version of a notebook that is written again and again.
func version(t *testing.T, n int) []byte {
	t.Helper()
	nb := &notebook.Notebook{Metadata: map[string]any{"dsstar": map[string]any{"version": n, "seconds": 2}}}
	for i := range n {
		nb.Cells = append(nb.Cells, notebook.Cell{
			ID: fmt.Sprintf("step-%d", i), Type: notebook.Code, Source: "print(1)\n2", ExecutionCount: i + 1, Metadata: map[string]any{"dsstar": map[string]any{"half": 0.5}},
			Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: "1\n"}, {Type: notebook.ExecuteResult, ExecutionCount: i + 1, Data: notebook.MIMEBundle{"application/json": map[string]any{"x": 3}, "text/plain": "2"}}},
		})
	}
	data, err := nb.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestGuardRewritten: what Jupyter changes by itself is not an edit, but anything that
// a person changes is one.
func TestGuardRewritten(t *testing.T) {
	t.Parallel()
	own := map[string][2]string{
		"numbers":     {`"seconds": 2`, `"seconds": 2.0`},
		"data":        {`"x": 3`, `"x": 3.0`},
		"trust":       {`"metadata": {"dsstar": {"half"`, `"metadata": {"trusted": true, "dsstar": {"half"`},
		"timing":      {`"metadata": {"dsstar": {"half"`, `"metadata": {"execution": {"iopub.status.busy": "now"}, "dsstar": {"half"`},
		"count":       {`"execution_count": 1`, `"execution_count": 7`},
		"kernel":      {`"metadata": {"dsstar": {"seconds"`, `"metadata": {"kernelspec": {"name": "other"}, "language_info": {"name": "python", "version": "3.14"}, "dsstar": {"seconds"`},
		"text":        {`["print(1)\n", "2"]`, `"print(1)\n2"`},
		"minor":       {`"nbformat_minor": 5`, `"nbformat_minor": 4`},
		"indentation": {` `, `  `},
	}
	persons := map[string][2]string{
		"source":   {`print(1)`, `print(2)`},
		"output":   {`"1\n"`, `"one\n"`},
		"result":   {`"x": 3`, `"x": 4`},
		"id":       {`"step-1"`, `"step-one"`},
		"type":     {`"stdout"`, `"stderr"`},
		"metadata": {`"metadata": {`, `"metadata": {"tags": ["mine"],`},
		"number":   {`0.5`, `0.75`},
		"order":    {`step-0`, `step-x`},
		"kind":     {`"seconds": 2`, `"seconds": "2"`},
	}
	for edit, all := range map[bool]map[string][2]string{false: own, true: persons} {
		for name, change := range all {
			path := filepath.Join(t.TempDir(), "notebook.ipynb")
			g := notebook.Guard(path)
			if err := g.Write(version(t, 2)); err != nil {
				t.Fatal(err)
			}
			plain := flat(t, version(t, 2))
			changed := strings.Replace(plain, change[0], change[1], -1)
			if changed == plain {
				t.Fatalf("%s changes nothing in %s", name, plain)
			}
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := g.Write(version(t, 3)); errors.Is(err, disk.ErrEdited) != edit || !edit && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// flat is a notebook as one line.
func flat(t *testing.T, data []byte) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		b.WriteString(strings.TrimSpace(line))
		if strings.HasSuffix(line, ",\n") {
			b.WriteString(" ")
		}
	}
	return b.String()
}
