package page

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsstar/agent/record"
	"dsstar/notebook"
)

// The notebooks in testdata are of real runs. Only long outputs were cut.

// readAgain reads the notebook of a run. What is drawn of it is read back the same.
func readAgain(t *testing.T, nb *notebook.Notebook) *record.Trajectory {
	t.Helper()
	tr, err := Read(nb)
	if err != nil {
		t.Fatal(err)
	}
	data, err := Draw(tr).Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read(parse(t, data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tr, again, cmpopts.EquateEmpty()); diff != "" {
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
