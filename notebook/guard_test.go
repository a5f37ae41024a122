package notebook

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// version is the n-th version of a notebook that is written again and again.
func version(t *testing.T, n int) []byte {
	t.Helper()
	nb := &Notebook{Metadata: map[string]any{"dsstar": map[string]any{"version": n, "seconds": 2}}}
	for i := range n {
		nb.Cells = append(nb.Cells, Cell{
			ID: fmt.Sprintf("step-%d", i), Type: Code, Source: "print(1)\n2", ExecutionCount: i + 1, Metadata: map[string]any{"dsstar": map[string]any{"half": 0.5}},
			Outputs: []Output{{Type: Stream, Name: "stdout", Text: "1\n"}, {Type: ExecuteResult, ExecutionCount: i + 1, Data: MIMEBundle{"application/json": map[string]any{"x": 3}, "text/plain": "2"}}},
		})
	}
	data, err := nb.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// putWhole writes as editors do that rename a new file into place.
func putWhole(t *testing.T, path string, data []byte) {
	t.Helper()
	put(t, path+"~", data)
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %v, %d bytes, want %d:\n%.300s", filepath.Base(path), err, len(got), len(want), got)
	}
}

// alone checks that nothing but the named files is left in the folder of path.
func alone(t *testing.T, path string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != len(names) {
		t.Errorf("%v %v, want %v", err, entries, names)
	}
}

// edited is a version as a person leaves it.
func edited(t *testing.T, n int) []byte {
	return bytes.Replace(version(t, n), []byte(`"print(1)\n"`), []byte(`"print(1) # mine\n"`), 1)
}

func TestGuard(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notebook.ipynb")
	g := GuardNotebook(path)
	write := func(n int) error { return g.Write(version(t, n)) }
	for n := range 4 {
		if err := write(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := write(4); err != nil { // deleted: written again
		t.Fatal(err)
	}
	put(t, path, version(t, 3)) // an editor that was slow: no edit
	if err := write(5); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(6); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	put(t, path, edited(t, 6))
	for range 2 {
		if err := write(7); !errors.Is(err, ErrEdited) {
			t.Fatal(err)
		}
		holds(t, path, edited(t, 6))
	}
	put(t, filepath.Join(filepath.Dir(path), "notebook-2.ipynb"), []byte("somebody's"))
	g.MoveOn()
	if err := write(7); err != nil || filepath.Base(g.Path()) != "notebook-3.ipynb" {
		t.Fatal(err, g.Path())
	}
	holds(t, path, edited(t, 6))
	holds(t, g.Path(), version(t, 7))
	put(t, g.Path(), edited(t, 7))
	g.MoveOn()
	if filepath.Base(g.Path()) != "notebook-4.ipynb" {
		t.Error(g.Path())
	}
	alone(t, path, "notebook.ipynb", "notebook-2.ipynb", "notebook-3.ipynb")

	other := GuardNotebook(path) // of a program that knows nothing of it
	if err := other.Write(version(t, 1)); !errors.Is(err, ErrEdited) {
		t.Error(err)
	}
	other.Know(edited(t, 6))
	if err := other.Write(version(t, 1)); err != nil {
		t.Error(err)
	}
}

// TestGuardRewritten: what Jupyter does to a notebook on its own is no edit, and
// anything that a person does is one.
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
			g := GuardNotebook(path)
			if err := g.Write(version(t, 2)); err != nil {
				t.Fatal(err)
			}
			plain := flat(t, version(t, 2))
			changed := strings.Replace(plain, change[0], change[1], -1)
			if changed == plain {
				t.Fatalf("%s changes nothing in %s", name, plain)
			}
			put(t, path, []byte(changed))
			if err := g.Write(version(t, 3)); errors.Is(err, ErrEdited) != edit || !edit && err != nil {
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

// TestGuardMeanwhile edits at the worst moment: after the look at the file and
// before it is replaced.
func TestGuardMeanwhile(t *testing.T) {
	t.Parallel()
	noExchange := func(*os.Root, string, string) error { return errors.ErrUnsupported }
	for name, swap := range map[string]func(folder *os.Root, a, b string) error{"exchange": exchange, "rename": noExchange} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notebook.ipynb")
			g := GuardNotebook(path)
			g.exchange = swap
			begin := func(n int) {
				g.meanwhile = nil
				_ = os.Remove(path)
				if err := g.Write(version(t, n)); err != nil {
					t.Fatal(err)
				}
			}
			for way, edit := range map[string]func(*testing.T, string, []byte){"in place": put, "renamed": putWhole} {
				begin(1)
				g.meanwhile = func() { edit(t, path, edited(t, 1)) }
				if err := g.Write(version(t, 2)); !errors.Is(err, ErrEdited) {
					t.Errorf("%s: %v", way, err)
				}
				holds(t, path, edited(t, 1))
				// The same content in other bytes, once: no edit.
				begin(1)
				g.meanwhile = func() { edit(t, path, []byte(flat(t, version(t, 1)))); g.meanwhile = nil }
				if err := g.Write(version(t, 2)); err != nil {
					t.Errorf("%s: %v", way, err)
				}
				holds(t, path, version(t, 2))
			}
			begin(1)
			g.meanwhile = func() { _ = os.Remove(path); g.meanwhile = nil }
			if err := g.Write(version(t, 2)); err != nil {
				t.Error(err)
			}
			holds(t, path, version(t, 2))
			// Made by somebody while it was missing.
			_ = os.Remove(path)
			g.meanwhile = func() { put(t, path, edited(t, 3)) }
			if err := g.Write(version(t, 4)); !errors.Is(err, ErrEdited) {
				t.Error(err)
			}
			holds(t, path, edited(t, 3))
			alone(t, path, "notebook.ipynb")
		})
	}
}

