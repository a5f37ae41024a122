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

// Processes connect to the endpoints of their box, and to nothing else.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	greet := func(network, address, greeting string) uint16 {
		return serve(t, must(net.Listen(network, address)), func(c net.Conn) {
			_, _ = c.Write([]byte(greeting))
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		})
	}
	path := filepath.Join(outside(t, nil), "socket")
	greet("unix", path, "other")
	port, other := greet("tcp", ":0", "hello"), greet("tcp", ":0", "other")
	name, _ := os.Hostname()
	if _, err := net.LookupHost(name); err != nil {
		name = "localhost"
	}
	for _, box := range boxes(t) {
		for _, host := range []string{"127.0.0.1", "localhost", name} {
			if (box.Tier == sandbox.Full) == (host == "localhost") {
				continue // each tier has an address or a name, and one that /etc/hosts adds
			}
			t.Run(string(box.Tier)+"/"+host, func(t *testing.T) {
				t.Parallel()
				tryEndpoint(t, box, sandbox.Endpoint{Host: host, Port: port}, other, path)
			})
		}
	}
}

func tryEndpoint(t *testing.T, box sandbox.Box, to sandbox.Endpoint, other uint16, path string) {
	script := must(filepath.Abs("testdata/endpoints.py"))
	box.Endpoints = []sandbox.Endpoint{{Host: "elsewhere.invalid", Port: 1}, to}
	box.Read = append(box.Read, script)
	out := said(t, box, os.Environ(), userPython(t), script, to.Host,
		strconv.Itoa(int(to.Port)), strconv.Itoa(int(other)), path)
	results := map[string]string{}
	if err := json.Unmarshal([]byte(out), &results); err != nil || len(results) < 24 {
		t.Fatalf("only %d attempts were made: %v: %s", len(results), err, out)
	}
	wanted := map[string]string{"by_name": "hello", "not_blocking": "True True hello",
		"with_asyncio": "hello", "in_child": "hello", "many": "20 hello"}
	for name, got := range results {
		want, reaches := wanted[name]
		inOwnNetwork := box.Tier == sandbox.Full && strings.HasPrefix(got, "listens")
		if got != want && (reaches || !strings.Contains(got, "rror") && !inOwnNetwork) {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}
