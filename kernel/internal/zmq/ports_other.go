//go:build !linux

package zmq

import (
	"io"
	"net"
)

// sharesPorts reports whether a kernel can bind a port while bindPort has it bound.
const sharesPorts = false

// bindPort binds a socket to a free port of an IPv4 address. The caller must close it.
func bindPort(ip string) (io.Closer, int, error) {
	l, err := net.Listen("tcp", ip+":0")
	if err != nil {
		return nil, 0, err
	}
	return l, l.Addr().(*net.TCPAddr).Port, nil
}
