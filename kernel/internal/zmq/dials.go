package zmq

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	zmqtransport "github.com/go-zeromq/zmq4/transport"
)

// go-zeromq's handshake has no deadline and cannot be cancelled: a peer that accepts and then says
// nothing would block a dial for ever. Endpoints with the schemes watched and watched-ipc use the
// transport below, which can close connections while the dial is in progress.

func init() {
	for name, network := range map[string]string{"watched": "tcp", "watched-ipc": "unix"} {
		if err := zmq4.RegisterTransport(name, watchedTransport{zmqtransport.New(network)}); err != nil {
			panic(err) // the name is taken: a mistake in this file
		}
	}
}

type watchedTransport struct{ zmqtransport.Transport }

func (t watchedTransport) Dial(ctx context.Context, d zmqtransport.Dialer, addr string) (net.Conn,
	error) {
	conn, err := t.Transport.Dial(ctx, d, addr)
	if w, ok := ctx.Value(dialsKey{}).(*dials); ok && err == nil {
		w.add(conn)
	}
	return conn, err
}

type dialsKey struct{}

// dials are the connections that are being made.
type dials struct {
	mu    sync.Mutex
	conns []net.Conn
	done  bool
}

// watchDials returns a context for sockets. Until done is called, their connections have a deadline
// and are closed when ctx ends. Afterwards they no longer depend on ctx.
func watchDials(ctx context.Context) (watched context.Context, done func()) {
	w := &dials{}
	stop := context.AfterFunc(ctx, w.close)
	return context.WithValue(context.WithoutCancel(ctx), dialsKey{}, w), func() {
		stop()
		w.keepOpen()
	}
}

func (w *dials) add(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		_ = c.Close() // nobody waits for it any more
		return
	}
	_ = c.SetDeadline(time.Now().Add(sendTimeout))
	w.conns = append(w.conns, c)
}

func (w *dials) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	for _, c := range w.conns {
		_ = c.Close()
	}
}

func (w *dials) keepOpen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.done = true
		for _, c := range w.conns {
			_ = c.SetDeadline(time.Time{})
		}
	}
}
