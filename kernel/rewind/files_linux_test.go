package rewind

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
	"dsstar/notebook/disk"
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
		_, err := k.Execute(t.Context(), cell)
		ok(t, err)
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
	ok(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
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
		if target, err := os.Readlink(path); err == nil {
			text += ", to " + target
		} else if entry.Type().IsRegular() {
			if first[s.Ino] == "" {
				first[s.Ino] = path
			}
			text += fmt.Sprintf(", the file of %s, %d bytes", first[s.Ino], s.Size)
			if s.Size < 1<<20 {
				text += fmt.Sprintf(": %x", must(os.ReadFile(path)))
			}
		}
		all[path] = text
		return nil
	}))
	return all
}

// TestReplacedInMidRun has cells put links and pipes in the place of Scratch, and in it. Going back
// works, and nothing outside is read, written or removed.
func TestReplacedInMidRun(t *testing.T) {
	t.Parallel()
	for way, spec := range map[string]kernel.Spec{"replay": kernel.PythonSpec(pyenvtest.Python(t)),
		"checkpoint": checkpointSpec(t)} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			outside := t.TempDir()
			ok(t, os.WriteFile(outside+"/key", []byte("planted-secret"), 0o600))
			before := tree(t, outside)
			o := plain(t)
			o.Dir = filepath.Join(o.Dir, "run")
			o.Spec, o.Scratch = spec, filepath.Join(o.Dir, "files")
			ok(t, os.Mkdir(o.Dir, 0o755))
			k := open(t, o)
			cells := []string{"import os\nfiles, outside = " + `"` + o.Scratch + `", "` + outside + `"` +
				"\nopen(files + '/a.txt', 'w').write('1')"}
			goBack := func() (back notebook.Restoration, err error) {
				kerneltest.Within(t, "going back", func() { back, err = k.Rollback(t.Context(), cells) })
				if diff := cmp.Diff(before, tree(t, outside)); diff != "" {
					t.Errorf("outside: %s", diff)
				}
				return back, err
			}
			runCell(t, k, cells[0], notebook.OK)
			attacks := []string{
				"os.symlink(outside, files + '/outputs')",
				"os.rename(files, files + '.moved%d')\nos.symlink(outside, files)",
				"os.rename(files, files + '.moved%d')\nos.mkfifo(files)",
				"os.link(outside + '/key', files + '/linked')\nos.chmod(files + '/linked', 0o600)",
				"os.mkfifo(files + '/pipe')\nopen(files + '/huge', 'w').truncate(1 << 40)",
				"open(files + '/a.txt', 'a').write('2'); os.mkdir(files + '/closed', 0)\n" +
					"os.symlink(outside + '/key', files + '/link'); os.symlink(outside, files + '/sub')\n" +
					"os.symlink('.', files + '/loop')\n" +
					"open(files + '/random.py', 'w').write('raise SystemExit')",
			}
			if way == "replay" { // each costs a new kernel
				attacks = attacks[1:3]
			}
			for _, attack := range attacks {
				attack = strings.ReplaceAll(attack, "%d", "' + str(os.getpid()) + '")
				runCell(t, k, attack, notebook.OK)
				back, err := goBack()
				if err != nil || len(back.Executions) != 1 || back.Executions[0].Status != notebook.OK {
					t.Fatalf("%s\n%v %+v", attack, err, back)
				}
				b, err := disk.ReadFile(filepath.Join(o.Scratch, "a.txt"), 10)
				left, e := filepath.Glob(o.Scratch + "/*")
				if err := errors.Join(err, e); err != nil || string(b) != "1" || len(left) != 1 {
					t.Errorf("%s\na.txt: %q, %v, %q", attack, b, err, left)
				}
			}
			// The folder around them: the session cannot go back, and what the link leads to stays as it is.
			runCell(t, k, "run = os.path.dirname(files)\nos.rename(run, run + '.moved')\n"+
				"os.symlink(outside, run)", notebook.OK)
			if back, err := goBack(); err == nil {
				t.Errorf("%+v", back)
			}
		})
	}
}

// TestCheckpointOpenFiles: an open file that also has a name outside is a reason to replay, as it
// is created anew when the files are restored.
func TestCheckpointOpenFiles(t *testing.T) {
	t.Parallel()
	k := open(t, freezing(t))
	cells := []string{fmt.Sprintf("import os; o = %q\nopen('log', 'w').write('one')\n"+
		"os.path.exists(o) or os.link('log', o); log = open('log', 'a')",
		filepath.Join(t.TempDir(), "outside"))}
	goBack(t, k, cells, notebook.ByReplay, 0, "")
	prints(t, k, "log.tell()", "3")
	goBack(t, k, cells, notebook.ByCheckpoint, 1, "")
	runCell(t, k, "log.write('two'); log.flush()", notebook.OK)
	goBack(t, k, cells, notebook.ByReplay, 0, "log was open and has been changed since")
	prints(t, k, "log.write('!'), log.flush(), open('log').read()", "1 None one!")
	runCell(t, k, "os.remove('log'); open('log', 'w').write('another')", notebook.OK)
	goBack(t, k, cells, notebook.ByReplay, 0, "log was open and has been changed since")
}
