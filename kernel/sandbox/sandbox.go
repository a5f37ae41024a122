// Package sandbox confines processes that run code written by a model and reviewed by nobody.
//
// There are two tiers. [Builtin] needs only Linux 5.13: Landlock for files and signals, a seccomp
// filter for the network and other system calls, no capabilities, resource limits, and a guard that
// watches the process tree and kills it. [Full] adds namespaces. If any part cannot be set
// up, nothing runs and the caller gets an error.
//
// A sandboxed process is the last of a chain: the guard (this executable, started again), in the
// full tier process 1 of the namespaces, and the target program, which this executable becomes
// after giving up its rights. A program that uses this package must call [Main] first.
package sandbox

import (
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"dsstar/kernel/internal/guard"
)

// A Tier is a level of confinement.
type Tier string

const (
	Off      Tier = "off"      // no confinement
	External Tier = "external" // whatever already confines dsstar itself
	Builtin  Tier = "builtin"  // Landlock, seccomp, no capabilities, limits, the guard
	Full     Tier = "full"     // the same, inside namespaces
)

// Confines reports whether a command of the tier is confined by this package and runs under a
// guard, which kills all its descendants.
func (t Tier) Confines() bool { return t == Builtin || t == Full }

// Limits bound the processes of a box together, except File.
type Limits struct {
	Memory    int64 // bytes of memory, of each process and of all together
	Processes int   // processes and threads
	File      int64 // bytes of one file
	Folder    int64 // bytes in the writable folders
}

// A Box is the configuration of a sandbox. The zero value confines nothing.
type Box struct {
	Tier  Tier
	Read  []string // readable files and folders, besides what a Python needs
	Write []string // writable folders, besides those of the session
	// Own are the caller's folders. A Read or Write folder around them gives no access to them; only
	// paths inside them that Read, Write or the command name are accessible.
	Own     []string
	Env     []string // environment variables to keep, besides the harmless ones
	Secrets []string // those of Env whose values are written to no file
	Net     bool     // allow the network
	// Endpoints can be connected to even if the network is not allowed.
	Endpoints       []Endpoint
	GPU             bool // allow graphics processors
	Multiprocessing bool // in the builtin tier: make /dev/shm writable and all of /proc readable
	Limits          Limits
}

// A Session is the configuration of one command in a [Box]:
//
//	Private string    // writable folder for sockets, home and temporary files
//	Write   []string  // writable folders; missing ones are created
//	Env     []string  // environment variables to keep, besides those of the box
//	Reports bool      // the guard writes why it killed the processes to descriptor 3, not to standard error
//	Listens bool      // in the builtin tier: the program may bind sockets
//	Facts   bool      // if /proc is hidden: processes may read the entries of those of the session
type Session = guard.Session

// Stopped begins the line in which a guard says why it killed the processes. On standard error, any
// process can have written such a line; see [Session.Reports].
const Stopped = "dsstar stopped the code: "

// ErrNone is wrapped by the error of [Choose] if the tier does not work here.
var ErrNone = errors.New("no sandbox works here")

// ErrProcesses is wrapped by the error of [Choose] if a tier could not be tried.
var ErrProcesses = errors.New("too many processes run here to start another")

// ErrNoLandlock is wrapped by the error of [Choose] if Linux has no Landlock.
var ErrNoLandlock = errors.New("this Linux has no Landlock: it came with 5.13 and may be switched off")

// A MissingError says why a tier does not work here.
type MissingError struct {
	Tier Tier
	Err  error
}

func (e *MissingError) Error() string { return e.Err.Error() }
func (e *MissingError) Unwrap() error { return e.Err }

func isMissing(err error) bool {
	_, ok := errors.AsType[*MissingError](err)
	return ok
}

// Choose returns the tier that wanted names, or the strongest that works here if it is "auto". why
// then says what prevents a stronger one, "" if nothing does. If the tier does not work here, the
// error wraps [ErrNone] and a [MissingError]. Any other error may pass, and is no reason for a weaker
// tier.
func Choose(wanted string) (tier Tier, why string, err error) {
	switch wanted {
	case string(Off), string(External):
		return Tier(wanted), "", nil
	case string(Full):
		if err = builtinWorks(); err == nil { // full builds on builtin
			err = fullWorks()
		}
		if isMissing(err) {
			err = fmt.Errorf("%w: %w", ErrNone, err)
		}
		return Full, "", err
	case string(Builtin), "auto":
		if err = builtinWorks(); err != nil {
			return "", "", fmt.Errorf("%w: %w", ErrNone, err)
		}
		if wanted == string(Builtin) {
			return Builtin, "", nil
		}
		if err = fullWorks(); isMissing(err) {
			return Builtin, err.Error(), nil
		}
		return Full, "", err
	}
	return "", "", fmt.Errorf("there is no sandbox %q", wanted)
}

