//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTryFull: if bubblewrap refuses an argument that sessions need, full does not work, and the
// error says why.
func TestTryFull(t *testing.T) {
	bwrap, err := findBubblewrap()
	if err == nil {
		err = tryFull(bwrap)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	wrapped := func(script string) string {
		wrapper := filepath.Join(t.TempDir(), "bwrap")
		script = fmt.Sprintf("#!/bin/sh\n%s\nexec %s \"$@\"\n", script, bwrap)
		if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		return wrapper
	}
	for _, refused := range []string{"--size", "--tmpfs", "--proc", "--remount-ro", "--unshare-pid",
		enterCommand} {
		err := tryFull(wrapped("for a; do [ \"$a\" != " + refused +
			" ] || { echo \"bwrap: Can't use $a\" >&2; exit 1; }; done"))
		missing, ok := errors.AsType[*MissingError](err)
		if !ok || missing.Tier != Full || missing.Cause != NamespacesRefused &&
			missing.Cause != AppArmor || !strings.Contains(err.Error(), "Can't use "+refused) {
			t.Errorf("without %s: %v", refused, err)
		}
	}
	// What may pass refuses nothing.
	for _, words := range []string{"bwrap: Creating new namespace failed: Resource temporarily unavailable",
		"runtime: failed to create new OS thread (have 2 already; errno=11)\nfatal error: newosproc"} {
		err := tryFull(wrapped("echo '" + words + "' >&2; exit 2"))
		if !errors.Is(err, ErrProcesses) || isMissing(err) {
			t.Errorf("%s: %v", words, err)
		}
	}
	// One older than 0.7.
	if err := tryFull(wrapped("[ \"$1\" = --help ] && exec echo --tmpfs DEST\n" +
		"for a; do [ \"$a\" != --size ] || exit 1; done")); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "dsstar-full-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	t.Setenv("TMPDIR", os.TempDir()+"/missing")
	if err := tryFull(bwrap); err == nil || isMissing(err) {
		t.Errorf("without a temporary folder: %v", err)
	}
}

// A path of Kept that exists and was not replaced, but is not mounted, is an error.
func TestKeptWithoutMount(t *testing.T) {
	parent, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	st := stage{Write: []string{parent}, Kept: []string{parent + "/data"}}
	if err := os.Mkdir(st.Kept[0], 0o755); err != nil {
		t.Fatal(err)
	}
	if st.Marks, err = marks(st.Kept); err != nil {
		t.Fatal(err)
	}
	if err := st.mountsKept(); !errors.Is(err, ErrReplaced) {
		t.Error(err)
	}
}
