package sandbox

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

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
