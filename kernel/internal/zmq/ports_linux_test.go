package zmq

import (
	"net"
	"os/exec"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"dsstar/kernel/pyenv/pyenvtest"
)

// Until a kernel is ready, no other program can get its ports, but ZeroMQ can bind them.
func TestPortsAreHeld(t *testing.T) {
	t.Parallel()
	p := Ports{Share: true}
	c, err := NewFile("other", t.TempDir(), true, false, &p)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	all := map[int]bool{}
	for _, port := range []int{c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HBPort} {
		all[port] = true
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port,
			Addr: [4]byte{127, 0, 0, 1}}); err != unix.EADDRINUSE {
			t.Errorf("port %d could be bound by another program: %v", port, err)
		}
		_ = unix.Close(fd)
		const bind = "import sys, zmq; zmq.Context().socket(zmq.ROUTER).bind('tcp://127.0.0.1:' + sys.argv[1])"
		if out, err := exec.CommandContext(t.Context(), pyenvtest.Python(t), "-c", bind,
			strconv.Itoa(port)).CombinedOutput(); err != nil {
			t.Errorf("ZeroMQ cannot bind: %v\n%s", err, out)
		}
	}
	if len(all) != 5 {
		t.Errorf("ports %v", all)
	}
	p.Release()
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.ShellPort)))
	if err != nil {
		t.Fatal("still held: ", err)
	}
	l.Close()
}
