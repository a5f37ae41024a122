package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
)

func must[T any](value T, err error) T { return pyenvtest.Must(value, err) }

func TestHint(t *testing.T) {
	base := must(filepath.EvalSymlinks(t.TempDir()))
	t.Setenv("HOME", filepath.Join(base, "home"))
	for _, name := range []string{"data/x.csv", "data/closed.csv", "home/a b/key", "home/.ssh/id_rsa",
		"home/aws-credentials.csv", "run/files/x.txt", "private/tmp/y", "library/l.py"} {
		file := filepath.Join(base, name)
		pyenvtest.OK(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
			os.WriteFile(file, nil, 0o644)))
	}
	pyenvtest.OK(t, os.Chmod(filepath.Join(base, "data/closed.csv"), 0))
	for link, to := range map[string]string{"data/link.csv": "../home/a b/key",
		"data/near.csv": "x.csv", "linked": "data", "data/ssh": "../home/.ssh",
		"run/files/key": "../../home/a b/key"} {
		pyenvtest.OK(t, os.Symlink(to, filepath.Join(base, link)))
	}
	builtin := Box{Tier: Builtin, Read: []string{base + "/linked", base + "/gone",
		"/dev/shm/gone/data"}, Write: []string{base + "/library"},
		Limits: Limits{Memory: 4e9, File: 2.5e9, Processes: 256}}
	full, net, shared, gpu := builtin, builtin, builtin, builtin
	full.Tier, net.Net, shared.Multiprocessing, gpu.GPU = Full, true, true, true
	const (
		denied, missing = "PermissionError", "FileNotFoundError"
		eperm, eacces   = "[Errno 1] Operation not permitted", "[Errno 13] Permission denied"
		erofs, enoent   = "[Errno 30] Read-only file system", "[Errno 2] No such file or directory"
		lookup          = "[Errno -3] Temporary failure in name resolution"
		offline         = "the network is off; allow it with --allow-net"
		sharing         = "processes that share memory are off; allow them with --allow-multiprocessing"
		lib             = "File \x1b[32m/usr/lib/python3.11/"
		outside         = "BASE/home/a b/key is outside the data and the run folder; " +
			"allow it with --allow-read 'BASE/home/a b/key', or --allow-write for a folder"
		all     = " has all that is yours; allow what is needed of it with --allow-read PATH"
		private = " is hidden, the system's or may hold credentials; cells are not meant to use it"
		current = " is read-only; write to the current folder"
		folder  = " is in a folder that is read-only; allow it with --allow-write FOLDER"
	)
	for _, c := range []struct {
		box                            Box
		name, value, path, trace, want string
	}{
		{builtin, denied, eperm, "", lib + "socket.py:232\x1b[39m, in socket.__init__", offline},
		{full, "gaierror", lookup, "", "", offline},
		{net, "gaierror", lookup, "", "", ""},
		// A word in the user's code is not the library's.
		{builtin, denied, eperm, "x", "socket = os.open('x')", ""},
		{builtin, denied, eacces, "BASE/home/a b/key", "socket = open(shared_memory)\n" +
			lib + "socket.py:232", outside},
		{builtin, denied, eacces, "/psm_1", lib + "multiprocessing/shared_memory.py:104", sharing},
		{shared, denied, eacces, "", lib + "multiprocessing/synchronize.py:57", ""},
		{full, "RuntimeError", "No CUDA GPUs are available", "", "",
			"graphics processors are off; allow them with --allow-gpu"},
		{gpu, "RuntimeError", "No CUDA GPUs are available", "", "", ""},
		{builtin, "MemoryError", "", "", "",
			"the code may use 4 GB of memory; read the data in parts, or raise it with --max-memory"},
		{builtin, "OSError", "[Errno 27] File too large", "", "",
			"a file may have 2.5 GB; raise it with --max-file"},
		{builtin, "RuntimeError", "can't start new thread", "", "",
			"there may be 256 processes and threads; raise it with --max-processes"},
		{Box{Tier: Off}, "MemoryError", "", "", "", ""},
		// A file outside.
		{builtin, denied, eacces, "BASE/home/a b/key", "", outside},
		{full, missing, enoent, "BASE/home/a b/key", "", outside},
		{builtin, missing, enoent, "BASE/home/a b/key", "", ""},
		{builtin, denied, eacces, "BASE/home", "", "BASE/home" + all},
		{full, missing, enoent, "BASE", "", "BASE" + all},
		{builtin, denied, eacces, "/proc/1/environ", "", ""},
		{builtin, denied, eacces, "/usr/lib/new", "", "/usr/lib/new" + current},
		// A cell can raise anything to steer a hint to private files.
		{builtin, denied, eacces, "BASE/home/.ssh/id_rsa", "", "BASE/home/.ssh/id_rsa" + private},
		{builtin, denied, eacces, "BASE/data/ssh", "", "BASE/home/.ssh" + private},
		{builtin, denied, eacces, "/etc/shadow", "", "/etc/shadow" + private},
		// In the data.
		{builtin, denied, eacces, "BASE/data/x.csv", "", "BASE/data/x.csv" + current},
		{builtin, denied, eacces, "BASE/data/near.csv", "", "BASE/data/near.csv" + current},
		{full, "OSError", erofs, "BASE/data/../data/x.csv", "", "BASE/data/x.csv" + current},
		{builtin, denied, eacces, "BASE/data/link.csv", "", outside},
		// A file's own mode is not the box's doing, but Errno 30 is about writing.
		{builtin, denied, eacces, "BASE/data/closed.csv", "", ""},
		{full, "OSError", erofs, "BASE/data/closed.csv", "", "BASE/data/closed.csv" + current},
		// In the session's own folders.
		{builtin, denied, eacces, "BASE/run/files/x.txt", "", ""},
		{builtin, denied, eacces, "BASE/library/l.py", "", ""},
		{builtin, denied, eacces, "BASE/run/files/key", "", outside},
		{builtin, denied, eacces, "x.txt", "", ""},
		{builtin, denied, eacces, "../data/x.csv", "", "../data/x.csv" + folder},
		{full, "OSError", erofs, "../home/a b/key", "", "../home/a b/key" + folder},
		{builtin, denied, eacces, "/dev/shm/x", "", sharing},
		{builtin, denied, eacces, "/dev/shm/gone/data/x", "", ""},
	} {
		if c.path != "" {
			c.value += ": '" + c.path + "'"
		}
		fill := strings.NewReplacer("BASE", base).Replace
		if c.want != "" {
			c.want = "dsstar sandbox: " + fill(c.want)
		}
		if got := c.box.Hint(c.name, fill(c.value), c.trace, filepath.Join(base, "run"),
			filepath.Join(base, "run/files"), filepath.Join(base, "private")); got != c.want {
			t.Errorf("%s %s in %s:\n%q, want\n%q", c.name, c.value, c.box.Tier, got, c.want)
		}
	}
}

