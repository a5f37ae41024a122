package kernel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"dsstar/kernel/internal/wire"
)

// sunPath is how long the path of a Unix socket may be, its final NUL
// included, on the strictest system (darwin; Linux allows 108).
const sunPath = 104

// A connection is the content of a connection file (jupyter_client,
// docs/kernels.rst, "Connection files").
type connection struct {
	Transport       string   `json:"transport"`
	IP              string   `json:"ip"`
	ShellPort       int      `json:"shell_port"`
	IOPubPort       int      `json:"iopub_port"`
	StdinPort       int      `json:"stdin_port"`
	ControlPort     int      `json:"control_port"`
	HBPort          int      `json:"hb_port"`
	Key             wire.Key `json:"key"`
	SignatureScheme string   `json:"signature_scheme"`
	KernelName      string   `json:"kernel_name"`
}

// privateDir makes the folder for the connection file and the sockets, which
// nobody else may enter (0700).
func privateDir() (string, error) {
	parent := "" // the system's
	if runtime.GOOS == "darwin" {
		parent = "/tmp" // $TMPDIR is too long there for the path of a socket
	}
	return os.MkdirTemp(parent, "dsstar-")
}

// newConnection chooses how to reach a kernel whose private folder is dir:
// Unix sockets in dir where they can be, so that no other user can connect,
// and TCP on the loopback interface otherwise. For TCP all ports are 0:
// ipykernel then binds free ports and rewrites the file, whereas ports chosen
// here could be taken by others before the kernel binds them.
func newConnection(dir, name string) connection {
	c := connection{Key: wire.NewKey(), SignatureScheme: wire.Scheme, KernelName: name}
	base := filepath.Join(dir, "k") // ZeroMQ adds "-<port>"
	if runtime.GOOS == "windows" || len(base)+len("-5")+1 > sunPath {
		c.Transport, c.IP = "tcp", "127.0.0.1"
		return c
	}
	c.Transport, c.IP = "ipc", base
	c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HBPort = 1, 2, 3, 4, 5
	return c
}

// write creates the connection file, for the user's eyes only: it has the key.
func (c connection) write(path string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// bound reports whether the kernel listens on every socket that is dialled,
// having read its ports from the connection file at path if it chose them.
func (c *connection) bound(path string) bool {
	if c.Transport == "ipc" {
		for _, port := range []int{c.ShellPort, c.IOPubPort, c.ControlPort} {
			if _, err := os.Stat(c.IP + "-" + strconv.Itoa(port)); err != nil {
				return false
			}
		}
		return true
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var now connection // the file may be half written
	if json.Unmarshal(b, &now) != nil || now.ShellPort == 0 || now.IOPubPort == 0 || now.ControlPort == 0 {
		return false
	}
	c.ShellPort, c.IOPubPort, c.ControlPort = now.ShellPort, now.IOPubPort, now.ControlPort
	return true
}

// endpoints returns the ZeroMQ endpoints by channel.
func (c connection) endpoints() [3]string {
	sep := ":"
	if c.Transport == "ipc" {
		sep = "-"
	}
	at := func(port int) string { return fmt.Sprintf("%s://%s%s%d", c.Transport, c.IP, sep, port) }
	return [3]string{shell: at(c.ShellPort), iopub: at(c.IOPubPort), control: at(c.ControlPort)}
}
