package kernel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// through returns s behind a proxy, which shows each request to watch. cut breaks its connections;
// if dead is set, it makes no others.
func through(t testing.TB, s Server, watch func(*http.Request)) (near Server, cut func(dead bool)) {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(must(url.Parse(s.URL)))
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	var mu sync.Mutex
	life, end := context.WithCancel(context.Background())
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		watch(r)
		mu.Lock()
		r = r.WithContext(life)
		mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	cut = func(dead bool) {
		mu.Lock()
		defer mu.Unlock()
		if end(); dead {
			front.Listener.Close()
		} else {
			life, end = context.WithCancel(context.Background())
		}
	}
	t.Cleanup(func() { cut(true); front.Close() })
	s.URL = front.URL + "/"
	return s, cut
}

func ignored(*http.Request) {}

func dialled(t testing.TB, s Server, id string, o Options) *Kernel {
	t.Helper()
	k, err := Dial(t.Context(), s, id, o)
	ok(t, err)
	t.Cleanup(func() { _ = k.Close() })
	return k
}

// TestServer shares one server, as starting it takes long.
func TestServer(t *testing.T) {
	pyenvtest.Long(t)
	raw := kerneltest.JupyterServer(t, pyenvtest.Tools(t), nil)
	s := server(t, raw)
	t.Run("reconnects", func(t *testing.T) { testReconnect(t, s) })
	t.Run("holds the first connection", func(t *testing.T) { testHeldConnection(t, s) })
	t.Run("is lost", func(t *testing.T) { testLostServer(t, s) })
	t.Run("is gone", func(t *testing.T) { testGoneServer(t, s) })
	t.Run("limits rates", func(t *testing.T) { testRateLimit(t, s) })
	t.Run("ended by its user", func(t *testing.T) { testEndedByUser(t, s, raw) })
	t.Run("too large", func(t *testing.T) { testTooLarge(t, s) })
	t.Run("is found", func(t *testing.T) { testFound(t, s, raw) })
	if left, err := s.Kernels(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("%v: these are left: %+v", err, left)
	}
}

// No output of a cell is lost if the connection is.
func testReconnect(t *testing.T, s Server) {
	through, cut := through(t, s, ignored)
	k := dialled(t, through, "", Options{})
	for _, after := range []string{"0", "3", "7"} {
		// Cut between two outputs: one that the server sends into a dying connection is lost.
		var timer *time.Timer
		x, err := k.ExecuteCell(t.Context(), Cell{
			Code: "import time\nfor i in range(10): print(i, flush=True); time.sleep(.3)",
			Observe: func(o notebook.Output) {
				if strings.TrimSpace(o.Text) == after && timer == nil {
					timer = time.AfterFunc(100*time.Millisecond, func() { cut(false) })
				}
			},
		})
		if got := strings.Join(strings.Fields(x.Stdout()), ""); err != nil || got != "0123456789" ||
			x.Incomplete != "" || timer == nil {
			t.Errorf("cut after %s: %v, %q %s", after, err, got, x.Incomplete)
		}
	}
	// Nor of a cell that is sent when an idle connection has broken.
	time.Sleep(2 * fresh)
	cut(false)
	stdout(t, k, "print('sent')", "sent\n")
}

// A server may not answer the first connection to a new kernel, as it waits for a stranded reply of
// the kernel. It answers the next one.
func testHeldConnection(t *testing.T, s Server) {
	var held atomic.Int32
	near, _ := through(t, s, func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/channels") && held.Add(1) == 1 {
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		}
	})
	w := defaultWaits()
	w.handshake = 200 * time.Millisecond
	stdout(t, dialled(t, near, "", Options{waits: w}), "print('here')", "here\n")
	if n := held.Load(); n < 2 {
		t.Errorf("%d connections", n)
	}
}

// A server that does not come back is an error, not the kernel's death.
func testLostServer(t *testing.T, s Server) {
	through, cut := through(t, s, ignored)
	w := defaultWaits()
	w.reconnect = 500 * time.Millisecond
	k := dialled(t, through, "", Options{waits: w})
	defer s.delete(t.Context(), k.Info().ID)
	time.AfterFunc(200*time.Millisecond, func() { cut(true) })
	_, err := k.Execute(t.Context(), "import time; time.sleep(20)")
	if lost, ok := errors.AsType[*ServerLostError](err); !ok || lost.URL != through.URL {
		t.Errorf("error %v", err)
	}
	_, err = k.Execute(t.Context(), "1")
	fails(t, err, "lost")
}

// During reconnecting, callers can give up and the kernel can be closed.
func testGoneServer(t *testing.T, s Server) {
	through, cut := through(t, s, ignored)
	k := dialled(t, through, "", Options{})
	defer s.delete(t.Context(), k.Info().ID)
	cut(true)
	time.Sleep(2 * fresh)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := k.Execute(ctx, "1")
	fails(t, err, context.DeadlineExceeded)
	fails(t, k.Close(), "may still run")
}

