package rewind

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// TestReplacedInMidRun has cells put links and pipes in the place of Scratch, and in it. Going back
// works, and nothing outside is read, written or removed.
func TestReplacedInMidRun(t *testing.T) {
	t.Parallel()
	for way, spec := range map[string]kernel.Spec{"replay": kernel.PythonSpec(pyenvtest.Python(t)),
		"checkpoint": checkpointSpec(t)} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			outside, check := kerneltest.Secret(t)
			o := plain(t)
			o.Dir = filepath.Join(o.Dir, "run")
			o.Spec, o.Scratch = spec, filepath.Join(o.Dir, "files")
			ok(t, os.Mkdir(o.Dir, 0o755))
			k := open(t, o)
			cells := []string{"import os\nfiles, outside = " + `"` + o.Scratch + `", "` + outside + `"` +
				"\nopen(files + '/a.txt', 'w').write('1')"}
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
				kerneltest.Within(t, "going back", func() {
					back, err := k.Rollback(t.Context(), cells)
					if err != nil || len(back.Executions) != 1 || back.Executions[0].Status != notebook.OK {
						t.Fatalf("%s\n%v %+v", attack, err, back)
					}
				})
				b, err := disk.ReadFile(filepath.Join(o.Scratch, "a.txt"), 10)
				left, e := filepath.Glob(o.Scratch + "/*")
				if err := errors.Join(err, e); err != nil || string(b) != "1" || len(left) != 1 {
					t.Errorf("%s\na.txt: %q, %v, %q", attack, b, err, left)
				}
				check()
			}
			// The folder around them: the session cannot go back, and what the link leads to stays as it is.
			runCell(t, k, "run = os.path.dirname(files)\nos.rename(run, run + '.moved')\n"+
				"os.symlink(outside, run)", notebook.OK)
			kerneltest.Within(t, "going back", func() {
				if back, err := k.Rollback(t.Context(), cells); err == nil {
					t.Errorf("%+v", back)
				}
			})
			check()
		})
	}
}
