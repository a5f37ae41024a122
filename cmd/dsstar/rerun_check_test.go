package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// executed runs a notebook with the cells, so that it has outputs, and returns its path.
func executed(t *testing.T, cells ...notebook.Cell) string {
	t.Helper()
	path := saved(t, "n.ipynb", cells...)
	rerunCode(t.Context(), t, 0, "--sandbox", "off", "--quiet", "--allow-errors", "-o", path, path)
	return path
}

// edit changes a text in a notebook's file.
func edit(t *testing.T, path, old, changed string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s has no %q:\n%s", path, old, b)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte(old), []byte(changed)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCheckInterrupted: a check that is not finished finds nothing.
func TestCheckInterrupted(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	path := executed(t, code("one", "import time"), code("two", "time.sleep(globals().get('seconds', 0))"))
	edit(t, path, "import time", "import time; seconds = 60")
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	stdout, stderr := rerunCode(ctx, t, exitInterrupted, "--check", path)
	if wantText(t, "stderr", stderr, "dsstar: interrupted"); stdout != "" || strings.Contains(stderr, "notebook so far") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}
