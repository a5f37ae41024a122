//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Processes cannot reach an endpoint themselves: they have no network (full) or no right to connect
// (builtin). The filter notifies the guard of each connect(2). For the address of an endpoint the
// guard, outside the sandbox, resolves the host, connects, and puts the connected socket in place
// of the caller's. All other connections fail, also within the sandbox: no call continues that the
// guard has looked at, as the caller could meanwhile change its memory and its descriptors. It could
// disconnect a socket of the guard's, which has the machine's network, and connect it to elsewhere.
// For the same reason nothing may change the way that such a socket's packets take, or its port.

// connectWithin bounds a connection attempt. Meanwhile the caller can only be killed.
const connectWithin = 10 * time.Second

// reaches reports whether processes can connect to endpoints without having the network.
func (st stage) reaches() bool { return len(st.Box.Endpoints) > 0 && !st.Box.Net }

// askedConnects are the rules of a stage that reaches endpoints, which come before all others.
func (st stage) askedConnects() (rules []rule) {
	rules = append(rules, rule{call: unix.SYS_CONNECT, errno: askGuard})
	rules = append(rules, requests(socketRequests)...)
	rules = append(rules, requests(wirelessRequests)...)
	for call, flags := range map[uint32]int{unix.SYS_SENDTO: 3, unix.SYS_SENDMSG: 2,
		unix.SYS_SENDMMSG: 3} {
		rules = append(rules, rule{call, unix.EPERM, // it connects
			[]condition{{flags, unix.MSG_FASTOPEN, unix.MSG_FASTOPEN, false}}})
	}
	rules = append(rules, askedOpens()...) // of /etc/hosts
	if st.Box.Tier == Full {
		return rules
	}
	// The machine's own network: TCP sockets only, which do nothing before the guard connects them.
	for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
		const kind = 0xf // without SOCK_CLOEXEC and SOCK_NONBLOCK
		rules = append(rules,
			rule{unix.SYS_SOCKET, unix.EPERM,
				[]condition{is(0, family), {1, kind, unix.SOCK_STREAM, true}}},
			rule{unix.SYS_SOCKET, unix.EPERM,
				[]condition{is(0, family), isNot(2, 0), isNot(2, unix.IPPROTO_TCP)}})
	}
	// Without bind it would take any port; Landlock covers only bind.
	return append(rules, rule{call: unix.SYS_LISTEN, errno: askGuard})
}

// socketOptions are the options that sockets may have beside endpoints, by level.
var socketOptions = map[uint32][]uint32{
	unix.SOL_SOCKET: {unix.SO_REUSEADDR, unix.SO_REUSEPORT, unix.SO_KEEPALIVE, unix.SO_LINGER,
		unix.SO_BROADCAST, unix.SO_OOBINLINE, unix.SO_RCVLOWAT, unix.SO_RCVTIMEO, unix.SO_SNDTIMEO,
		unix.SO_PASSCRED},
	unix.IPPROTO_TCP: {unix.TCP_NODELAY, unix.TCP_CORK, unix.TCP_KEEPIDLE, unix.TCP_KEEPINTVL,
		unix.TCP_KEEPCNT, unix.TCP_SYNCNT, unix.TCP_LINGER2, unix.TCP_DEFER_ACCEPT,
		unix.TCP_QUICKACK, unix.TCP_WINDOW_CLAMP, unix.TCP_USER_TIMEOUT, unix.TCP_NOTSENT_LOWAT},
	unix.IPPROTO_IPV6: {unix.IPV6_V6ONLY},
}

// otherOptions refuses all socket options but socketOptions, with the error for options that a
// protocol lacks. Among them are routing headers, interfaces, inodes and filters. In a message TCP
// ignores those headers.
func otherOptions() (rules []rule) {
	levels := rule{call: unix.SYS_SETSOCKOPT, errno: unix.ENOPROTOOPT}
	for level, allowed := range socketOptions {
		levels.when = append(levels.when, isNot(1, level))
		options := rule{levels.call, levels.errno, []condition{is(1, level)}}
		for _, option := range allowed {
			options.when = append(options.when, isNot(2, option))
		}
		rules = append(rules, options)
	}
	return append(rules, levels)
}

// unixOnly refuses sockets of all families except Unix and, for endpoints, those of TCP.
func (st stage) unixOnly() []rule {
	others := []condition{isNot(0, unix.AF_UNIX)}
	sockets := others
	if st.reaches() {
		sockets = []condition{isNot(0, unix.AF_UNIX), isNot(0, unix.AF_INET), isNot(0, unix.AF_INET6)}
	}
	return []rule{{unix.SYS_SOCKET, unix.EPERM, sockets}, {unix.SYS_SOCKETPAIR, unix.EPERM, others}}
}

// answerConnect answers a notification about connect(2).
func (st stage) answerConnect(listener int, q *question) reply {
	address, ok := addressAt(int(q.pid), uintptr(q.arguments[1]), int(q.arguments[2]))
	if !ok {
		return q.refuse(unix.EPERM)
	}
	to, ok := endpoints(st.Box.Endpoints).at(address)
	if !ok {
		return q.refuse(unix.ENETUNREACH)
	}
	fd := int(int32(q.arguments[0]))
	socket, err := descriptorOf(int(q.pid), fd)
	if err != nil {
		return q.refuse(unix.EPERM)
	}
	defer unix.Close(socket)
	flags, err := unix.FcntlInt(uintptr(socket), unix.F_GETFL, 0)
	if err != nil {
		return q.refuse(unix.EPERM)
	}
	if kind, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_PROTOCOL); err != nil ||
		kind != unix.IPPROTO_TCP { // such as UDP, with which the C library orders addresses
		return q.refuse(unix.ENETUNREACH)
	}
	if errno := to.connectFor(listener, q.id, fd, flags); errno != 0 {
		return q.refuse(errno)
	}
	return reply{id: q.id}
}

