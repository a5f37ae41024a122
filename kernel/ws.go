package kernel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"

	"dsstar/kernel/internal/wire"
)

// Facts about gorilla/websocket v1.5.3 that shape this file: one goroutine may read and one may
// write. Pongs are seen only while somebody reads. Without a deadline a read waits for ever.

const (
	// bytes that a server accepts in one message (tornado, websocket_max_message_size)
	maxFrame  = 10 << 20
	pingEvery = 30 * time.Second // as servers do
	silence   = 90 * time.Second // a connection that is silent for so long counts as lost

	sendTimeout = 10 * time.Second // for one message
)

// A tooLargeError reports a message so large that the server would close the connection.
type tooLargeError struct{ size int }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("the message has %d MiB, and Jupyter servers take %d", e.size>>20, maxFrame>>20)
}

// errGone ends reconnecting: the server no longer has the kernel.
var errGone = errors.New("the server no longer has the kernel")

// A wsLink is a WebSocket connection to a kernel on a server. When the connection is lost it
// reconnects, with the same session id: for that id the server buffers the kernel's messages in
// between.
type wsLink struct {
	server         Server
	kernel         string // id
	session        string // id
	reconnectLimit time.Duration
	deliver        func(Message)

	ctx     context.Context // ended by Close
	cancel  context.CancelFunc
	drained chan struct{}
	workers sync.WaitGroup

	writing sync.Mutex // held while writing to conn
	mu      sync.Mutex // guards now
	now     wsState
}

// A wsState is how a link stands.
type wsState struct {
	conn    *websocket.Conn // nil while there is none
	heard   time.Time       // when conn was last seen to work
	changed chan struct{}   // closed when conn or lost changes
	breaks  int             // how often conn was replaced
	lost    error           // why it does not reconnect any more
}

func (l *wsLink) state() wsState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// dialWS connects to a kernel on a server. After losing the connection, the link tries to reconnect
// for w.reconnect.
func dialWS(ctx context.Context, s Server, kernel, session string, w waits,
	deliver func(Message)) (*wsLink, error) {
	l := &wsLink{
		server: s, kernel: kernel, session: session,
		reconnectLimit: w.reconnect, deliver: deliver,
		drained: make(chan struct{}), now: wsState{changed: make(chan struct{})},
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	conn, err := l.first(ctx, w.handshake)
	if err != nil {
		l.cancel()
		return nil, err
	}
	l.now.conn = conn
	l.workers.Go(func() { l.work(conn) })
	return l, nil
}

// first makes the first connection. The server accepts it only once the kernel has answered a
// request, and a kernel that misses one (ipykernel#1554) answers when the next connection is made.
// So the first attempt has a short time-out, which doubles with each repetition.
func (l *wsLink) first(ctx context.Context, patience time.Duration) (*websocket.Conn, error) {
	for ; ; patience *= 2 {
		conn, err := l.connect(ctx, l.session, patience)
		if slow, ok := errors.AsType[net.Error](err); err == nil || ctx.Err() != nil || !ok ||
			!slow.Timeout() {
			return conn, err
		}
	}
}

// connect makes one connection.
func (l *wsLink) connect(ctx context.Context, session string,
	patience time.Duration) (*websocket.Conn, error) {
	d := websocket.Dialer{
		Proxy: http.ProxyFromEnvironment, NetDialContext: l.server.dial, HandshakeTimeout: patience,
	}
	address := "ws" + strings.TrimPrefix(l.server.URL, "http") +
		"api/kernels/" + url.PathEscape(l.kernel) + "/channels?session_id=" + session
	conn, response, err := d.DialContext(ctx, address, l.server.header())
	if err == nil {
		return conn, nil
	}
	if response != nil && response.StatusCode == http.StatusNotFound {
		return nil, errGone
	}
	if response != nil && response.StatusCode >= 300 {
		return nil, l.server.decode(response, nil, nil)
	}
	return nil, fmt.Errorf("%s cannot be reached: %w", l.server.URL, err)
}

// work reads from conn, and reconnects whenever it is lost.
func (l *wsLink) work(conn *websocket.Conn) {
	defer close(l.drained)
	for {
		l.read(conn)
		l.set(nil, nil)
		_ = conn.Close() // the connection is lost already
		next, err := l.reconnect()
		if l.ctx.Err() != nil {
			if err == nil {
				_ = next.Close()
			}
			return
		}
		l.set(next, err)
		if err != nil {
			return
		}
		conn = next
	}
}

// read delivers what arrives until the connection is lost.
func (l *wsLink) read(conn *websocket.Conn) {
	stop := make(chan struct{})
	defer close(stop)
	l.workers.Go(func() { l.ping(conn, stop) })
	alive := func(string) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.now.heard = time.Now()
		return conn.SetReadDeadline(l.now.heard.Add(silence))
	}
	conn.SetPongHandler(alive)
	for {
		_ = alive("")
		kind, data, err := conn.ReadMessage()
		if err != nil {
			return
		}
		m, err := wire.ParseText(data, kind == websocket.BinaryMessage)
		if err != nil {
			continue // if it was an idle, the run notices that it is missing
		}
		switch m.Channel {
		case Shell, Control, IOPub, Stdin:
			l.deliver(m)
		}
	}
}

