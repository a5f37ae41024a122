package disk

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSweepTemp: folders of killed programs are removed, but not those that are in use, belong to
// another user or are behind a link.
func TestSweepTemp(t *testing.T) {
	if dir := os.Getenv("DISK_TEST_TEMP"); dir != "" { // the program that is killed
		path, err := TempFolder(dir, "dsstar-test-")
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Join(path, "a/b"), 0o755),
				os.Symlink(filepath.Join(dir, "outside"), filepath.Join(path, "a/b/link")))
		}
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString(path + "\n")
		select {}
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSweepTemp$")
	cmd.Env = append(os.Environ(), "DISK_TEST_TEMP="+dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	left, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	left = strings.TrimSpace(left)
	mine, err := TempFolder(dir, "dsstar-test-")
	for _, folder := range []string{"outside/deep", "dsstar-test-1", "dsstar-other-1.tmp"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, folder), 0o755))
	}
	err = errors.Join(err, os.Symlink("outside", filepath.Join(dir, "dsstar-test-2.tmp")),
		os.WriteFile(filepath.Join(dir, "dsstar-test-3.tmp"), nil, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	sweeps := func(when string, gone ...string) {
		t.Helper()
		SweepTemp(dir, "dsstar-test-")
		for _, name := range []string{left, mine, "outside/deep", "dsstar-test-1", "dsstar-other-1.tmp", "dsstar-test-2.tmp", "dsstar-test-3.tmp"} {
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, name)
			}
			_, err := os.Lstat(path)
			want := slices.Contains(gone, name)
			if errors.Is(err, os.ErrNotExist) != want {
				t.Errorf("%s: %s: %v", when, name, err)
			}
		}
	}
	sweeps("while both live")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	sweeps("after one was killed", left)
	if err := RemoveTemp(mine); err != nil {
		t.Error(err)
	}
	if _, held := locks.Load(mine); held {
		t.Error("still held")
	}
	alone(t, filepath.Join(dir, "outside", "x"), "deep")
}