// connectFor connects to the endpoint and installs the connection as descriptor fd of the process
// that waits for the answer to notification id.
func (e Endpoint) connectFor(listener int, id uint64, fd, flags int) unix.Errno {
	ctx, cancel := context.WithTimeout(context.Background(), connectWithin)
	defer cancel()
	d := net.Dialer{Control: func(network, address string, c syscall.RawConn) error {
		if err := e.permits(address); err != nil {
			return err
		}
		return keepPort(network, c)
	}}
	c, err := d.DialContext(ctx, "tcp", e.String())
	if err != nil {
		return errnoOf(err)
	}
	defer c.Close() // of this descriptor only
	file, err := c.(*net.TCPConn).File()
	if err != nil {
		return unix.EIO
	}
	defer file.Close()
	ours := int(file.Fd())
	if unix.SetNonblock(ours, flags&unix.O_NONBLOCK != 0) != nil {
		return unix.EIO
	}
	a := addition{id: id, flags: unix.SECCOMP_ADDFD_FLAG_SETFD, source: uint32(ours), newDescriptor: uint32(fd),
		newFlags: unix.O_CLOEXEC} // as Python makes all sockets
	_, errno := notify(listener, unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&a))
	return errno
}

// permits refuses that the name of a host leads to a cloud's metadata service.
func (e Endpoint) permits(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := to.Addr().Unmap().WithZone("")
	if literal, err := netip.ParseAddr(e.Host); err == nil && literal.Unmap().WithZone("") == ip {
		return nil
	}
	if Metadata(ip) {
		return unix.EACCES
	}
	return nil
}

// keepPort binds a socket to a port by its number. Linux takes any other port away when the server
// resets the connection, and who has the socket could then bind it to any port of the machine's.
func keepPort(network string, c syscall.RawConn) error {
	var err error
	failed := c.Control(func(fd uintptr) {
		for range 100 { // most ports are free
			port := ephemeral + rand.IntN(1<<16-ephemeral)
			var own unix.Sockaddr = &unix.SockaddrInet4{Port: port}
			if network == "tcp6" {
				own = &unix.SockaddrInet6{Port: port}
			}
			if err = unix.Bind(int(fd), own); !errors.Is(err, unix.EADDRINUSE) {
				return
			}
		}
	})
	return errors.Join(failed, err)
}

const ephemeral = 49152 // the first port that belongs to no service (RFC 6335)

// errnoOf returns the error of connect(2) that says the same.
func errnoOf(err error) unix.Errno {
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return errno
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return unix.ETIMEDOUT
	}
	return unix.EHOSTUNREACH // its name leads nowhere
}

// answerListen answers a notification about listen(2) in builtin: only Unix sockets may listen. The
// guard calls it, on the very socket that it has looked at.
func answerListen(q *question) reply {
	socket, err := descriptorOf(int(q.pid), int(int32(q.arguments[0])))
	if err != nil {
		return q.refuse(unix.EPERM)
	}
	defer unix.Close(socket)
	family, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil || family != unix.AF_UNIX {
		return q.refuse(unix.EPERM)
	}
	if err := unix.Listen(socket, int(int32(q.arguments[1]))); err != nil {
		return q.refuse(errnoOf(err))
	}
	return reply{id: q.id}
}

// descriptorOf returns a duplicate of a thread's descriptor. The caller must close it.
func descriptorOf(thread, fd int) (duplicate int, err error) {
	pidfd, err := unix.PidfdOpen(processOf(thread), 0) // process 0 is none
	if err != nil {
		return -1, err
	}
	defer unix.Close(pidfd)
	return unix.PidfdGetfd(pidfd, fd, 0)
}

// addressAt returns the IP address and port in a struct sockaddr of a process.
func addressAt(pid int, at uintptr, size int) (netip.AddrPort, bool) {
	content := memoryAt(pid, at, max(1, min(size, unix.SizeofSockaddrInet6)))
	if len(content) < unix.SizeofSockaddrInet4 || len(content) < min(size, unix.SizeofSockaddrInet6) {
		return netip.AddrPort{}, false
	}
	port := binary.BigEndian.Uint16(content[2:])
	switch binary.NativeEndian.Uint16(content) {
	case unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(content[4:8])), port), true
	case unix.AF_INET6:
		if len(content) >= unix.SizeofSockaddrInet6 {
			return netip.AddrPortFrom(netip.AddrFrom16([16]byte(content[8:24])), port), true
		}
	}
	return netip.AddrPort{}, false
}

// answerHosts answers a notification about opening /etc/hosts, which is that of the endpoints.
func (st stage) answerHosts(listener int, q *question) reply {
	file, err := unix.MemfdCreate("hosts", unix.MFD_CLOEXEC)
	if err != nil {
		return q.goOn()
	}
	defer unix.Close(file)
	if _, err := unix.Pwrite(file, []byte(endpoints(st.Box.Endpoints).hosts()), 0); err != nil {
		return q.goOn()
	}
	read, err := unix.Open("/proc/self/fd/"+strconv.Itoa(file), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return q.goOn()
	}
	defer unix.Close(read)
	return install(listener, q, read)
}
