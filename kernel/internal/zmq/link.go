// Package zmq reads and writes connection files, and connects to the ZeroMQ sockets that they name.
package zmq

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/google/uuid"

	"dsstar/kernel/internal/wire"
)

// Facts about go-zeromq v0.17 that shape this file: Recv has no deadline, and only Close unblocks
// it. A slow reader loses messages. Send returns nil even after the peer has gone, and the message
// of a Send that timed out may still arrive. Send, unlike SendMulti, lets other messages in between
// frames. After Close, a goroutine of the socket blocks for ever unless somebody receives what it
// still holds.

// sendTimeout bounds a Send. A kernel's ZeroMQ threads receive even while it computes: only a
// stopped process exceeds it.
const sendTimeout = 10 * time.Second

// A Link is a connection to a kernel's ZeroMQ sockets.
type Link struct {
	receiver wire.Receiver
	deliver  func(wire.Message)
	shellAt  string                       // endpoint
	sockets  map[wire.Channel]zmq4.Socket // by the channels in use

	closing  chan struct{}
	close    sync.Once
	open     atomic.Int32  // sockets whose peer is still there
	drained  chan struct{} // closed when open gets to 0
	readers  sync.WaitGroup
	rousing  atomic.Bool
	helpers  sync.WaitGroup
	protocol *log.Logger
}

// Dial connects to the sockets of a kernel, to stdin only if withStdin is set. It fails when ctx
// ends. Received messages go to deliver, from one goroutine per channel.
func Dial(ctx context.Context, c File, withStdin bool, deliver func(wire.Message)) (*Link, error) {
	endpoints := c.endpoints()
	l := &Link{
		receiver: wire.Receiver{Key: c.Key}, deliver: deliver, shellAt: endpoints[wire.Shell],
		sockets: map[wire.Channel]zmq4.Socket{}, closing: make(chan struct{}),
		drained:  make(chan struct{}),
		protocol: log.New(io.Discard, "", 0), // the default writes to stderr
	}
	// The kernel sends input_requests to the stdin socket with the identity of the shell socket.
	identity := zmq4.WithID(zmq4.SocketIdentity(uuid.NewString()))
	watched, done := watchDials(ctx)
	defer done()
	l.sockets[wire.Shell] = zmq4.NewDealer(watched, append(l.options(), identity)...)
	l.sockets[wire.IOPub] = zmq4.NewSub(watched, l.options()...)
	l.sockets[wire.Control] = zmq4.NewDealer(watched, l.options()...)
	if withStdin && c.StdinPort != 0 {
		l.sockets[wire.Stdin] = zmq4.NewDealer(watched, append(l.options(), identity)...)
	}
	err := l.sockets[wire.IOPub].SetOption(zmq4.OptionSubscribe, "")
	for ch, s := range l.sockets {
		if err == nil {
			err = s.Dial(endpoints[ch])
		}
	}
	for _, s := range l.sockets {
		if err != nil {
			_ = s.Close() // the failed dial is the error that counts
		} else {
			l.open.Add(1)
		}
	}
	if err != nil {
		return nil, err
	}
	for ch, s := range l.sockets {
		l.readers.Go(func() { l.read(ch, s) })
	}
	return l, nil
}

func (l *Link) options() []zmq4.Option {
	return []zmq4.Option{
		zmq4.WithLogger(l.protocol),
		zmq4.WithTimeout(sendTimeout),
		zmq4.WithDialerTimeout(sendTimeout),
		zmq4.WithDialerMaxRetries(0), // its retries sleep and cannot be stopped
	}
}

// read delivers what arrives on one socket. It does nothing else, so that the socket never fills
// up.
func (l *Link) read(ch wire.Channel, s zmq4.Socket) {
	for {
		msg, err := s.Recv()
		if err != nil {
			break // the peer has gone or the link is being closed
		}
		// Malformed, unsigned and repeated messages are dropped.
		if m, err := l.receiver.Parse(msg.Frames); err == nil {
			m.Channel = ch
			l.deliver(m)
		}
	}
	if l.open.Add(-1) == 0 {
		close(l.drained)
	}
	<-l.closing
	release(s)
}

// release lets the goroutine inside a closed socket end, by receiving what it still holds: up to
// ten queued messages and one more. Recv is called more often, as it chooses at random between the
// queue and the closed context.
func release(s zmq4.Socket) {
	for range 64 {
		_, _ = s.Recv()
	}
}

// Send sends m, in at most sendTimeout. It ignores the context, as a cancelled message could still
// arrive.
func (l *Link) Send(_ context.Context, m wire.Message) error {
	if l.sockets[m.Channel] == nil {
		return fmt.Errorf("send %s: there is no %s channel", m.Header.MsgType, m.Channel)
	}
	frames, err := l.receiver.Key.Encode(m)
	if err != nil {
		return err
	}
	if err := l.sockets[m.Channel].SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		return fmt.Errorf("send %s: %w", m.Header.MsgType, err)
	}
	return nil
}

// Rouse dials the shell socket once more and hangs up. ipykernel 7.0 to 7.3 can miss the wake-up
// for a received request (ipykernel#1554); a new connection woke it in 17 trials of 17.
func (l *Link) Rouse() {
	if !l.rousing.CompareAndSwap(false, true) {
		return
	}
	l.helpers.Go(func() {
		defer l.rousing.Store(false)
		ctx, done := watchDials(context.Background())
		defer done()
		s := zmq4.NewDealer(ctx, l.options()...)
		if s.Dial(l.shellAt) == nil {
			select { // the kernel might not notice a shorter connection
			case <-l.closing:
			case <-time.After(200 * time.Millisecond):
			}
		}
		_ = s.Close()
		release(s)
	})
}

func (l *Link) Drained() <-chan struct{} { return l.drained }

// Lost is nil: the kernel has closed the connection, or its end has.
func (l *Link) Lost() error { return nil }

// Breaks is 0: a lost ZeroMQ connection is not made again.
func (l *Link) Breaks() int { return 0 }

// Close closes the sockets and waits for the readers, and at most sendTimeout for a Rouse.
func (l *Link) Close() error {
	var err error
	l.close.Do(func() {
		for _, s := range l.sockets {
			err = cmp.Or(err, s.Close())
		}
		close(l.closing)
		l.readers.Wait()
		l.helpers.Wait()
	})
	return err
}
