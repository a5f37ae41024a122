package kernel

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"dsstar/kernel/internal/zmq"
)

// A socket is dialled only if the kernel has created it: a link may lead to another program's.
func TestBoundReplaced(t *testing.T) {
	dir, err := privateDir()
	ok(t, err)
	defer os.RemoveAll(dir)
	c := zmq.File{Transport: "ipc", IP: filepath.Join(dir, "k"), ShellPort: 1, IOPubPort: 2,
		StdinPort: 3, ControlPort: 4, HBPort: 5}
	for _, port := range []string{"other", "k-1", "k-2", "k-4"} {
		l := must(net.Listen("unix", filepath.Join(dir, port)))
		defer l.Close()
	}
	if !c.Bound("") {
		t.Fatal("the kernel listens")
	}
	for _, port := range []string{"k-1", "k-2", "k-3", "k-4"} {
		path := filepath.Join(dir, port)
		for name, put := range map[string]func() error{
			"link": func() error { return os.Symlink("other", path) },
			"file": func() error { return os.WriteFile(path, nil, 0o600) },
			"pipe": func() error { return syscall.Mkfifo(path, 0o600) },
		} {
			_ = os.Rename(path, path+".kept")
			ok(t, put())
			if c.Bound("") {
				t.Errorf("%s is a %s, and is dialled", port, name)
			}
			_ = os.Remove(path)
			_ = os.Rename(path+".kept", path)
		}
	}
}
