package download

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
)

// site serves handler at another address of this machine, or at the usual one.
func site(t *testing.T, host string, handler http.HandlerFunc) string {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Skip(err) // not Linux
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func wide(t *testing.T) Options {
	return Options{Folder: t.TempDir(), Limit: 1 << 40, Room: 1 << 40, Time: time.Minute}
}

// get returns a file's name and content.
func get(t *testing.T, address string, o Options) (name, content string, err error) {
	t.Helper()
	f, err := Get(t.Context(), pyenvtest.Must(url.Parse(address)), o)
	if err != nil {
		return "", "", err
	}
	b, err := os.ReadFile(f.Path)
	if err != nil || strings.Contains(f.From, "?") {
		t.Fatalf("%+v, %v", f, err)
	}
	return f.Name, string(b), nil
}

// A file that has not changed is not sent again, and one that is not used for long does not stay.
func TestCache(t *testing.T) {
	sent, changed := 0, "Sat, 21 Nov 2026 10:00:00 GMT"
	home := site(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", changed)
		if r.Header.Get("If-Modified-Since") == changed {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		_, _ = w.Write([]byte(changed[:6]))
	})
	o, sunday := wide(t), "Sun, 22 Nov 2026 10:00:00 GMT"
	for n, at := range []string{changed, changed, sunday} {
		changed = at
		if name, content, err := get(t, home+"/a.csv?key=k", o); name != "a.csv" ||
			content != at[:6] || sent != 1+n/2 || err != nil {
			t.Errorf("%d: %q with %q, sent %d times: %v", n, name, content, sent, err)
		}
	}
	all := pyenvtest.Must(filepath.Glob(filepath.Join(o.Folder, "*")))
	part := filepath.Join(o.Folder, "part-1") // what a killed program has left
	pyenvtest.OK(t, os.WriteFile(part, []byte("half"), 0o600))
	for _, days := range []int{29, 31} {
		then := time.Now().AddDate(0, 0, -days)
		pyenvtest.OK(t, errors.Join(os.Chtimes(all[0], then, then), os.Chtimes(part, then, then)))
		_, _, err := get(t, home+"/b.csv", o)
		_, unused := os.Stat(all[0])
		_, killed := os.Stat(part)
		stays := days == 29
		if err != nil || (unused == nil) != stays || (killed == nil) != stays || len(all) != 1 {
			t.Errorf("not used for %d days: %v, %v, %v, %q", days, err, unused, killed, all)
		}
	}
}

// What a server sends is bounded, and nothing of it stays that is not whole.
func TestBounds(t *testing.T) {
	plain := strings.Repeat("1,2\n", 500)
	small := func(o *Options) { o.Limit = 1999 }
	full := func(o *Options) { o.Room = 1999 }
	brief := func(o *Options) { o.Time = 100 * time.Millisecond }
	usual := func(*Options) {}
	for _, c := range []struct {
		path, header string // what the server sends: "flush" is no header, "wait" no end
		body         string
		change       func(*Options)
		want         *Error // without its texts
	}{
		{"/known.csv", "", plain, usual, nil},
		{"/known.csv", "", plain, func(o *Options) { o.Limit, o.Room = 2000, 2000 }, nil},
		{"/unknown.csv", "flush", plain, usual, nil},
		{"/packed.csv", "Content-Encoding: gzip", "packed", usual, nil},
		{"/packed.csv.gz", "Content-Encoding: gzip", "as it is", usual, nil},
		{"/known.csv", "", plain, small, &Error{Size: 3998}},
		{"/unknown.csv", "flush", plain, small, &Error{Size: 3998}},
		{"/known.csv", "", plain, full, &Error{Full: true}},
		{"/unknown.csv", "flush", plain, full, &Error{Full: true}},
		{"/strange.csv", "Content-Encoding: br", plain, usual, &Error{}},
		{"/cut.csv", "Content-Length: 2001", plain, usual, &Error{}},
		{"/slow.csv", "wait", "n\n", brief, &Error{}},
		{"/none.csv", "status", "no", usual, &Error{Status: http.StatusTeapot}},
	} {
		home := site(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
			if asked := r.Header.Get("Accept-Encoding"); asked != "" {
				t.Errorf("%s: was asked to send %s", c.path, asked)
			}
			if name, value, is := strings.Cut(c.header, ": "); is {
				w.Header().Set(name, value)
			} else if c.header == "status" {
				w.WriteHeader(http.StatusTeapot)
			} else if c.header != "" {
				w.(http.Flusher).Flush()
			}
			_, _ = io.WriteString(w, c.body)
			if c.header == "wait" {
				<-r.Context().Done()
			}
		})
		o := wide(t)
		c.change(&o)
		name, content, err := get(t, home+c.path, o)
		left, _ := filepath.Glob(filepath.Join(o.Folder, "*", "*"))
		if failed, ok := errors.AsType[*Error](err); ok && c.want != nil {
			c.want.Address, c.want.Text = home+c.path, failed.Text
			if *failed != *c.want || failed.Text == "" || len(left) > 0 {
				t.Errorf("%s: %+v, left %q", c.path, failed, left)
			}
		} else if packed := strings.Contains(c.path, "packed"); err != nil || c.want != nil ||
			content != c.body || len(left) != 1 || packed != (name == "packed.csv.gz") {
			t.Errorf("%s: %d bytes, left %q: %v", c.path, len(content), left, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	at := &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	if _, err := Get(ctx, at, wide(t)); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// A redirect leads to public addresses and to the machine that is named, whatever it is called.
func TestRedirects(t *testing.T) {
	var inside http.Header
	secret := func(w http.ResponseWriter, r *http.Request) {
		inside = r.Header
		_, _ = w.Write([]byte("secret"))
	}
	to := ""
	moved := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to, http.StatusFound)
	}
	home, other := site(t, "127.0.0.1", moved), site(t, "127.0.0.1", secret)
	there := site(t, "127.0.0.2", moved)
	named := strings.Replace(other, "127.0.0.1", "localhost", 1)
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{home, other, true}, {home, named, true}, {home, other + "/closed.csv", false},
		{there, other, false}, {there, named, false},
		{home, strings.Replace(there, "http:", "ftp:", 1), false},
		{home, "http://169.254.169.254/latest", false}, {home, "http://[::ffff:10.0.0.1]/", false},
		{home, "http://[::1]:1/", false}, {home, "http://0.0.0.0:1/", false}, {home, home, false},
	} {
		to, inside = c.to, nil
		o := wide(t)
		o.Covers = func(address string) bool { return !strings.HasSuffix(address, "/closed.csv") }
		_, content, err := get(t, c.from+"/a.csv?key=k", o)
		failed, refused := errors.AsType[*Error](err)
		if c.ok != (content == "secret" && err == nil) || !c.ok && (!refused || inside != nil ||
			strings.Contains(failed.Error(), "key=")) || inside.Get("Referer") != "" {
			t.Errorf("%s to %s: %q, %v, %v", c.from, c.to, content, inside, err)
		}
	}
	step := func(from, to string) error {
		request := func(address string) *http.Request {
			return &http.Request{URL: pyenvtest.Must(url.Parse(address)), Header: http.Header{}}
		}
		return newRoute(request(from).URL, nil).redirect(request(to), []*http.Request{request(from)})
	}
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"https://a.example", "https://b.example", true}, {"http://a.example", "https://b.example", true},
		{"https://a.example", "http://a.example", false}, {"http://a.example", "file:///etc/passwd", false},
		{"http://10.0.0.1", "http://10.0.0.1:81", true}, {"http://10.0.0.1", "http://10.0.0.2", false},
		// what some proxies take for an address
		{"http://a.example", "http://2130706433", false}, {"http://a.example", "http://0x7F000001", false},
		{"http://a.example", "http://0177.0.0.1", false}, {"http://a.example", "http://127.0x1", false},
		{"http://a.example", "http://127.1.", false}, {"http://a.example", "http://127.0.0.1.", false},
		{"http://a.example", "http://0", false}, {"http://a.example", "http://7.example", true},
	} {
		if err := step(c.from, c.to); (err == nil) != c.ok {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}

// The name of a host does not lead to a cloud's metadata service; its address does. A redirect
// leads to public addresses.
func TestControl(t *testing.T) {
	for _, c := range []struct {
		typed, addresses string
		redirected, ok   bool
	}{
		{"http://a.example", "127.0.0.1", false, true},
		{"http://a.example", "169.254.169.254 fd00:ec2::254 ::ffff:168.63.129.16 fd20:ce::254",
			false, false},
		{"http://169.254.169.254", "169.254.169.254", false, true},
		{"http://a.example", "8.8.8.8 172.15.0.1 172.32.0.1 2606:4700::1111 ::ffff:8.8.8.8 " +
			"64:ff9b::808:808", true, true},
		{"http://a.example", "127.0.0.1 127.9.9.9 10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 " +
			"169.254.169.254 0.0.0.0 0.1.2.3 100.64.0.1 100.100.100.200 192.0.2.1 198.18.0.1 224.0.0.1 " +
			"240.0.0.1 255.255.255.255 168.63.129.16 :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1 " +
			"fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 ff02::1 64:ff9b::7f00:1 " +
			"64:ff9b::a9fe:a9fe 64:ff9b:1::1 2001::1 2001:db8::1 2002:7f00:1::", true, false},
	} {
		r := newRoute(pyenvtest.Must(url.Parse(c.typed)), nil)
		r.redirected = c.redirected
		for _, address := range strings.Fields(c.addresses) {
			if err := r.control("tcp", net.JoinHostPort(address, "80"), nil); (err == nil) != c.ok {
				t.Errorf("%s leads to %s: %v", c.typed, address, err)
			}
		}
	}
}
