package kerneltest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/transport"
	"github.com/google/renameio/v2/maybe"

	"dsstar/kernel/internal/wire"
)

// state publishes an execution state.
func (k *fakeKernel) state(r request, state string) {
	content := map[string]any{"execution_state": state}
	if k.fault == ForgedIdle && state == "idle" && r.Header.MsgType == "execute_request" {
		k.sendAs("not the key", r, "status", content)
		return
	}
	k.send(k.iopub, r, "status", content)
}

// sendAs publishes a message signed with another key.
func (k *fakeKernel) sendAs(key wire.Key, r request, msgType string, content map[string]any) {
	_ = k.iopub.SendMulti(k.message(key, k.iopub, r, msgType, content))
}

// send sends a message with parent r.
func (k *fakeKernel) send(s zmq4.Socket, r request, msgType string, content map[string]any) {
	m := k.message(k.key, s, r, msgType, content)
	_ = s.SendMulti(m) // the client is gone
	if s == k.iopub && k.fault == Duplicates {
		_ = s.SendMulti(m)
	}
}

// message builds the frames without package wire, as it serves to test that.
func (k *fakeKernel) message(key wire.Key, s zmq4.Socket, r request, msgType string,
	content map[string]any) zmq4.Msg {
	session := fmt.Sprint("fake-", os.Getpid())
	serial := k.serial.Add(1)
	header := map[string]any{
		"msg_id": fmt.Sprintf("%s_%d", session, serial), "msg_type": msgType, "session": session,
		"username": "fake",
		"date":     time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00"), "version": "5.4",
	}
	if k.fault == NullDates {
		header["date"] = []any{nil, "yesterday"}[serial%2]
	}
	if k.fault == Echoes {
		var asked struct{ Session string }
		_ = json.Unmarshal(r.header, &asked) // an invalid header has none
		header["session"] = asked.Session
	}
	parts := [][]byte{encode(header), r.header, encode(map[string]any{}), encode(content)}
	idents := r.Idents
	if s == k.iopub {
		idents = [][]byte{[]byte("kernel.fake." + msgType)}
	}
	return zmq4.NewMsgFrom(slices.Concat(idents, [][]byte{[]byte("<IDS|MSG>"), sign(key, parts)},
		parts)...)
}

func sign(key wire.Key, parts [][]byte) []byte {
	if key == "" {
		return []byte{}
	}
	mac := hmac.New(sha256.New, []byte(key))
	for _, p := range parts {
		mac.Write(p)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake in this package
	}
	return b
}

// ports are the names of the ports in a connection file.
var ports = []string{"shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"}

// A connectionFile is the content of a connection file. Unknown fields are kept when it is
// rewritten.
type connectionFile struct {
	path    string
	content map[string]any
	changed *bool
}

func readConnection(path string) (connectionFile, error) {
	c := connectionFile{path: path, changed: new(bool)}
	b, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(b, &c.content)
}

func (c connectionFile) key() wire.Key {
	key, _ := c.content["key"].(string)
	return wire.Key(key)
}

func (c connectionFile) network() string {
	if c.content["transport"] == "ipc" {
		return "unix"
	}
	return "tcp"
}

// address returns the address on which the socket with that port must listen.
func (c connectionFile) address(port string) string {
	number, _ := c.content[port].(float64)
	if c.network() == "tcp" {
		return fmt.Sprintf("%v:%d", c.content["ip"], int(number))
	}
	if number == 0 {
		number = float64(slices.Index(ports, port) + 1)
		c.content[port], *c.changed = number, true
	}
	return fmt.Sprintf("%v-%d", c.content["ip"], int(number))
}

// bound records the address of a socket.
func (c connectionFile) bound(port string, at net.Addr) {
	if a, ok := at.(*net.TCPAddr); ok && c.content[port] != float64(a.Port) {
		c.content[port], *c.changed = float64(a.Port), true
	}
}

func (c connectionFile) save() error {
	if !*c.changed {
		return nil
	}
	return maybe.WriteFile(c.path, encode(c.content), 0o600)
}

// knocks is a ZeroMQ transport that reports connections and can close them all. Closing a socket
// would miss connections that its goroutine has accepted but not yet added.
type knocks struct {
	network string
	heard   chan struct{}

	mu       sync.Mutex
	accepted []net.Conn
	hungUp   bool
}

// hangUp closes all connections, present and future.
func (n *knocks) hangUp() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hungUp = true
	for _, c := range n.accepted {
		_ = c.Close() // the peer may have closed it first
	}
}

func (n *knocks) add(c net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.accepted = append(n.accepted, c)
	if n.hungUp {
		_ = c.Close()
	}
}

// wait waits for a new connection.
func (n *knocks) wait() {
	for len(n.heard) > 0 { // earlier ones
		<-n.heard
	}
	<-n.heard
}

func (n *knocks) Dial(ctx context.Context, d transport.Dialer, addr string) (net.Conn, error) {
	return d.DialContext(ctx, n.network, addr)
}

func (n *knocks) Listen(ctx context.Context, addr string) (net.Listener, error) {
	if n.network == "unix" {
		_ = os.Remove(addr) // left by a killed kernel; libzmq removes it too
	}
	l, err := net.Listen(n.network, addr)
	return knockListener{l, n}, err
}

func (n *knocks) Addr(ep string) (string, error) { return ep, nil }

type knockListener struct {
	net.Listener
	n *knocks
}

func (l knockListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.n.add(c)
		select {
		case l.n.heard <- struct{}{}:
		default:
		}
	}
	return c, err
}
