package page

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// The notebooks in testdata are of real runs, of which only long outputs were cut, but for three that
// were made: verified, depends, and odd, which has what hardly any has. -update draws all again.
var update = flag.Bool("update", false, "draw the notebooks in testdata again")

// TestDraw: a notebook that is read and drawn again is the same, byte for byte.
func TestDraw(t *testing.T) {
	names, err := filepath.Glob("testdata/*.ipynb")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		name = strings.TrimSuffix(filepath.Base(name), ".ipynb")
		tr := readAgain(t, golden(t, name))
		drew := encoded(t, Draw(tr))
		if *update {
			err = os.WriteFile("testdata/"+name+".ipynb", drew, 0o644)
		}
		was, readErr := os.ReadFile("testdata/" + name + ".ipynb")
		if diff := cmp.Diff(string(was), string(drew)); err != nil || readErr != nil || diff != "" {
			t.Errorf("%s: %v, %v (-recorded +now)\n%s", name, err, readErr, diff)
		}
	}
}

// readAgain reads the notebook of a run. What is drawn of it is read back the same.
func readAgain(t *testing.T, nb *notebook.Notebook) *record.Trajectory {
	t.Helper()
	tr, err := Read(nb)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read(parse(t, encoded(t, Draw(tr))))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tr, again, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(&journal.Journal{})); diff != "" {
		t.Errorf("drawn and read again (-want +got)\n%s", diff)
	}
	return tr
}

func golden(t *testing.T, name string) *notebook.Notebook {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".ipynb")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, data)
}

func parse(t *testing.T, data []byte) *notebook.Notebook {
	t.Helper()
	nb, err := notebook.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

func encoded(t *testing.T, nb *notebook.Notebook) []byte {
	t.Helper()
	data, err := nb.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
