package sandbox

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWalk: folders inside others are not searched twice, and none is searched by the next session;
// a search that exceeds its bounds says so.
func TestWalk(t *testing.T) {
	dir, err := os.MkdirTemp("", "dsw-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/b", "ab", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", dir+"/a/b/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Symlink("a", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	paths := []string{dir + "/a/b", dir + "/link/b", dir + "/a", dir + "/ab", dir + "/a",
		dir + "/missing"}
	// a, a/b, a/b/s and ab
	if found, err := (&walk{4, time.Now().Add(time.Minute)}).all(paths); err != nil ||
		len(found) != 1 || found[0] != dir+"/a/b/s" {
		t.Errorf("%v %v", found, err)
	}
	if found, err := (&walk{0, time.Now()}).all(paths); err != nil || len(found) != 1 {
		t.Errorf("again: %v %v", found, err)
	}
	// dir, a, a/b, a/b/s, ab, link and other; the clock is looked at now and then
	for _, w := range []*walk{{6, time.Now().Add(time.Minute)}, {1025, time.Now().Add(-time.Second)}} {
		if _, err := w.all([]string{dir}); !errors.Is(err, ErrTooMany) {
			t.Errorf("too many, or too late: %v", err)
		}
	}
}

// TestSystemSockets: the search finds sockets at any depth, and Linux's table those bound after it.
func TestSystemSockets(t *testing.T) {
	dir, err := os.MkdirTemp("", "dsw-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	deep := filepath.Join(dir, "a/b/c/d")
	if err := errors.Join(os.MkdirAll(deep, 0o755), os.Symlink("a/b", dir+"/link")); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(deep, "s"), filepath.Join(dir, "with space")}
	for _, path := range want {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
	found := socketsBelow([]string{dir}, time.Now().Add(time.Minute))
	slices.Sort(found)
	if !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
	if found := socketsBelow([]string{dir}, time.Now().Add(-time.Second)); len(found) > 1 {
		t.Errorf("found %q after the end of its time", found)
	}
	const line = "00000000daa625e6: 00000003 00000000 00010000 0001 01  1056"
	table := filepath.Join(dir, "table")
	lines := []string{"Num RefCount Protocol Flags Type St Inode Path", line,
		line + " @abstract /" + want[0], line + " relative",
		line + " " + dir + "/link/c/d/s", line + " " + want[1], line + " " + dir + "/gone"}
	if err := os.WriteFile(table, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := socketPaths(table); !slices.Equal(found, want) {
		t.Errorf("the table has %q, want %q", found, want)
	}
}
