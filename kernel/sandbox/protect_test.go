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
	dir := must(filepath.EvalSymlinks(must(os.MkdirTemp("", "dsw-"))))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	deep := filepath.Join(dir, "a/b/c/d")
	pyenvtest.OK(t, errors.Join(os.MkdirAll(deep, 0o755), os.Symlink("a/b", dir+"/link")))
	want := []string{filepath.Join(deep, "s"), filepath.Join(dir, "with space")}
	for _, path := range want {
		l := must(net.Listen("unix", path))
		t.Cleanup(func() { _ = l.Close() })
	}
	tooDeep := t.TempDir() // its folders' paths are too long to be opened
	t.Chdir(tooDeep)
	for range 20 {
		name := strings.Repeat("d", 250)
		pyenvtest.OK(t, errors.Join(os.Mkdir(name, 0o700), os.Chdir(name)))
	}
	for _, c := range []struct {
		path    string
		entries int
		within  time.Duration
		want    []string // nil: it was not searched completely
	}{
		{dir, 8, time.Minute, want}, {dir, 7, time.Minute, nil}, {dir, 8, -time.Second, nil},
		{want[0], 1, time.Minute, want[:1]}, {tooDeep, mostEntries, time.Minute, nil},
	} {
		found, err := socketsBelow(c.path, time.Now().Add(c.within), c.entries)
		slices.Sort(found)
		if (err == nil) != (c.want != nil) || err == nil && !slices.Equal(found, c.want) {
			t.Errorf("%+v: found %q, %v", c, found, err)
		}
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
