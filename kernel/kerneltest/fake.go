package kerneltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/transport"

	"dsstar/kernel/internal/wire"
)

// A Fault is what is wrong with a fake kernel.
type Fault string

// The faults, with the reports of real kernels that had them where there are.
const (
	None         Fault = "none"
	DiesAtStart  Fault = "dies-at-start" // writes "no module named ipykernel" to stderr and exits with status 1
	NeverBinds   Fault = "never-binds"   // runs and opens no socket
	NeverGreets  Fault = "never-greets"  // accepts connections and says nothing at all
	NeverReplies Fault = "never-replies" // has sockets and answers nothing
	NoWelcome    Fault = "no-welcome"    // publishes nothing for the first two kernel_infos
	LostIdle     Fault = "lost-idle"     // nbclient's iopub_timeout
	ForgedIdle   Fault = "forged-idle"   // idle has a wrong signature
	LostReply    Fault = "lost-reply"    // executes, never replies
	ReplyFirst   Fault = "reply-first"   // the reply comes long before the outputs
	IdleFirst    Fault = "idle-first"    // the reply comes long after idle
	Garbage      Fault = "garbage"       // frames that are no messages, in between
	Strange      Fault = "strange"       // Zed#41649: states, fields, types and dates nobody knows
	Stranded     Fault = "stranded"      // ipykernel#1554: sees requests only when somebody connects
	Aborts       Fault = "aborts"        // the first answer to a request is "aborted"
	Deaf         Fault = "deaf"          // ignores shutdown_request and SIGINT
	HangsUp      Fault = "hangs-up"      // closes its connections in the cell, and lives
	Forgets      Fault = "forgets"       // takes execute_request up and never says anything
)

// command marks the arguments of a fake kernel.
const command = "kerneltest-fake-kernel"

// Argv returns the argv of a kernelspec for a fake kernel with the given
// fault: the running test program, whose TestMain must call [Main] first.
func Argv(f Fault) []string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return []string{self, command, string(f), "{connection_file}"}
}

// Main runs a fake kernel to its end, and reports true, if args are what
// [Argv] says. It understands cells of the form print("text"), raise and
// sleep; it does nothing for others.
func Main(args []string) bool {
	if len(args) != 4 || args[1] != command {
		return false
	}
	if err := fake(Fault(args[2]), args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "fake kernel:", err)
		os.Exit(1)
	}
	return true
}

// A fakeKernel answers one request after the other.
type fakeKernel struct {
	fault   Fault
	key     wire.Key
	shell   zmq4.Socket
	control zmq4.Socket
	iopub   zmq4.Socket
	knocks  *knocks
	count   int
	infos   int
	aborted bool
	serial  atomic.Int64
}

