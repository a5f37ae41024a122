package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"dsstar/kernel/internal/wire"
	"dsstar/notebook/disk"
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
	Session         string   `json:"jupyter_session,omitempty"` // path of the notebook, as JupyterLab has it
	CurvePublicKey  string   `json:"curve_publickey,omitempty"`
}

// privateDir makes the folder for the connection file and the sockets, which
// nobody else may enter (0700). One that may outlive this program is not swept: see [SweepTemp].
func privateDir(lasting bool) (string, error) {
	if lasting {
		return os.MkdirTemp(privateParent(), tempPrefix)
	}
	return disk.TempFolder(privateParent(), tempPrefix)
}

const tempPrefix = "dsstar-"

func privateParent() string {
	if runtime.GOOS == "darwin" {
		return "/tmp" // $TMPDIR is too long there for the path of a socket
	}
	return "" // the system's
}

// SweepTemp removes the temporary folders that programs which were killed have left, of kernels and
// all others.
func SweepTemp() {
	disk.SweepTemp("", tempPrefix, "dsstar-ask-", "dsstar-full-", "dsstar-try-") // the last are package sandbox's
	if parent := privateParent(); parent != "" {
		disk.SweepTemp(parent, tempPrefix)
	}
}

// newConnection chooses how to reach a kernel whose private folder is dir. For
// an ipykernel that is by Unix sockets in dir where they can be, so that no other
// user can connect, and TCP on the loopback interface otherwise or where it is
// asked for. Other kernels get TCP, as from every other client: some know nothing
// else. In a sandbox without the network they get sockets, too: nothing else is there.
//
// For TCP all ports of an ipykernel are 0: it then binds free ports and
// rewrites the file. Other kernels cannot do that (JEP 66 would let them): their
// ports are chosen by p, which keeps them from others until the kernel has bound them.
func newConnection(dir string, o Options, p *ports) (connection, error) {
	c := connection{Key: wire.NewKey(), SignatureScheme: wire.Scheme, KernelName: o.Spec.Name}
	base := filepath.Join(dir, "k") // ZeroMQ adds "-<port>"
	// Clients other than this one may know TCP better. Out of a sandbox there is none, but with the network there may be no
	// Unix sockets.
	confined := o.Sandbox.Tier.Confines()
	tcp := o.KeepIn != "" && !confined || !o.Spec.IPython() && !o.sockets && !(confined && !o.Sandbox.Net) ||
		!o.Sandbox.UnixSockets()
	if tcp || runtime.GOOS == "windows" || len(base)+len("-5")+1 > sunPath {
		c.Transport, c.IP = "tcp", "127.0.0.1"
		if o.Spec.IPython() {
			return c, nil
		}
		return c, c.choosePorts(p)
	}
	c.Transport, c.IP = "ipc", base
	c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HBPort = 1, 2, 3, 4, 5
	return c, nil
}

// choosePorts takes five ports that are free now.
func (c *connection) choosePorts(p *ports) (err error) {
	for _, port := range []*int{&c.ShellPort, &c.IOPubPort, &c.StdinPort, &c.ControlPort, &c.HBPort} {
		if *port, err = p.take(c.IP); err != nil {
			p.release()
			return fmt.Errorf("choose ports for the kernel: %w", err)
		}
	}
	if !p.share || !sharesPorts {
		p.release()
	}
	return nil
}

// ports are bound here so that no other program gets them before the kernel
// binds them. On Linux a socket with SO_REUSEADDR, which ZeroMQ sets, can be bound
// beside one that has it and does not listen. On other systems the ports are
// only chosen.
type ports struct {
	share  bool // they stay bound until release
	chosen bool
	bound  []io.Closer
}

// take returns a free port, which stays bound until release.
func (p *ports) take(ip string) (int, error) {
	s, port, err := bindPort(ip)
	if err != nil {
		return 0, err
	}
	p.chosen, p.bound = true, append(p.bound, s)
	return port, nil
}

// release gives up all ports.
func (p *ports) release() {
	for _, s := range p.bound {
		_ = s.Close() // nothing was sent by it
	}
	p.bound = nil
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
		for _, port := range []int{c.ShellPort, c.IOPubPort, c.ControlPort, c.StdinPort} {
			// What runs in the kernel can write there: a link could lead to another program's socket.
			info, err := os.Lstat(c.IP + "-" + strconv.Itoa(port))
			if port == c.StdinPort && errors.Is(err, fs.ErrNotExist) {
				continue // it is dialled only if there are answers
			}
			if err != nil || info.Mode().Type() != fs.ModeSocket {
				return false
			}
		}
		return true
	}
	if c.ShellPort != 0 {
		return true // a dial that comes too early fails, and is repeated
	}
	now, err := readConnection(path) // which may be half written
	if err != nil || now.check() != nil {
		return false
	}
	c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HBPort = now.ShellPort, now.IOPubPort, now.StdinPort, now.ControlPort, now.HBPort
	return true
}

// maxConnection is how long a file of Jupyter's runtime folder may be, in bytes.
const maxConnection = 1 << 20

// readConnection reads a connection file.
func readConnection(path string) (connection, error) {
	b, err := disk.ReadFile(path, maxConnection)
	if err != nil {
		return connection{}, err
	}
	return parseConnection(b)
}

// parseConnection reads the content of a connection file. Fields of no use here may be anything.
func parseConnection(b []byte) (connection, error) {
	var c connection
	if err := json.Unmarshal(b, &c); err != nil {
		return connection{}, fmt.Errorf("not a connection file: %w", err)
	}
	if c.Transport == "" {
		c.Transport = "tcp"
	}
	return c, nil
}

// check returns why a kernel cannot be reached with c.
func (c connection) check() error {
	switch {
	case c.ShellPort <= 0 || c.IOPubPort <= 0 || c.ControlPort <= 0:
		return errors.New("the connection file has no ports for shell, iopub and control")
	case c.Transport != "tcp" && c.Transport != "ipc":
		return fmt.Errorf("the connection file has the unknown transport %q", c.Transport)
	case c.IP == "":
		return errors.New("the connection file has no ip")
	case c.Key != "" && c.SignatureScheme != "" && c.SignatureScheme != wire.Scheme:
		return fmt.Errorf("the connection file has the signature_scheme %q, and only %s is understood", c.SignatureScheme, wire.Scheme)
	case c.CurvePublicKey != "":
		return errors.New("the kernel wants encrypted connections (CURVE), which are not understood: reach it over its Jupyter server")
	}
	return nil
}

// endpoints returns the ZeroMQ endpoints by channel.
func (c connection) endpoints() map[Channel]string {
	at := func(port int) string {
		if c.Transport == "ipc" {
			return fmt.Sprintf("watched-ipc://%s-%d", c.IP, port)
		}
		ip := c.IP
		if ip == "*" || ip == "0.0.0.0" { // every address of the machine, this one too
			ip = "127.0.0.1"
		}
		return "watched://" + net.JoinHostPort(ip, strconv.Itoa(port))
	}
	return map[Channel]string{
		Shell: at(c.ShellPort), IOPub: at(c.IOPubPort), Control: at(c.ControlPort), Stdin: at(c.StdinPort),
	}
}
