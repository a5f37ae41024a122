// Package download keeps files of the web in a cache folder. What a server can cause is bounded: the
// size of a file, the time, and where a redirect may lead.
package download

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/human"
)

// unused is how long a file stays that nobody asks for.
const unused = 30 * 24 * time.Hour

// Options are the bounds of a download.
type Options struct {
	Folder string        // of the cache
	Limit  int64         // bytes of a file
	Room   int64         // bytes that there is room for in Folder
	Time   time.Duration // for the whole file
	// Covers reports whether a redirect may lead to an address; nil: to any
	Covers func(address string) bool
}

// A File is a file of the web in the cache folder.
type File struct {
	Name string // its own name
	Path string
	From string // its address, without what may be secret
}

// An Error is a server that does not give a file, or one that is too large.
type Error struct {
	Address string // without what may be secret
	Text    string
	Status  int   // of HTTP; 0: none came
	Size    int64 // of the file, or a larger limit to try; 0: the limit is not the reason
	Full    bool  // there is no room in the folder
}

func (e *Error) Error() string { return "download " + e.Address + ": " + e.Text }

// Get returns the file at a web address, from the cache folder if it has not changed since, and
// removes files that were not used for a long time. Errors are an *[Error], those of files, or
// ctx.Err().
func Get(ctx context.Context, u *url.URL, o Options) (f File, err error) {
	f.From = Public(u)
	dir := filepath.Join(o.Folder, fmt.Sprintf("%x", sha256.Sum256([]byte(u.String())))[:16])
	now := time.Now()
	if err := cmp.Or(os.MkdirAll(dir, 0o700), os.Chtimes(dir, now, now)); err != nil {
		return f, err
	}
	sweep(o.Folder, now.Add(-unused))
	within, cancel := context.WithTimeout(ctx, o.Time)
	defer cancel()
	f.Path, err = fetch(within, u, dir, o)
	switch {
	case ctx.Err() != nil:
		return f, ctx.Err()
	case err != nil && within.Err() != nil:
		err = &Error{Text: fmt.Sprintf("it takes longer than %s", o.Time)}
	}
	if failed, ok := errors.AsType[*Error](err); ok {
		failed.Address = f.From
	}
	f.Name = filepath.Base(f.Path)
	return f, err
}

// Public is an address without what may be secret.
func Public(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// fetch asks for a file, and returns its path in dir, which may hold an earlier version: it is as old as
// the server has said, or as its download.
func fetch(ctx context.Context, u *url.URL, dir string, o Options) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", &Error{Text: "the address is not valid"}
	}
	known, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range known {
		if info, err := os.Stat(path); err == nil {
			request.Header.Set("If-Modified-Since", info.ModTime().UTC().Format(http.TimeFormat))
		}
	}
	response, err := newRoute(u, o.Covers).client().Do(request)
	if err != nil {
		if sent, ok := errors.AsType[*url.Error](err); ok { // which repeats the address
			err = sent.Err
		}
		return "", &Error{Text: err.Error()}
	}
	defer response.Body.Close()
	packing := strings.ToLower(response.Header.Get("Content-Encoding"))
	name := nameOf(response, u)
	switch {
	case response.StatusCode == http.StatusNotModified && len(known) > 0:
		return known[0], nil
	case response.StatusCode != http.StatusOK:
		return "", &Error{Text: response.Status, Status: response.StatusCode}
	case packing == "gzip": // unasked: it is not unpacked here, but by what reads the file
		name = strings.TrimSuffix(name, ".gz") + ".gz"
	case packing != "" && packing != "identity":
		return "", &Error{Text: "it comes packed as " + ui.Printable(packing) + ", unasked"}
	}
	return store(dir, name, response, o)
}

// nameOf is the name of the file that a server sends.
func nameOf(response *http.Response, asked *url.URL) string {
	_, parameters, _ := mime.ParseMediaType(response.Header.Get("Content-Disposition"))
	for _, name := range []string{parameters["filename"], path.Base(asked.Path),
		path.Base(response.Request.URL.Path)} {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
		if strings.Trim(name, "./") != "" && name == ui.Printable(name) {
			return name
		}
	}
	return "download"
}

// store writes what a server sends, whole or not at all, as the only file of dir.
func store(dir, name string, response *http.Response, o Options) (string, error) {
	part, err := os.CreateTemp(o.Folder, "part-") // which sweep removes if this program is killed
	if err != nil {
		return "", err
	}
	defer os.Remove(part.Name()) // nothing once it is renamed
	size := response.ContentLength
	if most := min(o.Limit, o.Room); size <= most {
		size, err = io.Copy(part, io.LimitReader(response.Body, most+1))
	}
	closed := part.Close()
	switch {
	case size > o.Limit:
		return "", &Error{Text: "it is larger than " + human.Bytes(o.Limit),
			Size: max(response.ContentLength, 2*o.Limit)}
	case size > o.Room:
		return "", &Error{Text: fmt.Sprintf("there is room for %s, and it is larger", human.Bytes(o.Room)),
			Full: true}
	case err != nil:
		return "", &Error{Text: err.Error()}
	case closed != nil:
		return "", closed
	}
	if changed, err := http.ParseTime(response.Header.Get("Last-Modified")); err == nil {
		_ = os.Chtimes(part.Name(), changed, changed) // without it, the file is as old as its download
	}
	to := filepath.Join(dir, name)
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, old := range all {
		if old != to {
			_ = os.Remove(old)
		}
	}
	return to, os.Rename(part.Name(), to)
}

// sweep removes what was last asked for before then.
func sweep(folder string, then time.Time) {
	all, _ := filepath.Glob(filepath.Join(folder, "*"))
	for _, at := range all {
		if info, err := os.Lstat(at); err == nil && info.ModTime().Before(then) {
			_ = os.RemoveAll(at) // what stays is tried again
		}
	}
}

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