// If a kernel takes long to start and the caller gives up, it is not left behind.
func TestOrphan(t *testing.T) {
	t.Parallel()
	deleted := make(chan string, 1)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			time.Sleep(500 * time.Millisecond)
			fmt.Fprint(w, `{"id": "late"}`)
		case http.MethodDelete:
			deleted <- r.URL.Path
		default:
			fmt.Fprint(w, `{}`)
		}
	}))
	defer slow.Close()
	_, err := Dial(t.Context(), Server{URL: slow.URL + "/"}, "",
		Options{StartTimeout: 200 * time.Millisecond})
	fails(t, err, errNotReady)
	kerneltest.Within(t, "deleting the kernel", func() { equal(t, "deleted", <-deleted, "/api/kernels/late") })
}

// If the server holds output back, the execution is marked as incomplete.
func testRateLimit(t *testing.T, s Server) {
	k := dialled(t, s, "", Options{})
	for _, code := range []string{"for i in range(20_000): print(i, flush=True)",
		"print('x' * 20_000_000)"} {
		x := runCell(t, k, code, notebook.OK)
		if x.Incomplete == "" && strings.HasSuffix(x.Stdout(), "\n19999\n") &&
			strings.Count(x.Stdout(), "\n") == 20_000 {
			continue // on a busy machine, the kernel was too slow to exceed the limit
		}
		if !strings.Contains(x.Incomplete, "the Jupyter server held output back") ||
			strings.Contains(x.PlainText(), "IOPub") ||
			!strings.Contains(x.PlainText(),
				"note: output may be incomplete: the Jupyter server held output back") {
			t.Errorf("incomplete %q", x.Incomplete)
		}
	}
	said := runCell(t, k, "print('IOPub data rate exceeded.')", notebook.OK)
	equal(t, "incomplete", said.Incomplete, "")
}

// A kernel without clients is not joined unasked: output that the server keeps for others could be
// lost. One that its user restarts is a dead one to its guests. Clients are not told that a kernel
// was deleted, but find out.
func testEndedByUser(t *testing.T, s Server, raw *kerneltest.Server) {
	for want, end := range map[string]func(id string){
		"the kernel died: ": func(id string) {
			raw.Call(t, http.MethodPost, "/api/kernels/"+id+"/restart", nil, nil)
		},
		"the kernel died: the server no longer has the kernel": func(id string) {
			_ = s.delete(context.Background(), id)
		},
	} {
		id, err := s.start(t.Context(), "python3", nil)
		ok(t, err)
		_, err = Dial(t.Context(), s, id, Options{})
		if b, ok := errors.AsType[*BufferedError](err); !ok || b.ID != id {
			t.Errorf("error %v", err)
		}
		g := dialled(t, s, id, Options{Discard: true})
		if info := g.Info(); info.Owned || info.Server != s.URL || info.Name != "python3" {
			t.Errorf("%+v", info)
		}
		runCell(t, g, "x = 1", notebook.OK)
		time.AfterFunc(300*time.Millisecond, func() { end(id) })
		x := runCell(t, g, "import time\ntry: time.sleep(30)\nexcept KeyboardInterrupt: time.sleep(30)",
			notebook.Died)
		if !strings.HasPrefix(x.Reason, want) {
			t.Errorf("%+v", x)
		}
		_ = s.delete(t.Context(), id)
	}
}

// A cell so large that the server would close the connection is refused, without harm.
func testTooLarge(t *testing.T, s Server) {
	k := dialled(t, s, "", Options{})
	runCell(t, k, "x = 1", notebook.OK)
	_, err := k.Execute(t.Context(), "#"+strings.Repeat("c", 11<<20))
	fails(t, err, "the message has 11 MiB")
	stdout(t, k, "print(x)", "1\n")
}

// A server and its kernels are found through the runtime folder.
func testFound(t *testing.T, s Server, raw *kerneltest.Server) {
	var session struct{ Kernel struct{ ID string } }
	raw.Call(t, http.MethodPost, "/api/sessions", map[string]any{
		"path": "work/sales.ipynb", "name": "sales.ipynb", "type": "notebook",
		"kernel": map[string]any{"name": "python3"},
	}, &session)
	id := session.Kernel.ID
	defer s.delete(t.Context(), id)
	stdout(t, dialled(t, s, id, Options{Discard: true}), "print(1)", "1\n")
	lookup := Lookup{Getenv: func(name string) string {
		return map[string]string{"JUPYTER_RUNTIME_DIR": raw.RuntimeDir}[name]
	}}
	f := Discover(t.Context(), lookup)
	if len(f.Servers) != 1 || f.Servers[0].Token != s.Token || f.Servers[0].PID != raw.PID ||
		len(f.Errors) > 0 {
		t.Fatalf("%+v", f)
	}
	for _, name := range []string{id, id[:8], "sales.ipynb", "work/sales.ipynb", Newest} {
		k, err := Choose(name, f.Kernels)
		if err != nil || k.ID != id || k.State != "idle" || k.Spec != "python3" || k.File == "" ||
			!strings.HasSuffix(k.Notebook, "work/sales.ipynb") || k.Server.URL != f.Servers[0].URL ||
			k.PID == 0 || !strings.Contains(k.Python, "python") || k.Dir == "" {
			t.Errorf("%s: %+v %v", name, k, err)
		}
	}
	stdout(t, visitor(t, f.Kernels[0].File, Options{}), "print(2)", "2\n")
}

