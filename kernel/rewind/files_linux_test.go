package rewind

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"dsstar/notebook"
)

// filled is a cell that leaves files of all kinds.
const filled = `import mmap, os, shutil, time
os.makedirs('sub/empty'); os.mkdir('.hidden', 0o750)
for i, name in enumerate(('a', 'sub/b', '.hidden/c', 'sub/large')):
    open(name, 'wb').write(bytes([65 + i]) * (200_000 if name == 'sub/large' else 100))
    os.utime(name, ns=(0, 1_234_567_890_123_456_789 + i))
os.link('a', 'sub/a too'); os.symlink('sub', 'link'); os.chmod('sub/b', 0o640)
open('sparse', 'wb').truncate(1 << 30)`

// undone are cells that change them.
var undone = []string{
	"open('a', 'r+b').write(b'x')",
	"s = os.stat('a'); open('a', 'r+b').write(b'x'); os.utime('a', ns=(s.st_atime_ns, s.st_mtime_ns))",
	"shutil.rmtree('sub'); os.remove('link')",
	"shutil.rmtree('sub'); open('sub', 'w').write('a file'); os.mkdir('new'); os.rename('a', 'new/a')",
	"os.chmod('sub/b', 0); os.rmdir('sub/empty'); os.utime('sub/b', (1, 1))",
	"os.remove('sub/a too'); open('sub/a too', 'w').write('another file')",
	"os.remove('link'); os.symlink('.hidden', 'link')",
	"f = open('sub/large', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[5] = 0; m.close(); f.close()",
	"f = open('sparse', 'r+b'); f.seek(1 << 29); f.write(b'x'); f.close(); os.truncate('sub/large', 3)",
	"os.mkfifo('pipe'); os.mkdir('closed', 0); open('a', 'a').write('x'); os._exit(1)",
}

// Going back by a frozen copy puts the whole folder back exactly, whatever a cell has done to it.
func TestFiles(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	k := open(t, o)
	runCell(t, k, filled, notebook.OK)
	goBack(t, k, []string{filled}, notebook.ByCheckpoint, 1, "") // the state is kept
	want := tree(t, o.Scratch)
	for _, cell := range undone {
		if _, err := k.Execute(t.Context(), cell); err != nil {
			t.Fatal(err)
		}
		goBack(t, k, []string{filled}, notebook.ByCheckpoint, 1, "")
		if diff := cmp.Diff(want, tree(t, o.Scratch)); diff != "" {
			t.Errorf("%s\n%s", cell, diff)
		}
	}
}

// tree returns all about the entries of a folder. Where the sandbox ignores changes of times, it
// leaves out the times.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all, first := map[string]string{}, map[uint64]string{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		var s unix.Stat_t
		if err == nil {
			err = unix.Lstat(path, &s)
		}
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%o", s.Mode)
		if *testTier != "builtin" {
			text += fmt.Sprint(", ", s.Mtim)
		}
		switch s.Mode & unix.S_IFMT {
		case unix.S_IFLNK:
			target, e := os.Readlink(path)
			text, err = text+", to "+target, e
		case unix.S_IFREG:
			if first[s.Ino] == "" {
				first[s.Ino] = path
			}
			text += fmt.Sprintf(", the file of %s, %d bytes", first[s.Ino], s.Size)
			if s.Size < 1<<20 {
				content, e := os.ReadFile(path)
				text, err = fmt.Sprintf("%s: %x", text, content), e
			}
		}
		all[path] = text
		return err
	})
	ok(t, err)
	return all
}
