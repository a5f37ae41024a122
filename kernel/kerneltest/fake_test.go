package kerneltest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A fake kernel chooses the ports that are 0 and writes them to the connection file, keeping
// its other content. certify.py tests the rest.
func TestChosenPorts(t *testing.T) {
	for _, f := range []Fault{None, NeverGreets, NoStdin} {
		for _, transport := range []string{"tcp", "ipc"} {
			t.Run(string(f)+"/"+transport, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "k.json")
				given := map[string]any{"transport": transport, "ip": "127.0.0.1", "key": "",
					"jupyter_session": "kept"}
				if transport == "ipc" {
					given["ip"] = file
				}
				for _, port := range ports {
					given[port] = 0
				}
				if err := os.WriteFile(file, encode(given), 0o600); err != nil {
					t.Fatal(err)
				}
				startFake(t, f, file)
				c := awaitPorts(t, file)
				if c.content["jupyter_session"] != "kept" {
					t.Errorf("the file is %v", c.content)
				}
				for _, port := range ports {
					if port == "stdin_port" && f == NoStdin {
						if c.content[port] != 0. {
							t.Errorf("stdin_port is %v", c.content[port])
						}
						continue
					}
					conn, err := net.Dial(c.network(), c.address(port))
					if err != nil {
						t.Errorf("%s: %v", port, err)
						continue
					}
					_ = conn.Close()
				}
			})
		}
	}
}

// startFake starts a fake kernel, killed at the end of the test.
func startFake(t *testing.T, f Fault, file string) {
	t.Helper()
	argv := Argv(f)
	cmd := exec.Command(argv[0], append(argv[1:3:3], file)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
}

// awaitPorts returns the connection file once it has the ports.
func awaitPorts(t *testing.T, file string) connectionFile {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		c, err := readConnection(file)
		if err != nil {
			t.Fatal(err) // it is written atomically
		}
		if c.content["shell_port"] != 0. {
			return c
		}
	}
	t.Fatal("no ports")
	return connectionFile{}
}

// Main ignores other arguments.
func TestOtherArguments(t *testing.T) {
	for _, args := range []string{"x", "x -test.v", "x y none file", "x " + command + " none"} {
		if Main(strings.Fields(args)) {
			t.Errorf("%q is taken for a fake kernel's arguments", args)
		}
	}
}
