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

// TestTryFull has a bubblewrap refuse an argument that sessions need: then full does not work, and
// it is said why.
func TestTryFull(t *testing.T) {
	bwrap, err := findBubblewrap()
	if err == nil {
		err = tryFull(bwrap)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	for _, refused := range []string{"--size", "--tmpfs", "--proc", "--remount-ro", "--unshare-pid",
		enterCommand} {
		wrapper := filepath.Join(t.TempDir(), "bwrap")
		script := fmt.Sprintf("#!/bin/sh\nfor a; do [ \"$a\" != %s ] || { echo \"bwrap: Can't use $a\" >&2; exit 1; }; done\nexec %s \"$@\"\n", refused, bwrap)
		if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		err := tryFull(wrapper)
		missing, ok := errors.AsType[*MissingError](err)
		if !ok || missing.Tier != Full || missing.Cause != NamespacesRefused &&
			missing.Cause != AppArmor || !strings.Contains(err.Error(), "Can't use "+refused) {
			t.Errorf("without %s: %v", refused, err)
		}
	}
	// One older than 0.7.
	wrapper := filepath.Join(t.TempDir(), "bwrap")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --help ] && exec echo --tmpfs DEST\nfor a; do [ \"$a\" != --size ] || exit 1; done\nexec %s \"$@\"\n", bwrap)
	if err := errors.Join(os.WriteFile(wrapper, []byte(script), 0o755), tryFull(wrapper)); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "dsstar-full-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What is kept is there and was not replaced, but no mount keeps it.
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
