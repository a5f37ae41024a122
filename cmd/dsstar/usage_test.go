package main

import (
	"strings"
	"testing"
)

// Of two data folders none is dropped without a word (U2).
func TestTwoDataFolders(t *testing.T) {
	for _, command := range []string{"nb --data a --data=b q", "nb -d a --data b q", "rerun --data a --data b x.ipynb", "bench score --data a --data b"} {
		a, _, stderr := testApp(t)
		if code := a.run(t.Context(), strings.Fields(command)); code != exitUsage || !strings.Contains(stderr.String(), "two data folders") {
			t.Errorf("%s: exit code %d: %s", command, code, stderr)
		}
	}
}

// An address in the place of the data folder is named as what it is, and its password is not repeated (U11).
func TestDataIsAddress(t *testing.T) {
	for _, address := range []string{"postgres://u:hunter2@host/db", "postgresql+psycopg://u:hunter2@ss@host:5432/db", "s3://bucket/x?sig=hunter2", "HTTPS://host/?token=hunter2"} {
		a, stdout, stderr := testApp(t)
		code := a.run(t.Context(), []string{"nb", "--data", address, "q"})
		if said := stdout.String() + stderr.String(); code != exitUsage || !strings.Contains(said, "only folders of this machine are read") || strings.Contains(said, "hunter2") {
			t.Errorf("%s: exit code %d: %s", address, code, said)
		}
	}
	a, _, stderr := testApp(t)
	a.report(&usageError{"cannot open mysql://u:hunter2@host/db", []string{"dsstar nb --server 'http://u:hunter2@host/?token=hunter2' …"}})
	if strings.Contains(stderr.String(), "hunter2") || !strings.Contains(stderr.String(), "host/db") {
		t.Errorf("%s", stderr)
	}
}
