package notebook_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// TestGuardRewritten: what Jupyter changes by itself is not an edit, but anything that
// a person changes is one.
func TestGuardRewritten(t *testing.T) {
	const file = `{"cells": [{"id": "step-0", "cell_type": "code", "source": ["print(1)\n", "2"], "execution_count": 1,
  "metadata": {"dsstar": {"half": 0.5}}, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]},
  {"output_type": "execute_result", "execution_count": 1, "data": {"application/json": {"x": 3}}, "metadata": {}}]}],
  "metadata": {"dsstar": {"seconds": 2}}, "nbformat": 4, "nbformat_minor": 5}`
	for edit, all := range map[bool][][2]string{false: {
		{`"seconds": 2`, `"seconds": 2.0`},
		{`"x": 3`, `"x": 3.0`},
		{`{"dsstar": {"half"`, `{"trusted": true, "execution": {"iopub.status.busy": "now"}, "dsstar": {"half"`},
		{`"execution_count": 1`, `"execution_count": 7`},
		{`{"dsstar": {"sec`, `{"kernelspec": {"name": "other"}, "language_info": {"version": "3.14"}, "dsstar": {"sec`},
		{`["print(1)\n", "2"]`, `"print(1)\n2"`},
		{`"nbformat_minor": 5`, `"nbformat_minor": 4`},
		{` `, `  `},
	}, true: {
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
			if err := g.Write([]byte("{}")); errors.Is(err, disk.ErrEdited) != edit || !edit && err != nil {
				t.Errorf("%s: %v", change, err)
			}
		}
	}
}
