package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// listed is what a folder has, and the names of its files.
func listed(t *testing.T, dir string) (l Listing, names []string) {
	t.Helper()
	l, err := List(t.Context(), []Source{{Path: dir}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range l.Files {
		names = append(names, f.Name)
	}
	return l, names
}

func TestList(t *testing.T) {
	base := t.TempDir()
	data := filepath.Join(base, "data")
	for _, name := range []string{
		"b.csv", "a b's \"x\".csv", "deep/er/c.json", "empty.txt", "é.csv",
		"files/kept.csv", // files/ alone is not a run
		".hidden", ".git/config", "deep/.ipynb_checkpoints/x.ipynb", "__pycache__/x.pyc",
		"dsstar-runs/1/notebook.ipynb", "dsstar-runs/1/trace.jsonl", "dsstar-runs/1/files/out.csv",
	} {
		write(t, data, name, strings.Repeat("x", len(name)))
	}
	write(t, data, "empty.txt", "")
	write(t, base, "far.csv", "12345")
	links(t, data, map[string]string{"link.csv": "../far.csv", "broken.csv": "nowhere",
		"folder": "deep", "loop": ".", "../linked": "data"})
	want := []File{
		{Name: `a b's "x".csv`, Size: 13}, {Name: "b.csv", Size: 5}, {Name: "deep/er/c.json", Size: 14},
		{Name: "empty.txt"}, {Name: "files/kept.csv", Size: 14}, {Name: "link.csv", Size: 5},
		{Name: "é.csv", Size: 6},
	}
	for _, folder := range []string{data, filepath.Join(base, "linked"), data + "/deep/.."} {
		if got, _ := listed(t, folder); !reflect.DeepEqual(got.Files, want) {
			t.Errorf("%s: got  %v\nwant %v", folder, got.Files, want)
		}
	}
	if _, names := listed(t, filepath.Join(data, ".git")); len(names) != 1 {
		t.Errorf("a folder that is hidden itself: %q", names)
	}
	nowhere := []Source{{Path: filepath.Join(data, "nowhere")}}
	if _, err := List(t.Context(), nowhere); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := List(ended, []Source{{Path: data}}); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: %v", err)
	}
}

// A project folder contains more than data. What is skipped is reported, and what is named itself is
// not skipped.
func TestListSkips(t *testing.T) {
	data := t.TempDir()
	for _, name := range strings.Fields(`sales.csv src/load.py build/kept.csv env/pyvenv.cfg
		env/lib/site-packages/pandas/x.py env/share/x.csv conda/conda-meta/history conda/lib/x.csv
		web/node_modules/left/data.json lib/site-packages/x.csv
		CVS/pharmacies.csv .git/HEAD .gitignore`) {
		write(t, data, name, "a")
	}
	for folder, want := range map[string][]string{
		"":                 {"CVS/pharmacies.csv", "build/kept.csv", "sales.csv", "src/load.py"},
		"env":              {"pyvenv.cfg", "share/x.csv"},
		"web/node_modules": {"left/data.json"},
	} {
		if _, names := listed(t, filepath.Join(data, folder)); !slices.Equal(names, want) {
			t.Errorf("%s: got %q\nwant %q", folder, names, want)
		}
	}
	const skipped = "conda/ (a Python environment), env/ (a Python environment), lib/site-packages/ " +
		"(installed packages), web/node_modules/ (installed packages), conda/ (a Python environment), " +
		"env/ (a Python environment) and 2 more"
	got, _ := listed(t, data)
	if said := InWords(append(got.Skipped, got.Skipped...)); said != skipped {
		t.Error(said)
	}
}

// Old archives have names in other encodings; they are listed, and can be read.
func TestForeignNames(t *testing.T) {
	data, name := t.TempDir(), "Stra\xdfe/\xe9_1.txt"
	if os.Mkdir(filepath.Join(data, filepath.Dir(name)), 0o755) != nil {
		t.Skip("names are UTF-8 here")
	}
	write(t, data, name, "x")
	_, names := listed(t, data)
	text, _, err := In(data).Text(name, 10)
	if err != nil || !slices.Equal(names, []string{name}) || text != "x" {
		t.Errorf("got %q, %q, %v", names, text, err)
	}
}
