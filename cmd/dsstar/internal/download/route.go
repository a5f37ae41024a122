package download

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"dsstar/kernel/sandbox"
)

const (
	connectWithin = 20 * time.Second
	silence       = time.Minute // that a server may keep
	maxRedirects  = 10
)

// A route decides where a download may lead: from the typed address to public ones, to the machine
// that is typed, and never from https to http. What counts is the address that a connection is about
// to be made to, whatever its name was taken for before. Behind a proxy only the proxy knows it:
// there an address counts that is written in place of a name.
type route struct {
	covers              func(address string) bool // nil: all
	redirected, proxied bool                      // the request under way
	own                 netip.Addr                // of the machine that is typed; invalid: not known
}

func newRoute(typed *url.URL, covers func(address string) bool) *route {
	ip, _ := netip.ParseAddr(typed.Hostname())
	return &route{covers: covers, own: plain(ip)}
}

func (r *route) client() *http.Client {
	return &http.Client{CheckRedirect: r.redirect, Transport: &http.Transport{
		Proxy: r.proxy, DialContext: r.dial, TLSHandshakeTimeout: connectWithin,
		ResponseHeaderTimeout: silence, DisableKeepAlives: true, DisableCompression: true}}
}

func (r *route) proxy(request *http.Request) (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(request)
	r.proxied = proxy != nil
	return proxy, err
}

// refused is the error of a place that a download may not lead to.
func refused(to, why string) error {
	return fmt.Errorf("it leads to %s, %s; name that address if you mean it", to, why)
}

const notPublic = "which is not public"

// redirect is told of a request that follows those before.
func (r *route) redirect(request *http.Request, before []*http.Request) error {
	r.redirected = true
	request.Header.Del("Referer") // it may have a secret
	from, to := before[len(before)-1].URL, request.URL
	host := strings.TrimSuffix(to.Hostname(), ".")
	ip, noIP := netip.ParseAddr(host)
	switch {
	case len(before) > maxRedirects:
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	case to.Scheme != "https" && (to.Scheme != "http" || from.Scheme == "https"):
		return refused(Public(to), "which is less secure")
	case r.covers != nil && !r.covers(to.String()):
		return refused(Public(to), "which is not among what this server may read")
	case noIP == nil && !r.permits(ip), noIP != nil && isNumber(host):
		return refused(Public(to), notPublic)
	}
	return nil
}

// isNumber reports whether a host that is no address ends in a number, as 127.1 and 0x7f000001 do. Some
// proxies take it for an address of IPv4, and no name ends so (WHATWG URL, "ends in a number").
func isNumber(host string) bool {
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	return last != "" && (strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x"))
}

func (r *route) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: connectWithin}
	if !r.proxied {
		d.Control = r.control
	}
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if to, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil && !r.redirected && !r.proxied {
		r.own = plain(to.Addr())
	}
	return impatient{c}, nil
}

// control refuses a connection that is about to be made.
func (r *route) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := plain(to.Addr())
	if r.redirected && !r.permits(ip) || ip != r.own && sandbox.Metadata(ip) {
		return refused(ip.String(), notPublic)
	}
	return nil
}

// permits reports whether a redirect may lead to a machine.
func (r *route) permits(ip netip.Addr) bool { return public(ip) || plain(ip) == r.own }

// plain is an address as one that is the same is written.
func plain(ip netip.Addr) netip.Addr { return ip.Unmap().WithZone("") }

// everywhere has the public addresses of IPv6, and embedded those that stand for one of IPv4
// (RFC 6052). inNone are, beside what package netip knows, the prefixes that are not public.
var (
	everywhere = netip.MustParsePrefix("2000::/3")
	embedded   = netip.MustParsePrefix("64:ff9b::/96")
	inNone     = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
		netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
		netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
		netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
		netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001::/23"),
		netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
		netip.MustParsePrefix("3fff::/20"),
	}
)

// public reports whether everybody reaches the same machine by an address.
func public(ip netip.Addr) bool {
	ip = plain(ip)
	if embedded.Contains(ip) {
		all := ip.As16()
		ip = netip.AddrFrom4([4]byte(all[12:]))
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !sandbox.Metadata(ip) && (ip.Is4() || everywhere.Contains(ip)) &&
		!slices.ContainsFunc(inNone, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// impatient is a connection whose reads end when nothing comes.
type impatient struct{ net.Conn }

func (c impatient) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}