// ping pings the server at intervals, so that a silent connection is a lost one. It also closes
// conn when the link is closed.
func (l *wsLink) ping(conn *websocket.Conn, stop <-chan struct{}) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-l.ctx.Done():
			bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
			_ = conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second))
			_ = conn.Close()
			return
		case <-tick.C:
			// The reader sees an error too.
			_ = conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(sendTimeout))
		}
	}
}

// reconnect replaces a lost connection.
func (l *wsLink) reconnect() (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, l.reconnectLimit)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		conn, err := l.connect(ctx, l.session, restTimeout)
		if refused, ok := errors.AsType[*ServerError](err); err == nil || errors.Is(err, errGone) {
			return conn, err
		} else if ok && refused.Credentials() {
			return nil, &ServerLostError{l.server.URL, err}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, &ServerLostError{l.server.URL, err}
		}
	}
}

func (l *wsLink) set(conn *websocket.Conn, lost error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now.conn, l.now.lost = conn, lost; conn != nil {
		l.now.breaks++
	}
	close(l.now.changed)
	l.now.changed = make(chan struct{})
}

// Send sends m exactly once: the server has not seen a message that was not written completely, so
// it is sent again on the next connection.
func (l *wsLink) Send(ctx context.Context, m Message) error {
	for {
		now := l.state()
		switch {
		case now.lost != nil:
			return now.lost
		case now.conn != nil:
			err := l.check(ctx, now.conn)
			if err == nil {
				err = l.write(now.conn, m)
			}
			if _, ok := errors.AsType[*tooLargeError](err); ok || err == nil || ctx.Err() != nil {
				return err
			}
			_ = now.conn.Close() // the reader makes the next one
		}
		select {
		case <-now.changed:
		case <-ctx.Done():
			return Ended(ctx)
		case <-l.ctx.Done():
			return ErrClosed
		}
	}
}

// A connection that was heard from within fresh is assumed to work. Otherwise the other end has
// pongWait to answer a ping.
const (
	fresh    = 250 * time.Millisecond
	pongWait = 5 * time.Second
)

// check makes sure that the other end is still there. After the computer has slept, a connection
// can look intact although everything written to it is lost.
func (l *wsLink) check(ctx context.Context, conn *websocket.Conn) error {
	asked := time.Now()
	if asked.Sub(l.state().heard) < fresh || ctx.Err() != nil { // ctx may be atOnce
		return nil
	}
	if err := conn.WriteControl(websocket.PingMessage, nil, asked.Add(sendTimeout)); err != nil {
		return err
	}
	for l.state().heard.Before(asked) {
		time.Sleep(time.Millisecond)
		if ctx.Err() != nil {
			return Ended(ctx)
		}
		if time.Since(asked) > pongWait || l.ctx.Err() != nil {
			return errors.New("no answer to a ping")
		}
	}
	return nil
}

func (l *wsLink) write(conn *websocket.Conn, m Message) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	data, err := wire.EncodeText(m)
	if err != nil {
		return err
	}
	if len(data) > maxFrame {
		return &tooLargeError{len(data)}
	}
	_ = conn.SetWriteDeadline(time.Now().Add(sendTimeout))
	return conn.WriteMessage(websocket.TextMessage, data)
}

// Rouse has the server connect to the kernel once more, under another session id; see [transport].
// It does nothing while the link is not connected: the other session would make the server drop
// what it buffers for this one.
func (l *wsLink) Rouse() {
	if l.state().conn == nil {
		return
	}
	l.workers.Go(func() {
		conn, err := l.connect(l.ctx, uuid.NewString(), restTimeout)
		if err != nil {
			return
		}
		select {
		case <-l.ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
		_ = conn.Close()
	})
}

func (l *wsLink) Drained() <-chan struct{} { return l.drained }

func (l *wsLink) Breaks() int { return l.state().breaks }

func (l *wsLink) Lost() error { return l.state().lost }

func (l *wsLink) Close() error {
	l.cancel()
	l.workers.Wait()
	return nil
}