// Describe names the tier and what cells may do beyond it, in one line.
func (b Box) Describe() string {
	words := []string{string(b.Tier)}
	if !b.Tier.Confines() {
		return words[0]
	}
	add := func(relaxed bool, format string, args ...any) {
		if relaxed {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(b.Net, "network allowed")
	for _, e := range b.Endpoints {
		add(!b.Net, "may connect to %s", e)
	}
	add(b.GPU, "graphics processors allowed")
	add(b.Multiprocessing && b.Tier == Builtin, "multiprocessing allowed")
	for _, p := range b.Read {
		add(true, "may read %s", p)
	}
	for _, p := range b.Write {
		add(true, "may write %s", p)
	}
	env := slices.DeleteFunc(slices.Clone(b.Env),
		func(name string) bool { return slices.Contains(b.Secrets, name) }) // they are for the endpoints
	add(len(env) > 0, "has %s", strings.Join(env, " and "))
	return strings.Join(words, ", ")
}

//go:embed seal.py
var sealCode string

// Seal returns the code that a Python program runs when it has bound its sockets, so that it cannot
// bind others; "" if it need not.
func (b Box) Seal() string {
	if b.Tier != Builtin || b.Net {
		return ""
	}
	return sealCode
}

// hidesProc reports whether a process can read only its own entries of /proc.
func (b Box) hidesProc() bool { return b.Tier == Builtin && !b.Multiprocessing }

// scopes is the first version of Landlock's interface that confines signals and abstract sockets.
const scopes = 6

// Confines reports whether the box confines anything.
func (b Box) Confines() bool { return b.Tier.Confines() }

// Reach reports which sockets of the box other programs can connect to.
func (b Box) Reach() (tcp, unix bool) {
	return b.Net || !b.Confines(), b.unixSockets(Landlock())
}

// unixSockets reports whether processes can create and connect Unix sockets. If the network is
// allowed, they cannot, as a seccomp filter cannot tell where connect leads; except if namespaces
// hide other programs' sockets and Landlock confines abstract ones.
func (b Box) unixSockets(abi int) bool {
	return !b.Net || !b.Tier.Confines() || b.Tier == Full && abi >= scopes
}

// An Endpoint is a TCP address outside, such as that of a database. Processes of a box with
// endpoints can connect to them and, unless the network is allowed, to nothing else, not even to
// each other.
type Endpoint struct {
	Host string // a name or an IP address
	Port uint16
}

// String is host:port.
func (e Endpoint) String() string { return net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port))) }

// Metadata reports whether an address may be that of a service which gives a machine of a cloud its
// credentials.
func Metadata(ip netip.Addr) bool {
	return ip.IsLinkLocalUnicast() || slices.Contains(metadata, ip.Unmap())
}

// metadata are the addresses of those services that are not link-local.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // Amazon
	netip.MustParseAddr("168.63.129.16"),   // Azure
	netip.MustParseAddr("fd20:ce::254"),    // Google
	netip.MustParseAddr("192.0.0.192"),     // Oracle
	netip.MustParseAddr("100.100.100.200"), // Alibaba
}

// private is where processes see the hosts that have names: documentation addresses, which are
// routed nowhere (RFC 5737).
var private = netip.MustParsePrefix("192.0.2.0/24")

// endpoints are those of a box, with the addresses by which its processes connect to them.
type endpoints []Endpoint

// addresses returns the address of each named host.
func (all endpoints) addresses() map[string]netip.Addr {
	known, next := map[string]netip.Addr{}, private.Addr()
	for _, e := range all {
		name := strings.ToLower(e.Host)
		if _, err := netip.ParseAddr(name); err != nil && name != "localhost" && !known[name].IsValid() {
			next = next.Next()
			known[name] = next
		}
	}
	return known
}

// at returns the endpoint to which an address leads.
func (all endpoints) at(address netip.AddrPort) (Endpoint, bool) {
	addresses, to := all.addresses(), address.Addr().Unmap()
	for _, e := range all {
		if e.Port != address.Port() {
			continue
		}
		literal, _ := netip.ParseAddr(e.Host)
		if literal.Unmap() == to || strings.EqualFold(e.Host, "localhost") && to.IsLoopback() ||
			addresses[strings.ToLower(e.Host)] == to {
			return e, true
		}
	}
	return Endpoint{}, false
}

const hostsFile = "/etc/hosts"

// hosts returns the content of hostsFile for the processes.
func (all endpoints) hosts() string {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n::1 localhost\n")
	for name, address := range all.addresses() {
		fmt.Fprintf(&b, "%s %s\n", address, name)
	}
	return b.String()
}
