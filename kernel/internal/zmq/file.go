package zmq

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"dsstar/kernel/internal/wire"
	"dsstar/notebook/disk"
)

// sunPath is the maximal length of a Unix socket's path with its final NUL on the strictest system
// (darwin; Linux allows 108).
const sunPath = 104

// A File is the content of a connection file (jupyter_client, docs/kernels.rst, "Connection
// files").
type File struct {
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
	// path of the notebook, as JupyterLab has it
	Session        string `json:"jupyter_session,omitempty"`
	CurvePublicKey string `json:"curve_publickey,omitempty"`
}

// NewFile describes the sockets of a kernel to be started: Unix sockets in dir, which no other user
// can enter, or TCP on the loopback interface if tcp is set or the path is too long for a socket.
// If the kernel chooses its TCP ports itself (ipykernel), they are 0: it binds free ports and
// rewrites the file. Other kernels cannot do that (JEP 66 would let them): they get ports that are
// free now, and that another program may take before the kernel binds them.
func NewFile(kernel, dir string, tcp, chooses bool) (File, error) {
	c := File{Key: wire.NewKey(), SignatureScheme: wire.Scheme, KernelName: kernel}
	base := filepath.Join(dir, "k") // ZeroMQ adds "-<port>"
	if tcp || len(base)+len("-5")+1 > sunPath {
		c.Transport, c.IP = "tcp", "127.0.0.1"
		if chooses {
			return c, nil
		}
		return c, c.choosePorts()
	}
	c.Transport, c.IP = "ipc", base
	c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HBPort = 1, 2, 3, 4, 5
	return c, nil
}

func (c *File) ports() []*int {
	return []*int{&c.ShellPort, &c.IOPubPort, &c.ControlPort, &c.StdinPort, &c.HBPort}
}

// choosePorts takes five ports that are free now.
func (c *File) choosePorts() error {
	for _, port := range c.ports() {
		l, err := net.Listen("tcp", net.JoinHostPort(c.IP, "0"))
		if err != nil {
			return fmt.Errorf("choose ports for the kernel: %w", err)
		}
		defer l.Close() // only now, or two could be the same
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return nil
}

// Write creates the connection file, readable for the user only: it has the key.
func (c File) Write(path string) error {
	b, _ := json.Marshal(c) // texts and numbers
	return os.WriteFile(path, b, 0o600)
}

// RemoveSockets removes the names of Unix sockets, so that nobody else can connect.
func (c File) RemoveSockets() (err error) {
	if c.Transport != "ipc" {
		return nil
	}
	for _, port := range c.ports() {
		if e := os.Remove(c.IP + "-" + strconv.Itoa(*port)); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Bound reports whether the kernel listens on every socket that is dialled. If the kernel chose its
// ports, they are read from the connection file at path.
func (c *File) Bound(path string) bool {
	if c.Transport == "ipc" {
		for _, port := range c.ports()[:4] {
			// Cells can write there: a link could lead to another program's socket.
			info, err := os.Lstat(c.IP + "-" + strconv.Itoa(*port))
			if port == &c.StdinPort && errors.Is(err, fs.ErrNotExist) {
				continue // it is dialled only if input() is answered
			}
			if err != nil || info.Mode().Type() != fs.ModeSocket {
				return false
			}
		}
		return true
	}
	if c.ShellPort != 0 {
		return true // if it is too early, the dial fails and is repeated
	}
	now, err := Read(path) // which may be half written
	if err != nil || now.Check() != nil {
		return false
	}
	for i, port := range c.ports() {
		*port = *now.ports()[i]
	}
	return true
}

// MaxFile bounds the bytes of a file in Jupyter's runtime folder.
const MaxFile = 1 << 20

// Read reads a connection file.
func Read(path string) (File, error) {
	b, err := disk.ReadFile(path, MaxFile)
	if err != nil {
		return File{}, err
	}
	return parse(b)
}

// parse reads the content of a connection file. Unused fields may contain anything.
func parse(b []byte) (File, error) {
	var c File
	if err := json.Unmarshal(b, &c); err != nil {
		return File{}, fmt.Errorf("not a connection file: %w", err)
	}
	c.Transport = cmp.Or(c.Transport, "tcp")
	return c, nil
}

// Check returns why a kernel cannot be reached with c; nil if it can.
func (c File) Check() error {
	switch {
	case c.ShellPort <= 0 || c.IOPubPort <= 0 || c.ControlPort <= 0:
		return errors.New("the connection file has no ports for shell, iopub and control")
	case c.Transport != "tcp" && c.Transport != "ipc":
		return fmt.Errorf("the connection file has the unknown transport %q", c.Transport)
	case c.IP == "":
		return errors.New("the connection file has no ip")
	case c.Key != "" && c.SignatureScheme != "" && c.SignatureScheme != wire.Scheme:
		return fmt.Errorf("the connection file has the signature_scheme %q, and only %s is understood",
			c.SignatureScheme, wire.Scheme)
	case c.CurvePublicKey != "":
		return errors.New("the kernel wants encrypted connections (CURVE), which are not understood: " +
			"reach it over its Jupyter server")
	}
	return nil
}

// endpoints returns the ZeroMQ endpoints of the channels.
func (c File) endpoints() map[wire.Channel]string {
	at := func(port int) string {
		if c.Transport == "ipc" {
			return fmt.Sprintf("watched-ipc://%s-%d", c.IP, port)
		}
		ip := c.IP
		if ip == "*" || ip == "0.0.0.0" { // it listens on all addresses
			ip = "127.0.0.1"
		}
		return "watched://" + net.JoinHostPort(ip, strconv.Itoa(port))
	}
	return map[wire.Channel]string{
		wire.Shell: at(c.ShellPort), wire.IOPub: at(c.IOPubPort), wire.Control: at(c.ControlPort),
		wire.Stdin: at(c.StdinPort),
	}
}
