package kerneltest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"

	"dsstar/kernel/internal/wire"
	"dsstar/kernel/internal/zmq"
)

// A fakeKernel answers the shell channel's requests one by one, and control concurrently. It has no
// stdin socket, as some kernels (Zed#56918).
type fakeKernel struct {
	fault      Fault
	key        wire.Key
	knocks     chan struct{} // has a token for each connection to shell
	interrupts chan struct{} // ends what the cell waits for
	serial     atomic.Int64  // of the last message
	infos      atomic.Int64  // kernel_info_requests

	iopub, control, shell zmq4.Socket

	turn    sync.Mutex // held while a shell request is answered; guards the rest
	count   int
	aborted bool
}

// A request is a message with what leads back to the client.
type request struct {
	wire.Message
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
	ctx, quiet := context.Background(), zmq4.WithLogger(log.New(io.Discard, "", 0))
	k := &fakeKernel{
		fault: f, key: c.Key, knocks: make(chan struct{}, 100), interrupts: make(chan struct{}, 1),
		iopub: zmq4.NewPub(ctx, quiet), control: zmq4.NewRouter(ctx, quiet),
	}
	k.shell = zmq4.NewRouter(ctx, quiet, zmq4.WithSecurity(door{null.Security(), k}))
	k.signals()
	if err := k.listen(c); err != nil {
		return err
	}
	k.state(request{}, "starting")
	turn := new(sync.Mutex)
	if f == NoControl {
		turn = &k.turn
	}
	go k.serve(k.control, turn)
	return k.serve(k.shell, &k.turn)
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

// A door is the usual handshake of connections to shell, and the faults of it.
type door struct {
	zmq4.Security
	k *fakeKernel
}

func (d door) Handshake(c *zmq4.Conn, server bool) error {
	if d.k.fault == NeverGreets {
		select {}
	}
	select {
	case d.k.knocks <- struct{}{}:
	default:
	}
	return d.Security.Handshake(c, server)
}

func (k *fakeKernel) listen(c zmq.File) error {
	before := c.Transport + "://" + c.IP + map[string]string{"ipc": "-", "tcp": ":"}[c.Transport]
	var err error
	for port, socket := range map[int]zmq4.Socket{c.IOPubPort: k.iopub, c.ControlPort: k.control,
		c.ShellPort: k.shell} {
		err = cmp.Or(err, socket.Listen(fmt.Sprint(before, port)))
	}
	return err
}

// serve answers the messages of s, each in its turn. Invalid messages and signatures are dropped, as
// in real kernels.
func (k *fakeKernel) serve(s zmq4.Socket, turn sync.Locker) error {
	for {
		raw, err := s.Recv()
		if err != nil {
			return err
		}
		m, err := (&wire.Receiver{Key: k.key}).Parse(raw.Frames)
		if err == nil && k.fault != NeverReplies {
			turn.Lock()
			k.answer(s, request{m, raw.Frames[:len(raw.Frames)-6]}) // there are no buffers
			turn.Unlock()
		}
	}
}

// info is the content of kernel_info_reply.
var info = map[string]any{
	"status": "ok", "protocol_version": wire.Version, "implementation": "fake",
	"language_info": map[string]any{"name": "fake", "file_extension": ".txt"},
}

// answer answers a request on shell or control. To an unknown one it only sends busy and idle.
func (k *fakeKernel) answer(s zmq4.Socket, r request) {
	switch r.Header.MsgType {
	case "execute_request":
		k.execute(r)
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

// message returns the frames of a message with parent r.
func (k *fakeKernel) message(key wire.Key, s zmq4.Socket, r request, msgType string,
	content map[string]any) zmq4.Msg {
	serial := k.serial.Add(1)
	h := wire.Header{MsgID: fmt.Sprintf("fake_%d", serial), MsgType: msgType, Session: "fake",
		Username: "fake", Date: time.Now().UTC().Format(time.RFC3339Nano), Version: wire.Version}
	switch k.fault {
	case NullDates:
		h.Date = []any{json.RawMessage("null"), "yesterday"}[serial%2]
	case Echoes:
		h.Session = r.Header.Session
	}
	frames := must(key.Encode(wire.Message{Header: h, Parent: r.Header, Content: encode(content)}))
	to := r.idents
	if s == k.iopub {
		to = [][]byte{[]byte("kernel.fake." + msgType)}
	}
	return zmq4.NewMsgFrom(slices.Concat(to, frames)...)
}

func encode(v any) []byte { return must(json.Marshal(v)) }

// must returns what fails only by a mistake in this package, or of the machine.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