// A kernel that answers is idle, though its server sees it busy with the question; one that does not is
// what its server says.
func TestFoundTwice(t *testing.T) {
	for _, c := range []struct{ answer, server, want string }{
		{"idle", "busy", "idle"}, {"idle", "idle", "idle"}, {"busy", "idle", "idle"}, {"busy", "starting", "starting"},
	} {
		var f Found
		f.add(Running{ID: "a", File: "k.json", State: c.answer}, nil)
		f.add(Running{ID: "a", State: c.server}, nil)
		if len(f.Kernels) != 1 || f.Kernels[0].State != c.want || f.Kernels[0].File != "k.json" {
			t.Errorf("%+v: %+v", c, f.Kernels)
		}
		f.add(Running{ID: "a", State: "idle", Server: Server{URL: "u"}}, nil)
		if f.add(Running{ID: "a", State: "busy", Server: Server{URL: "v"}}, nil); f.Kernels[0].State != "busy" {
			t.Errorf("two servers: %+v", f.Kernels)
		}
	}
}

// A server of a hub or behind a proxy has a base path, and people paste what their browser shows.
func TestNewServer(t *testing.T) {
	for _, c := range []struct{ address, url, token string }{
		{"http://localhost:8888", "http://localhost:8888/", "env"},
		{"http://localhost:8888/lab?token=abc", "http://localhost:8888/", "abc"},
		{"http://h:1/lab/tree/a/b.ipynb", "http://h:1/", "env"},
		{"https://hub.org/user/ada/lab/workspaces/auto", "https://hub.org/user/ada/", "env"},
		{"https://hub.org/user/ada/gpu/tree?token=t#x", "https://hub.org/user/ada/gpu/", "t"},
		{"https://gateway.org/api/kernels", "https://gateway.org/", "env"},
		{"https://hub.org/user/lab/lab", "https://hub.org/user/lab/", "env"},
		{"https://hub.org/user/api/lab/tree/x", "https://hub.org/user/api/", "env"},
		{" http://127.0.0.1:8888/notebooks/Untitled.ipynb?x=1\n", "http://127.0.0.1:8888/", "env"},
	} {
		got, err := NewServer(c.address, "env")
		check(t, err)
		equal(t, c.address, got, Server{URL: c.url, Token: c.token})
	}
	for _, address := range []string{"", "localhost:8888", "ftp://x/", "http://", "/tmp/x",
		"http://[::1"} {
		if s, err := NewServer(address, ""); err == nil {
			t.Errorf("%q: %+v", address, s)
		}
	}
}

// Enterprise Gateway requires the name of the user who starts a kernel.
func TestGatewayEnv(t *testing.T) {
	got := gatewayEnv([]string{"HOME=/x", "KERNEL_USERNAME=ada", "KERNEL_IMAGE=a/b:1",
		"KERNEL_EVIL=$(x)", "KERNEL_E=a=b"})
	if want := map[string]string{"KERNEL_USERNAME": "ada", "KERNEL_IMAGE": "a/b:1",
		"KERNEL_E": "a=b"}; !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if gatewayEnv(nil)["KERNEL_USERNAME"] == "" {
		t.Error("no user")
	}
}

// What other programs than Jupyter servers answer, a hub for a user's server that does not run, and
// a server without the kernelspec, are errors, not panics.
func TestStrangeServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status           int
		body, spec, want string
	}{
		{http.StatusOK, "", "", ""},
		{http.StatusOK, "<html>", "", ""},
		{http.StatusOK, `{"id": 5}`, "", ""},
		{http.StatusCreated, `{}`, "", ""},
		{http.StatusServiceUnavailable, `{"message": "no\nroom"}`, "", "503 Service Unavailable: no"},
		{http.StatusOK, `{"id": "x", "last_activity": 3}`, "", ""}, // there is no WebSocket then
		{http.StatusFound, "", "", "424 Failed Dependency"},
		{http.StatusOK, `{"kernelspecs": {"r": {}}}`, "julia", `"julia": there are r`},
	} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/hub/user/ada"+r.URL.Path)
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		_, err := Dial(t.Context(), Server{URL: h.URL + "/"}, "", Options{Spec: Spec{Name: c.spec}})
		fails(t, err, h.URL, c.want)
		h.Close()
	}
}