func TestDeath(t *testing.T) {
	b := Box{Tier: Builtin, Limits: Limits{Memory: 5e6}}
	if got := b.Death("killed by signal 11 (SIGSEGV)"); !strings.Contains(got, "of which it has 5 MB") {
		t.Error(got)
	}
	for how, b := range map[string]Box{"killed by signal 9 (SIGKILL)": b, "killed by signal 11 (SIGSEGV)": {}} {
		if got := b.Death(how); got != how {
			t.Error(got)
		}
	}
}

// The notebook records everything that is relaxed, and nothing else.
func TestDescribe(t *testing.T) {
	for want, b := range map[string]Box{
		"full":     {Tier: Full, Multiprocessing: true},
		"builtin":  {Tier: Builtin, Limits: Limits{Memory: 1e9, Processes: 1000}},
		"off":      {Tier: Off, Net: true, Read: []string{"/a"}},
		"external": {Tier: External},
		"builtin, network allowed, graphics processors allowed, multiprocessing allowed, " +
			"may read /a, may read /b, may write /c, has A and B": {
			Tier: Builtin, Net: true, GPU: true, Multiprocessing: true, Read: []string{"/a", "/b"},
			Write: []string{"/c"}, Env: []string{"A", "B"}},
	} {
		if got := b.Describe(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Startup finds paths that programs run or trust when they start, the folders around them, and
// paths inside them.
func TestStartup(t *testing.T) {
	base := t.TempDir()
	home, bin := filepath.Join(base, "home"), filepath.Join(base, "programs")
	for _, dir := range []string{home + "/project/out", home + "/.ssh", bin} {
		pyenvtest.OK(t, os.MkdirAll(dir, 0o700))
	}
	pyenvtest.OK(t, os.Symlink(home, filepath.Join(base, "link")))
	t.Setenv("HOME", home)
	t.Setenv("PATH", bin+":bin")
	for path, want := range map[string]bool{
		home: true, base: true, "/": true, base + "/link": true, home + "/.ssh": true,
		home + "/.config/autostart": true, home + "/.local": true,
		bin: true, bin + "/more": true, "/etc": true, "/usr/local/lib": true,
		home + "/project": false, home + "/project/out": false, home + "/.cache": false,
		"/srv/data": false,
	} {
		if at := Startup(path); (at != "") != want {
			t.Errorf("%s: %q", path, at)
		}
	}
}