func fake(f Fault, file string) error {
	switch f {
	case DiesAtStart:
		return fmt.Errorf("no module named ipykernel")
	case NeverBinds:
		time.Sleep(time.Minute)
		return nil
	case Deaf:
		signal.Ignore(os.Interrupt)
	}
	var c struct {
		IP  string   `json:"ip"`
		Key wire.Key `json:"key"`
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	if f == NeverGreets {
		for _, n := range "124" {
			if _, err := net.Listen("unix", fmt.Sprintf("%s-%c", c.IP, n)); err != nil {
				return err
			}
		}
		time.Sleep(time.Minute)
		return nil
	}
	ctx, quiet := context.Background(), zmq4.WithLogger(log.New(io.Discard, "", 0))
	k := &fakeKernel{
		fault: f, key: c.Key, knocks: &knocks{heard: make(chan struct{}, 100)},
		shell: zmq4.NewRouter(ctx, quiet), control: zmq4.NewRouter(ctx, quiet), iopub: zmq4.NewPub(ctx, quiet),
	}
	if err := zmq4.RegisterTransport("knocks", k.knocks); err != nil {
		return err
	}
	for s, at := range map[zmq4.Socket]string{
		k.shell: "knocks://" + c.IP + "-1", k.iopub: "ipc://" + c.IP + "-2", k.control: "ipc://" + c.IP + "-4",
	} {
		if err := s.Listen(at); err != nil {
			return err
		}
	}
	go k.serve(k.control, k.onControl)
	return k.serve(k.shell, k.onShell)
}

// serve answers what arrives on s.
func (k *fakeKernel) serve(s zmq4.Socket, answer func(wire.Message)) error {
	for {
		raw, err := s.Recv()
		if err != nil {
			return err
		}
		m, err := k.key.Parse(raw.Frames)
		if err != nil {
			return err
		}
		if k.fault != NeverReplies {
			answer(m)
		}
	}
}

func (k *fakeKernel) onControl(m wire.Message) {
	if m.Header.MsgType == "shutdown_request" && k.fault != Deaf {
		k.send(k.control, m, "shutdown_reply", map[string]any{"status": "ok"})
		time.Sleep(10 * time.Millisecond)
		os.Exit(0)
	}
}

func (k *fakeKernel) onShell(m wire.Message) {
	if m.Header.MsgType == "kernel_info_request" {
		k.infos++
		if k.fault == NoWelcome && k.infos <= 2 {
			k.send(k.shell, m, "kernel_info_reply", map[string]any{})
			return
		}
		k.state(m, "busy")
		k.send(k.shell, m, "kernel_info_reply", map[string]any{
			"status": "ok", "implementation": "fake", "language_info": map[string]any{"name": "fake"},
		})
		k.state(m, "idle")
		return
	}
	if m.Header.MsgType == "execute_request" {
		k.execute(m)
	}
}

// execute runs a cell in the way of the fault.
func (k *fakeKernel) execute(m wire.Message) {
	switch k.fault {
	case Forgets:
		return
	case Stranded:
		k.knocks.wait()
	case Aborts:
		if k.aborted = !k.aborted; k.aborted {
			k.state(m, "busy")
			k.send(k.shell, m, "execute_reply", map[string]any{"status": "aborted"})
			k.state(m, "idle")
			return
		}
	}
	var content struct{ Code string }
	_ = json.Unmarshal(m.Content, &content) // a request that cannot be read has no code
	k.count++
	k.state(m, "busy")
	k.send(k.iopub, m, "execute_input", map[string]any{"code": content.Code, "execution_count": k.count})
	reply := map[string]any{"status": "ok", "execution_count": k.count}
	if content.Code == "raise" {
		reply["status"] = "error"
	}
	switch k.fault {
	case ReplyFirst:
		k.send(k.shell, m, "execute_reply", reply)
		time.Sleep(300 * time.Millisecond)
		k.output(m, content.Code)
		k.state(m, "idle")
		return
	case IdleFirst:
		k.output(m, content.Code)
		k.state(m, "idle")
		time.Sleep(300 * time.Millisecond)
		k.send(k.shell, m, "execute_reply", reply)
		return
	case LostReply:
		k.output(m, content.Code)
		k.state(m, "idle")
		return
	case HangsUp:
		for _, s := range []zmq4.Socket{k.shell, k.iopub, k.control} {
			_ = s.Close()
		}
		time.Sleep(time.Minute)
	}
	k.output(m, content.Code)
	k.send(k.shell, m, "execute_reply", reply)
	if k.fault != LostIdle {
		k.state(m, "idle")
	}
}

// output publishes what the code prints or raises.
func (k *fakeKernel) output(m wire.Message, code string) {
	switch k.fault {
	case Garbage:
		for _, frames := range [][][]byte{
			{{}}, {[]byte("x"), []byte("y")}, {[]byte("<IDS|MSG>")}, {[]byte("t"), []byte("<IDS|MSG>"), []byte("0"), []byte("{}")},
			{[]byte("<IDS|MSG>"), []byte("00"), []byte("{}"), []byte("{}"), []byte("{}"), []byte("{}")},
		} {
			_ = k.iopub.SendMulti(zmq4.NewMsgFrom(frames...))
		}
		k.sendAs("not the key", m, "stream", map[string]any{"name": "stdout", "text": "forged"})
	case Strange:
		k.state(m, "zombie")
		k.send(k.iopub, m, "news_of_the_world", map[string]any{"x": nil})
		k.send(k.iopub, m, "status", map[string]any{"execution_state": 7})
		k.send(k.iopub, m, "stream", map[string]any{"name": "stdout", "text": []int{1}})
	}
	if text, ok := strings.CutPrefix(code, `print("`); ok {
		k.send(k.iopub, m, "stream", map[string]any{"name": "stdout", "text": strings.TrimSuffix(text, `")`) + "\n"})
	}
	if code == "raise" {
		k.send(k.iopub, m, "error", map[string]any{"ename": "E", "evalue": "v", "traceback": []string{"E: v"}})
	}
	if code == "sleep" {
		time.Sleep(time.Minute)
	}
}

func (k *fakeKernel) state(m wire.Message, state string) {
	if k.fault == ForgedIdle && state == "idle" && m.Header.MsgType == "execute_request" {
		k.sendAs("not the key", m, "status", map[string]any{"execution_state": state})
		return
	}
	k.send(k.iopub, m, "status", map[string]any{"execution_state": state})
}

func (k *fakeKernel) sendAs(key wire.Key, m wire.Message, msgType string, content map[string]any) {
	other := &fakeKernel{key: key, iopub: k.iopub}
	other.send(k.iopub, m, msgType, content)
}

// send sends a message about m.
func (k *fakeKernel) send(s zmq4.Socket, m wire.Message, msgType string, content map[string]any) {
	body, err := json.Marshal(content)
	if err != nil {
		panic(err) // a mistake in this file
	}
	out := wire.Message{
		Idents:  [][]byte{[]byte("kernel.fake." + msgType)},
		Header:  wire.Header{MsgID: fmt.Sprint(k.serial.Add(1)), MsgType: msgType, Session: "fake"},
		Parent:  m.Header,
		Content: body,
	}
	if s != k.iopub {
		out.Idents = m.Idents
	}
	frames, err := k.key.Encode(out)
	if err != nil {
		panic(err) // the same
	}
	_ = s.SendMulti(zmq4.NewMsgFrom(frames...)) // nobody listens any more
}

// knocks is a ZeroMQ transport over Unix sockets that tells of connections.
type knocks struct{ heard chan struct{} }

// wait waits for a new connection.
func (n *knocks) wait() {
	for len(n.heard) > 0 { // those before
		<-n.heard
	}
	<-n.heard
}

func (n *knocks) Dial(ctx context.Context, d transport.Dialer, addr string) (net.Conn, error) {
	return d.DialContext(ctx, "unix", addr)
}

func (n *knocks) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := net.Listen("unix", addr)
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
		select {
		case l.n.heard <- struct{}{}:
		default:
		}
	}
	return c, err
}
