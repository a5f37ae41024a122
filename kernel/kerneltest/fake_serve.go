package kerneltest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/transport"

	"dsstar/kernel/internal/wire"
	"dsstar/kernel/internal/zmq"
)

// A fakeKernel answers the shell channel's requests one by one, and control concurrently.
type fakeKernel struct {
	fault      Fault
	key        wire.Key
	knocks     chan struct{} // has a token for each connection to shell; see Stranded
	interrupts chan struct{} // ends what the cell waits for
	serial     atomic.Int64  // of the last message
	infos      atomic.Int64  // kernel_info_requests

	stdin, iopub, control, shell zmq4.Socket

	turn    sync.Mutex // held while a shell request is answered; guards the rest
	count   int
	aborted bool
}

// A request is a message with its raw header and what leads back to the client.
type request struct {
	wire.Message
	header json.RawMessage
	idents [][]byte
}

func fake(f Fault, file string) error {
	if f == SlowStart {
		time.Sleep(300 * time.Millisecond)
	}
	c, err := zmq.Read(file)
	if err != nil {
		return err
	}
	if f == NeverGreets {
		return neverGreet(c)
	}
	ctx, quiet := context.Background(), zmq4.WithLogger(log.New(io.Discard, "", 0))
	k := &fakeKernel{
		fault: f, key: c.Key, knocks: make(chan struct{}, 100), interrupts: make(chan struct{}, 1),
		stdin: zmq4.NewRouter(ctx, quiet), iopub: zmq4.NewPub(ctx, quiet),
		control: zmq4.NewRouter(ctx, quiet), shell: zmq4.NewRouter(ctx, quiet),
	}
	k.signals()
	if err := k.listen(c); err != nil {
		return err
	}
	k.state(request{header: json.RawMessage("{}")}, "starting")
	go k.serve(k.stdin, func(request) {})
	go k.serve(k.control, k.onControl)
	return k.serve(k.shell, k.onShell)
}

// signals makes SIGINT interrupt the cell, as in a real kernel.
func (k *fakeKernel) signals() {
	switch k.fault {
	case NoShutdownReply:
	case Deaf:
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
	default:
		came := make(chan os.Signal, 1)
		signal.Notify(came, os.Interrupt)
		go func() {
			for range came {
				k.interrupt()
			}
		}()
	}
}

func (k *fakeKernel) interrupt() {
	select {
	case k.interrupts <- struct{}{}:
	default: // one is pending
	}
}

// A knocker is a transport that reports connections.
type knocker struct {
	transport.Transport
	knocks chan<- struct{}
}

type knockListener struct {
	net.Listener
	knocks chan<- struct{}
}

func (n knocker) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := n.Transport.Listen(ctx, addr)
	return knockListener{l, n.knocks}, err
}

func (l knockListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	select {
	case l.knocks <- struct{}{}:
	default:
	}
	return c, err
}

// places returns the network and the addresses of the sockets: shell, which clients probe, last.
func places(c zmq.File) (network string, stdin, iopub, control, shell string) {
	at := func(port int) string {
		if c.Transport == "ipc" {
			return fmt.Sprintf("%s-%d", c.IP, port)
		}
		return fmt.Sprintf("%s:%d", c.IP, port)
	}
	if network = c.Transport; network == "ipc" {
		network = "unix"
	}
	return network, at(c.StdinPort), at(c.IOPubPort), at(c.ControlPort), at(c.ShellPort)
}

func (k *fakeKernel) listen(c zmq.File) error {
	network, stdin, iopub, control, shell := places(c)
	err := zmq4.RegisterTransport("knocks", knocker{transport.New(network), k.knocks})
	for address, socket := range map[string]zmq4.Socket{stdin: k.stdin, iopub: k.iopub, control: k.control} {
		if err == nil && (address != stdin || k.fault != NoStdin) {
			err = socket.Listen(c.Transport + "://" + address)
		}
	}
	if err == nil {
		err = k.shell.Listen("knocks://" + shell)
	}
	return err
}