// TestGuardPutBack: an edit that comes while another is being put back.
func TestGuardPutBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notebook.ipynb")
	g := GuardNotebook(path)
	if exchange(g.folder, "none", "none") == errors.ErrUnsupported {
		t.Skip("no exchange here")
	}
	if err := g.Write(version(t, 1)); err != nil {
		t.Fatal(err)
	}
	last := bytes.ReplaceAll(edited(t, 1), []byte("mine"), []byte("mine, again"))
	n := 0
	g.meanwhile = func() { put(t, path, edited(t, 1)) }
	g.exchange = func(folder *os.Root, a, b string) error {
		if n++; n == 2 {
			put(t, path, last)
		}
		return exchange(folder, a, b)
	}
	if err := g.Write(version(t, 2)); !errors.Is(err, ErrEdited) {
		t.Error(err)
	}
	holds(t, path, last)
	alone(t, path, "notebook.ipynb")

	// What cannot be put back is kept, and named.
	path = filepath.Join(t.TempDir(), "notebook.ipynb")
	g = GuardNotebook(path)
	if err := g.Write(version(t, 1)); err != nil {
		t.Fatal(err)
	}
	n = 0
	g.meanwhile = func() { put(t, path, edited(t, 1)) }
	g.exchange = func(folder *os.Root, a, b string) error {
		if n++; n == 2 {
			return os.ErrPermission
		}
		return exchange(folder, a, b)
	}
	err := g.Write(version(t, 2))
	kept, ok := errors.AsType[*keptError](err)
	if !ok {
		t.Fatal(err)
	}
	holds(t, kept.path, edited(t, 1))
}

// TestGuardHalfWritten: Jupyter writes in place, and half a file is not judged.
func TestGuardHalfWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notebook.ipynb")
	g := GuardNotebook(path)
	if err := g.Write(version(t, 1)); err != nil {
		t.Fatal(err)
	}
	whole := []byte(flat(t, version(t, 1)))
	put(t, path, whole[:len(whole)/2])
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(100 * time.Millisecond)
		_ = os.WriteFile(path, whole, 0o644)
	}()
	err := g.Write(version(t, 2))
	<-done
	if err != nil {
		t.Error(err)
	}
	holds(t, path, version(t, 2))
	put(t, path, whole[:10]) // and for good
	if err := g.Write(version(t, 3)); !errors.Is(err, ErrEdited) {
		t.Error(err)
	}
}

func TestGuardReadOnly(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	g := GuardText(filepath.Join(folder, "solution.py"))
	if err := g.Write([]byte("1")); err != nil {
		t.Fatal(err)
	}
	put(t, g.Path(), []byte("1 ")) // of text every byte counts
	if err := g.Write([]byte("2")); !errors.Is(err, ErrEdited) {
		t.Error(err)
	}
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	g.MoveOn()
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(folder, 0o755)
	if err := g.Write([]byte("2")); !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
}
