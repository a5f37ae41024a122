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

	"dsstar/kernel/pyenv/pyenvtest"
)

// TestSocketsBelow: a search finds sockets at any depth, says whether it ended before its bounds, and is
// not repeated; Linux's table has those bound after it.
func TestSocketsBelow(t *testing.T) {
	dir, err := os.MkdirTemp("", "dsw-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	deep := filepath.Join(dir, "a/b/c/d")
	pyenvtest.OK(t, errors.Join(os.MkdirAll(deep, 0o755), os.Symlink("a/b", dir+"/link")))
	want := []string{filepath.Join(deep, "s"), filepath.Join(dir, "with space")}
	for _, path := range want {
		l := pyenvtest.Must(net.Listen("unix", path))
		t.Cleanup(func() { _ = l.Close() })
	}
	const entries = 8
	for _, c := range []struct {
		entries  int
		within   time.Duration
		complete bool
	}{{entries, time.Minute, true}, {entries - 1, time.Minute, false}, {entries, -time.Second, false}} {
		found, err := socketsBelow(dir, time.Now().Add(c.within), c.entries)
		slices.Sort(found)
		if (err == nil) != c.complete || err == nil && !slices.Equal(found, want) {
			t.Errorf("%+v: found %q, %v", c, found, err)
		}
	}
	if found, err := socketsBelow(want[0], time.Now().Add(time.Minute), 1); err != nil ||
		!slices.Equal(found, want[:1]) {
		t.Errorf("a socket itself: %q, %v", found, err)
	}
	if found, err := socketsBelow(tooDeep(t), time.Now().Add(time.Minute), mostEntries); err == nil {
		t.Errorf("a folder that cannot be opened: %q", found)
	}
	b := Box{Read: []string{deep, dir + "/link", dir + "/missing"}, Write: []string{dir + "/link/c"}}
	for range 2 {
		if found, err := b.sockets(nil); err != nil || !slices.Contains(found, want[0]) {
			t.Errorf("%q: %v", found, err)
		}
		_ = os.Remove(want[0])
	}
	const line = "00000000daa625e6: 00000003 00000000 00010000 0001 01  1056"
	table := filepath.Join(dir, "table")
	lines := []string{"Num RefCount Protocol Flags Type St Inode Path", line,
		line + " @abstract /" + want[1], line + " relative", line + " " + want[1],
		line + " " + dir + "/gone"}
	pyenvtest.OK(t, os.WriteFile(table, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	if found := socketPaths(table); !slices.Equal(found, want[1:]) {
		t.Errorf("the table has %q", found)
	}
}

// tooDeep returns a folder with folders whose paths are too long to be opened.
func tooDeep(t *testing.T) string {
	t.Helper()
	top, name := t.TempDir(), strings.Repeat("d", 250)
	folder, err := os.OpenRoot(top)
	for range 20 {
		if err == nil {
			err = folder.Mkdir(name, 0o700)
		}
		if err == nil {
			defer folder.Close()
			folder, err = folder.OpenRoot(name)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = folder.Close()
	return top
}