// neverGreet accepts connections and does nothing, like a stopped process.
func neverGreet(c zmq.File) error {
	network, stdin, iopub, control, shell := places(c)
	for _, address := range []string{stdin, iopub, control, shell} {
		l, err := net.Listen(network, address)
		if err != nil {
			return err
		}
		defer l.Close()
	}
	time.Sleep(time.Minute)
	return nil
}

// serve passes the messages of s to answer. Invalid messages and signatures are dropped, as in
// real kernels.
func (k *fakeKernel) serve(s zmq4.Socket, answer func(request)) error {
	for {
		raw, err := s.Recv()
		if err != nil {
			return err
		}
		m, err := (&wire.Receiver{Key: k.key}).Parse(raw.Frames)
		if err == nil && k.fault != NeverReplies {
			at := len(raw.Frames) - 4
			answer(request{m, raw.Frames[at], raw.Frames[:at-2]})
		}
	}
}

func (k *fakeKernel) onControl(r request) {
	if k.fault == NoControl {
		k.turn.Lock()
		defer k.turn.Unlock()
	}
	k.answer(k.control, r)
}

func (k *fakeKernel) onShell(r request) {
	k.turn.Lock()
	defer k.turn.Unlock()
	if r.Header.MsgType == "execute_request" {
		k.execute(r)
		return
	}
	k.answer(k.shell, r)
}

// info is the content of kernel_info_reply.
var info = map[string]any{
	"status": "ok", "protocol_version": "5.4", "implementation": "fake",
	"implementation_version": "1.0",
	"language_info": map[string]any{"name": "fake", "version": "1.0", "mimetype": "text/plain",
		"file_extension": ".txt"},
	"banner": "A fake kernel", "help_links": []any{}, "supported_features": []string{},
}

// answer answers a request on shell or control. To an unknown one it only sends busy and idle.
func (k *fakeKernel) answer(s zmq4.Socket, r request) {
	switch r.Header.MsgType {
	case "kernel_info_request":
		if k.infos.Add(1) <= 2 && k.fault == NoWelcome {
			k.send(s, r, "kernel_info_reply", info)
			return
		}
		k.reply(s, r, "kernel_info_reply", info)
	case "interrupt_request":
		if k.fault != Deaf {
			k.interrupt()
			k.reply(s, r, "interrupt_reply", map[string]any{"status": "ok"})
		}
	case "shutdown_request":
		if k.fault != Deaf && k.fault != NoShutdownReply {
			k.reply(s, r, "shutdown_reply", map[string]any{"status": "ok", "restart": false})
			time.Sleep(20 * time.Millisecond) // iopub sends in the background
			os.Exit(0)
		}
	default:
		k.state(r, "busy")
		k.state(r, "idle")
	}
}

// reply answers a request other than execute_request.
func (k *fakeKernel) reply(s zmq4.Socket, r request, msgType string, content map[string]any) {
	k.state(r, "busy")
	k.send(s, r, msgType, content)
	k.state(r, "idle")
}

// state publishes an execution state.
func (k *fakeKernel) state(r request, state string) {
	content := map[string]any{"execution_state": state}
	if k.fault == ForgedIdle && state == "idle" && r.Header.MsgType == "execute_request" {
		k.forge(r, "status", content)
		return
	}
	k.send(k.iopub, r, "status", content)
}

// forge publishes a message signed with another key.
func (k *fakeKernel) forge(r request, msgType string, content map[string]any) {
	_ = k.iopub.SendMulti(k.message("not the key", k.iopub, r, msgType, content))
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
		header["session"] = r.Header.Session
	}
	parts := [][]byte{encode(header), r.header, encode(map[string]any{}), encode(content)}
	mac := hmac.New(sha256.New, []byte(key))
	for _, p := range parts {
		mac.Write(p)
	}
	idents := r.idents
	if s == k.iopub {
		idents = [][]byte{[]byte("kernel.fake." + msgType)}
	}
	signed := [][]byte{[]byte("<IDS|MSG>"), hex.AppendEncode(nil, mac.Sum(nil))}
	return zmq4.NewMsgFrom(slices.Concat(idents, signed, parts)...)
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake in this package
	}
	return b
}
