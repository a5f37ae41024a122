package kerneltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"

	"dsstar/kernel/internal/wire"
)

// A fakeKernel answers the shell channel's requests one by one, and control concurrently.
type fakeKernel struct {
	fault      Fault
	key        wire.Key
	knocks     *knocks
	children   []int         // process ids; see Grandchildren
	interrupts chan struct{} // ends what the cell waits for
	serial     atomic.Int64  // of the last message
	infos      atomic.Int64  // kernel_info_requests

	hb, stdin, iopub, control, shell zmq4.Socket

	turn    sync.Mutex // held while a shell request is answered; guards the rest
	count   int
	aborted bool
}

// A request is a message with its raw header.
type request struct {
	wire.Message
	header json.RawMessage
}

func fake(f Fault, file string) error {
	go followParent()
	switch f {
	case NeverBinds:
		time.Sleep(time.Minute)
		return nil
	case SlowStart:
		time.Sleep(2 * time.Second)
	}
	c, err := readConnection(file)
	if err != nil {
		return err
	}
	if f == NeverGreets {
		return neverGreet(c)
	}
	ctx, quiet := context.Background(), zmq4.WithLogger(log.New(io.Discard, "", 0))
	k := &fakeKernel{
		fault: f, key: c.key(), knocks: &knocks{network: c.network(), heard: make(chan struct{}, 100)},
		interrupts: make(chan struct{}, 1),
		hb:         zmq4.NewRep(ctx, quiet), iopub: zmq4.NewPub(ctx, quiet),
		stdin: zmq4.NewRouter(ctx, quiet), control: zmq4.NewRouter(ctx, quiet),
		shell: zmq4.NewRouter(ctx, quiet),
	}
	if f == Grandchildren {
		if k.children, err = startChildren(); err != nil {
			return err
		}
	}
	k.signals()
	if err := k.listen(c); err != nil {
		return err
	}
	return k.run()
}

// followParent ends the process with its parent if JPY_PARENT_PID is set, as ipykernel does.
func followParent() {
	if os.Getenv("JPY_PARENT_PID") == "" {
		return
	}
	for parent := os.Getppid(); os.Getppid() == parent; {
		time.Sleep(500 * time.Millisecond)
	}
	os.Exit(1)
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

// drain discards interrupts of earlier cells.
func (k *fakeKernel) drain() {
	select {
	case <-k.interrupts:
	default:
	}
}

// listen binds the sockets and writes the chosen ports to the connection file. The sockets that
// clients probe are bound last.
func (k *fakeKernel) listen(c connectionFile) error {
	if err := zmq4.RegisterTransport("knocks", k.knocks); err != nil {
		return err
	}
	for _, s := range []struct {
		socket zmq4.Socket
		port   string
	}{
		{k.hb, "hb_port"}, {k.stdin, "stdin_port"}, {k.iopub, "iopub_port"}, {k.control, "control_port"},
		{k.shell, "shell_port"},
	} {
		if s.socket == k.stdin && k.fault == NoStdin {
			continue
		}
		if err := s.socket.Listen("knocks://" + c.address(s.port)); err != nil {
			return err
		}
		c.bound(s.port, s.socket.Addr())
	}
	return c.save()
}

// neverGreet accepts connections and does nothing, like a stopped process.
func neverGreet(c connectionFile) error {
	for _, port := range ports {
		l, err := net.Listen(c.network(), c.address(port))
		if err != nil {
			return err
		}
		defer l.Close()
		c.bound(port, l.Addr())
	}
	if err := c.save(); err != nil {
		return err
	}
	time.Sleep(time.Minute)
	return nil
}

func (k *fakeKernel) run() error {
	k.state(request{header: json.RawMessage("{}")}, "starting")
	if k.fault != NeverReplies {
		go k.echo()
	}
	if k.fault != NoStdin {
		go k.serve(k.stdin, func(request) {})
	}
	go k.serve(k.control, k.onControl)
	return k.serve(k.shell, k.onShell)
}

// echo is the heartbeat.
func (k *fakeKernel) echo() {
	for {
		m, err := k.hb.Recv()
		if errors.Is(err, context.Canceled) {
			return
		}
		if err == nil {
			_ = k.hb.Send(m) // the client may have disconnected
		}
	}
}

// serve passes the messages of s to answer. Invalid messages and signatures are dropped, as in
// real kernels.
func (k *fakeKernel) serve(s zmq4.Socket, answer func(request)) error {
	for {
		raw, err := s.Recv()
		if err != nil {
			return err
		}
		m, err := k.key.Parse(raw.Frames)
		if err != nil {
			fmt.Fprintln(os.Stderr, "fake kernel:", err)
			continue
		}
		if k.fault != NeverReplies {
			answer(request{m, raw.Frames[len(m.Idents)+2]})
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
			k.shutdown(s, r)
		}
	default:
		k.state(r, "busy")
		k.state(r, "idle")
	}
}

// shutdown replies, also on iopub, and ends the process.
func (k *fakeKernel) shutdown(s zmq4.Socket, r request) {
	var content struct{ Restart bool }
	_ = json.Unmarshal(r.Content, &content) // invalid content means no restart
	reply := map[string]any{"status": "ok", "restart": content.Restart}
	k.reply(s, r, "shutdown_reply", reply)
	k.send(k.iopub, r, "shutdown_reply", reply)
	time.Sleep(20 * time.Millisecond) // iopub sends in the background
	os.Exit(0)
}

// reply answers a request other than execute_request.
func (k *fakeKernel) reply(s zmq4.Socket, r request, msgType string, content map[string]any) {
	k.state(r, "busy")
	k.send(s, r, msgType, content)
	k.state(r, "idle")
}
