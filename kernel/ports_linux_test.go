package kernel

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dsstar/kernel/pyenv/pyenvtest"
)

// Until a kernel is ready nobody else can be given its ports, and ZeroMQ can bind them.
func TestPortsAreHeld(t *testing.T) {
	t.Parallel()
	o, p := Options{Spec: Spec{Argv: []string{"other"}}}, ports{share: true}
	c, err := newConnection(t.TempDir(), o, &p)
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	all := map[int]bool{}
	for _, port := range []int{c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HBPort} {
		all[port] = true
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != unix.EADDRINUSE {
			t.Errorf("port %d could be bound by another program: %v", port, err)
		}
		_ = unix.Close(fd)
		const bind = "import sys, zmq; zmq.Context().socket(zmq.ROUTER).bind('tcp://127.0.0.1:' + sys.argv[1])"
		if out, err := exec.CommandContext(t.Context(), testPython(t), "-c", bind, strconv.Itoa(port)).CombinedOutput(); err != nil {
			t.Errorf("ZeroMQ cannot bind: %v\n%s", err, out)
		}
	}
	if len(all) != 5 {
		t.Errorf("ports %v", all)
	}
	p.release()
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.ShellPort)))
	if err != nil {
		t.Fatal("still held: ", err)
	}
	l.Close()
}

// A kernel that cannot bind a port which is bound elsewhere, too, is started again without.
func TestPortsNotShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "other")
	tries := filepath.Join(dir, "tries")
	const code = `import json, socket, sys
open(sys.argv[2], 'a').write('x')
socket.socket().bind(('127.0.0.1', json.load(open(sys.argv[1]))['shell_port']))
from ipykernel.kernelapp import launch_new_instance
launch_new_instance(['-f', sys.argv[1]])`
	text := "#!/bin/sh\nexec " + testPython(t) + " -c \"" + code + "\" \"$1\" " + tries + "\n"
	pyenvtest.WriteProgram(t, script, []byte(text))
	o := options(t)
	o.Spec = Spec{Name: "other", Argv: []string{script, "{connection_file}"}}
	prints(t, open(t, o), "1 + 1", "2")
	if b, err := os.ReadFile(tries); err != nil || strings.Count(string(b), "x") != 2 {
		t.Errorf("tries %q, %v", b, err)
	}
}

// A kernel that dies for a reason of its own is started twice, and the first try tells the reason: the
// second may have met another program on one of its ports.
func TestPortsFirstReason(t *testing.T) {
	t.Parallel()
	tries := filepath.Join(t.TempDir(), "tries")
	o := options(t)
	o.Spec = Spec{Name: "other", Argv: []string{"/bin/sh", "-c", `echo x >>"$0"; echo died of $(grep -c x "$0") >&2; exit 3`, tries, "{connection_file}"}}
	k, err := Start(t.Context(), o)
	if err == nil {
		k.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "died of 1") {
		t.Error(err)
	}
	if b, err := os.ReadFile(tries); err != nil || strings.Count(string(b), "x") != 2 {
		t.Errorf("tries %q, %v", b, err)
	}
}
