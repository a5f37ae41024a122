package zmq

import (
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// sharesPorts reports whether a kernel can bind a port while bindPort has it bound.
const sharesPorts = true

// bindPort binds a socket, which does not listen, to a free port of an IPv4 address. The caller
// must close it.
func bindPort(ip string) (io.Closer, int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, 0, os.NewSyscallError("socket", err)
	}
	s := os.NewFile(uintptr(fd), "port")
	addr := &unix.SockaddrInet4{Addr: [4]byte(net.ParseIP(ip).To4())}
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if err == nil {
		err = unix.Bind(fd, addr)
	}
	var bound unix.Sockaddr
	if err == nil {
		bound, err = unix.Getsockname(fd)
	}
	if err != nil {
		s.Close()
		return nil, 0, os.NewSyscallError("bind", err)
	}
	return s, bound.(*unix.SockaddrInet4).Port, nil
}
