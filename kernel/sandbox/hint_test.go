package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestHint(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no box has paths of this kind")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(base, "home"))
	for _, name := range []string{"data/x.csv", "data/closed.csv", "home/a b/key", "home/.ssh/id_rsa",
		"home/aws-credentials.csv", "run/files/x.txt", "private/tmp/y", "library/l.py"} {
		file := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(base, "data/closed.csv"), 0); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"data/link.csv": "../home/a b/key",
		"data/near.csv": "x.csv", "linked": "data", "data/ssh": "../home/.ssh",
		"run/files/key": "../../home/a b/key"} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	builtin := Box{Tier: Builtin, Read: []string{base + "/linked", base + "/gone",
		"/dev/shm/gone/data"}, Write: []string{base + "/library"},
		Limits: Limits{Memory: 4 << 30, File: 2 << 30, Processes: 256}}
	full, net, shared, gpu := builtin, builtin, builtin, builtin
	full.Tier, net.Net, shared.Multiprocessing, gpu.GPU = Full, true, true, true
	const (
		eperm, eacces, erofs, enoent = "[Errno 1] Operation not permitted",
			"[Errno 13] Permission denied", "[Errno 30] Read-only file system",
			"[Errno 2] No such file or directory"
		offline = "the network is off; allow it with --allow-net"
		sharing = "processes that share memory are off; allow them with --allow-multiprocessing"
		lib     = "File \x1b[32m/usr/lib/python3.11/"
		outside = "BASE/home/a b/key is outside the data and the run folder; allow it with --allow-read 'BASE/home/a b/key', or --allow-write for a folder"
	)
	for _, c := range []struct {
		box                      Box
		name, value, trace, want string
	}{
		{builtin, "PermissionError", eperm, lib + "socket.py:232\x1b[39m, in socket.__init__", offline},
		{builtin, "PermissionError", eperm, "File \"/usr/lib/python3.11/socket.py\", line 232", offline},
		{builtin, "URLError", "<urlopen error " + eperm + ">", lib + "socket.py:232", offline},
		{full, "gaierror", "[Errno -3] Temporary failure in name resolution", "", offline},
		{full, "URLError", "<urlopen error [Errno -3] Temporary failure in name resolution>", "",
			offline},
		{net, "gaierror", "[Errno -3] Temporary failure in name resolution", "", ""},
		{net, "PermissionError", eperm, lib + "socket.py:232", ""},
		// A word of the user's is none of the library's.
		{builtin, "PermissionError", eperm + ": 'x'", "socket = os.open('x')", ""},
		{builtin, "PermissionError", eperm, "File \"/home/u/my_socket.py\"", ""},
		{builtin, "PermissionError", eacces + ": 'BASE/home/a b/key'", "socket = open(shared_memory)\n" +
			lib + "socket.py:232", outside},
		// A file outside.
		{builtin, "PermissionError", eacces + ": 'BASE/home/a b/key'", "", outside},
		{full, "FileNotFoundError", enoent + ": 'BASE/home/a b/key'", "", outside},
		{builtin, "FileNotFoundError", enoent + ": 'BASE/home/a b/key'", "", ""},
		{full, "FileNotFoundError", enoent + ": 'BASE/home/a b/no'", "", ""},
		{full, "FileNotFoundError", enoent + ": '/no/such/file'", "", ""},
		{builtin, "PermissionError", eacces + ": 'BASE/home/new'", "",
			"BASE/home/new is outside the data and the run folder; allow it with --allow-read BASE/home/new, or --allow-write for a folder"},
		{builtin, "PermissionError", eacces + ": 'BASE/home'", "",
			"BASE/home has all that is yours; allow what is needed of it with --allow-read PATH"},
		{full, "FileNotFoundError", enoent + ": 'BASE'", "",
			"BASE has all that is yours; allow what is needed of it with --allow-read PATH"},
		{builtin, "PermissionError", eacces + ": '/proc/1/environ'", "", ""},
		{builtin, "PermissionError", eacces + ": '/usr/lib/new'", "",
			"/usr/lib/new is read-only; write to the current folder"},
		// Where a hint may be steered to what is private (a cell can raise what it likes).
		{builtin, "PermissionError", eacces + ": 'BASE/home/.ssh/id_rsa'", "",
			"BASE/home/.ssh/id_rsa is hidden, the system's or may hold credentials; cells are not meant to use it"},
		{builtin, "PermissionError", eacces + ": 'BASE/home/.ssh'", "",
			"BASE/home/.ssh is hidden, the system's or may hold credentials; cells are not meant to use it"},
		{builtin, "PermissionError", eacces + ": 'BASE/data/ssh'", "",
			"BASE/home/.ssh is hidden, the system's or may hold credentials; cells are not meant to use it"},
		{full, "FileNotFoundError", enoent + ": 'BASE/home/aws-credentials.csv'", "",
			"BASE/home/aws-credentials.csv is hidden, the system's or may hold credentials; cells are not meant to use it"},
		{builtin, "PermissionError", eacces + ": '/etc/shadow'", "",
			"/etc/shadow is hidden, the system's or may hold credentials; cells are not meant to use it"},
		// In the data.
		{builtin, "PermissionError", eacces + ": 'BASE/data/x.csv'", "",
			"BASE/data/x.csv is read-only; write to the current folder"},
		{builtin, "PermissionError", eacces + ": 'BASE/linked/x.csv'", "",
			"BASE/linked/x.csv is read-only; write to the current folder"},
		{builtin, "PermissionError", eacces + ": 'BASE/data/near.csv'", "",
			"BASE/data/near.csv is read-only; write to the current folder"},
		{builtin, "PermissionError", eacces + ": 'BASE/data/new/a'", "",
			"BASE/data/new/a is read-only; write to the current folder"},
		{full, "OSError", erofs + ": 'BASE/data/../data/x.csv'", "",
			"BASE/data/x.csv is read-only; write to the current folder"},
		{full, "FileNotFoundError", enoent + ": 'BASE/data/no.csv'", "", ""},
		{builtin, "PermissionError", eacces + ": 'BASE/data/link.csv'", "", outside},
		{full, "FileNotFoundError", enoent + ": 'BASE/data/link.csv'", "", outside},
		// A file's own mode is nobody's fault here, but Errno 30 is about writing.
		{builtin, "PermissionError", eacces + ": 'BASE/data/closed.csv'", "", ""},
		{full, "OSError", erofs + ": 'BASE/data/closed.csv'", "",
			"BASE/data/closed.csv is read-only; write to the current folder"},
		// In the session's own folders.
		{builtin, "PermissionError", eacces + ": 'BASE/run/files/x.txt'", "", ""},
		{builtin, "PermissionError", eacces + ": 'BASE/run/files/no/x.txt'", "", ""},
		{full, "FileNotFoundError", enoent + ": 'BASE/private/tmp/y'", "", ""},
		{builtin, "PermissionError", eacces + ": 'BASE/library/l.py'", "", ""},
		{builtin, "PermissionError", eacces + ": 'BASE/run/files/key'", "", outside},
		{builtin, "PermissionError", eacces + ": 'x.txt'", "", ""},
		{builtin, "PermissionError", eacces + ": '../x.csv'", "",
			"../x.csv is in a folder that is read-only; allow it with --allow-write FOLDER"},
		{builtin, "PermissionError", eacces + ": '../data/x.csv'", "",
			"../data/x.csv is in a folder that is read-only; allow it with --allow-write FOLDER"},
		{builtin, "PermissionError", eacces + ": '../home/a b/key'", "", outside},
		{builtin, "PermissionError", eacces + ": '../data/closed.csv'", "", ""},
		{full, "OSError", erofs + ": '../home/a b/key'", "",
			"../home/a b/key is in a folder that is read-only; allow it with --allow-write FOLDER"},
		{full, "FileNotFoundError", enoent + ": 'no.csv'", "", ""},
		// Other things.
		{builtin, "PermissionError", eacces + ": '/psm_1'", lib + "multiprocessing/shared_memory.py:104",
			sharing},
		{builtin, "PermissionError", eacces, lib + "multiprocessing/synchronize.py:57", sharing},
		{builtin, "PermissionError", eacces + ": '/dev/shm/x'", "", sharing},
		{builtin, "PermissionError", eacces + ": '/dev/shm/gone/data/x'", "", ""},
		{full, "PermissionError", eacces, lib + "multiprocessing/synchronize.py:57", ""},
		{shared, "PermissionError", eacces, lib + "multiprocessing/synchronize.py:57", ""},
		{full, "RuntimeError", "No CUDA GPUs are available", "",
			"graphics processors are off; allow them with --allow-gpu"},
		{gpu, "RuntimeError", "No CUDA GPUs are available", "", ""},
		{builtin, "MemoryError", "", "", "the code may use 4.0 GB of memory; raise it with --max-memory"},
		{builtin, "OSError", "[Errno 27] File too large", "",
			"a file may have 2.0 GB; raise it with --max-file"},
		{builtin, "RuntimeError", "can't start new thread", "",
			"there may be 256 processes and threads; raise it with --max-processes"},
		{builtin, "ValueError", "bad", "", ""},
		{Box{Tier: Off}, "MemoryError", "", "", ""},
	} {
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
