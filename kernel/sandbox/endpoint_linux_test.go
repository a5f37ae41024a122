//go:build amd64 || arm64

package sandbox_test

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dsstar/kernel/sandbox"
)

// serve accepts connections and greets each.
func serve(t *testing.T, l net.Listener, err error, greeting string) (port uint16) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = c.Write([]byte(greeting))
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
			}()
		}
	}()
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		return uint16(a.Port)
	}
	return 0
}

// Processes connect to the endpoints of their box, and to nothing else.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	listen := func(network, address, greeting string) uint16 {
		l, err := net.Listen(network, address)
		return serve(t, l, err, greeting)
	}
	dir := outside(t, nil)
	path := filepath.Join(dir, "socket")
	listen("unix", path, "other")
	port, other := listen("tcp", ":0", "hello"), listen("tcp", ":0", "other")
	hosts := []string{"localhost", "127.0.0.1"}
	if name, err := os.Hostname(); err == nil {
		if _, err := net.LookupHost(name); err == nil {
			hosts = append(hosts, name)
		}
	}
	for _, box := range plainBoxes(t) {
		for _, host := range hosts {
			t.Run(string(box.Tier)+"/"+host, func(t *testing.T) {
				t.Parallel()
				tryEndpoint(t, box, sandbox.Endpoint{Host: host, Port: port}, other, path)
			})
		}
	}
}

func tryEndpoint(t *testing.T, box sandbox.Box, to sandbox.Endpoint, other uint16, path string) {
	box.Endpoints = []sandbox.Endpoint{{Host: "elsewhere.invalid", Port: 1}, to}
	script, err := filepath.Abs("testdata/endpoints.py")
	if err != nil {
		t.Fatal(err)
	}
	box.Read = append(box.Read, script)
	out := said(t, box, os.Environ(), userPython(t), script, to.Host,
		strconv.Itoa(int(to.Port)), strconv.Itoa(int(other)), path)
	results := map[string]string{}
	if err := json.Unmarshal([]byte(out), &results); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, wanted := range map[string]string{"by_name": "hello", "not_blocking": "True True hello",
		"with_asyncio": "hello", "in_child": "hello", "many": "20 hello"} {
		if results[name] != wanted {
			t.Errorf("%s: %q, not %q", name, results[name], wanted)
		}
		delete(results, name)
	}
	if len(results) < 16 {
		t.Errorf("only %d attempts were made", len(results))
	}
	for name, got := range results {
		t.Log(name, got)
		inOwnNetwork := box.Tier == sandbox.Full && strings.HasPrefix(got, "listens")
		if got != "" && !strings.Contains(got, "rror") && !inOwnNetwork {
			t.Errorf("%s: %q", name, got)
		}
	}
}
