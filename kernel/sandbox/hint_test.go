package sandbox

import "testing"

func TestHint(t *testing.T) {
	builtin := Box{Tier: Builtin, Read: []string{"/data"}, Limits: Limits{Memory: 4 << 30, File: 2 << 30, Processes: 256}}
	full := builtin
	full.Tier = Full
	net := builtin
	net.Net = true
	gpu := full
	gpu.GPU = true
	const outside = "/home/a b/key is outside the data and the run folder; allow it with --allow-read '/home/a b/key', or --allow-write for a folder"
	for _, c := range []struct {
		box                      Box
		name, value, trace, want string
	}{
		{builtin, "PermissionError", "[Errno 1] Operation not permitted", "socket.py", "the network is off; allow it with --allow-net"},
		{full, "gaierror", "[Errno -3] Temporary failure in name resolution", "", "the network is off; allow it with --allow-net"},
		{full, "URLError", "<urlopen error [Errno -3] Temporary failure in name resolution>", "", "the network is off; allow it with --allow-net"},
		{net, "gaierror", "[Errno -3] Temporary failure in name resolution", "", ""},
		{builtin, "PermissionError", "[Errno 13] Permission denied: '/home/a b/key'", "", outside},
		{full, "FileNotFoundError", "[Errno 2] No such file or directory: '/home/a b/key'", "", outside},
		{builtin, "FileNotFoundError", "[Errno 2] No such file or directory: '/home/a b/key'", "", ""},
		{builtin, "PermissionError", "[Errno 13] Permission denied: '/data/x.csv'", "", "/data/x.csv is read-only; write to the current folder"},
		{full, "OSError", "[Errno 30] Read-only file system: '/data/../data/x.csv'", "", "/data/x.csv is read-only; write to the current folder"},
		{builtin, "PermissionError", "[Errno 13] Permission denied: '../x.csv'", "", "../x.csv is in a folder that is read-only; allow it with --allow-write FOLDER"},
		{builtin, "PermissionError", "[Errno 13] Permission denied: '/psm_1'", "shared_memory.py", "processes that share memory are off; allow them with --allow-multiprocessing"},
		{full, "RuntimeError", "No CUDA GPUs are available", "", "graphics processors are off; allow them with --allow-gpu"},
		{gpu, "RuntimeError", "No CUDA GPUs are available", "", ""},
		{builtin, "MemoryError", "", "", "the code may use 4.0 GB of memory; raise it with --max-memory"},
		{builtin, "OSError", "[Errno 27] File too large", "", "a file may have 2.0 GB; raise it with --max-file"},
		{builtin, "RuntimeError", "can't start new thread", "", "there may be 256 processes and threads; raise it with --max-processes"},
		{builtin, "ValueError", "bad", "", ""},
		{Box{Tier: Off}, "MemoryError", "", "", ""},
	} {
		if c.want != "" {
			c.want = "dsstar sandbox: " + c.want
		}
		if got := c.box.Hint(c.name, c.value, c.trace); got != c.want {
			t.Errorf("%s %s in %s: %q, want %q", c.name, c.value, c.box.Tier, got, c.want)
		}
	}
}
