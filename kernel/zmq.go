package kernel

import (
	"context"
	"fmt"
	"io"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"

	"dsstar/kernel/internal/wire"
)

// Facts about go-zeromq v0.17 that shape this file: Recv has no deadline and
// only Close unblocks it. A reader that lags loses messages. Send returns nil
// for ever once the peer has gone, and messages of a timed-out Send arrive
// nevertheless. Send, unlike SendMulti, lets other messages in between frames.
// After Close, a goroutine inside the socket stays for ever unless somebody
// receives what it still holds.

// sendTimeout bounds a Send. The kernel's ZeroMQ threads receive even while it
// computes, so that only a stopped process lets it pass.
const sendTimeout = 10 * time.Second

// A zmqLink is a connection to a kernel's ZeroMQ sockets.
type zmqLink struct {
	key     wire.Key
	deliver func(delivery)
	shellAt string // endpoint
	sockets [3]zmq4.Socket

	closing  chan struct{}
	close    sync.Once
	open     atomic.Int32  // sockets whose peer is still there
	drained  chan struct{} // closed when open gets to 0
	readers  sync.WaitGroup
	rousing  atomic.Bool
	helpers  sync.WaitGroup
	protocol *log.Logger
}

// dialZMQ connects to the endpoints of a kernel, given by channel. It can take
// as long as the kernel's process lives and does not answer; killing that
// process makes it return.
func dialZMQ(endpoints [3]string, key wire.Key, deliver func(delivery)) (*zmqLink, error) {
	l := &zmqLink{
		key: key, deliver: deliver, shellAt: endpoints[shell],
		closing: make(chan struct{}), drained: make(chan struct{}),
		protocol: log.New(io.Discard, "", 0), // the default writes to stderr
	}
	l.sockets = [3]zmq4.Socket{
		shell:   zmq4.NewDealer(context.Background(), l.options()...),
		iopub:   zmq4.NewSub(context.Background(), l.options()...),
		control: zmq4.NewDealer(context.Background(), l.options()...),
	}
	err := l.sockets[iopub].SetOption(zmq4.OptionSubscribe, "")
	for ch := 0; err == nil && ch < len(l.sockets); ch++ {
		err = l.sockets[ch].Dial(endpoints[ch])
	}
	if err != nil {
		for _, s := range l.sockets {
			_ = s.Close() // the failed dial is the error that counts
		}
		return nil, err
	}
	l.open.Store(int32(len(l.sockets)))
	for ch, s := range l.sockets {
		l.readers.Go(func() { l.read(channel(ch), s) })
	}
	return l, nil
}

func (l *zmqLink) options() []zmq4.Option {
	return []zmq4.Option{
		zmq4.WithLogger(l.protocol),
		zmq4.WithTimeout(sendTimeout),
		zmq4.WithDialerTimeout(sendTimeout),
		zmq4.WithDialerMaxRetries(0), // its retries sleep and cannot be stopped
	}
}

// read delivers what arrives on one socket. It does nothing else, so that the
// socket is always drained.
func (l *zmqLink) read(ch channel, s zmq4.Socket) {
	for {
		msg, err := s.Recv()
		if err != nil {
			break // the peer has gone or the link is being closed
		}
		// Frames that are no message, or that are signed by nobody, are dropped.
		// A lost idle among them is dealt with as any lost idle.
		if m, err := l.key.Parse(msg.Frames); err == nil {
			l.deliver(delivery{ch, m})
		}
	}
	if l.open.Add(-1) == 0 {
		close(l.drained)
	}
	<-l.closing
	release(s)
}

// release lets the goroutine inside a closed socket go: it may hold one
// message more than the ten that its queue takes, and Recv chooses at random
// between the queue and the closed context.
func release(s zmq4.Socket) {
	for range 64 {
		_, _ = s.Recv()
	}
}

func (l *zmqLink) Send(ch channel, m wire.Message) error {
	frames, err := l.key.Encode(m)
	if err != nil {
		return err
	}
	if err := l.sockets[ch].SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		return fmt.Errorf("send %s: %w", m.Header.MsgType, err)
	}
	return nil
}

// Rouse dials the shell socket once more and hangs up. ipykernel 7.0 to 7.3
// can miss the wake-up for a received request (ipykernel#1554); a new
// connection is the one thing that was seen to wake it, 17 times of 17.
func (l *zmqLink) Rouse() {
	if !l.rousing.CompareAndSwap(false, true) {
		return
	}
	l.helpers.Go(func() {
		defer l.rousing.Store(false)
		s := zmq4.NewDealer(context.Background(), l.options()...)
		if s.Dial(l.shellAt) == nil {
			select { // hanging up at once could be too quick to be noticed
			case <-l.closing:
			case <-time.After(200 * time.Millisecond):
			}
		}
		_ = s.Close()
		release(s)
	})
}

func (l *zmqLink) Drained() <-chan struct{} { return l.drained }

// Close closes the sockets and waits for the readers. The kernel's process
// must have ended, or a Rouse under way could hold it up.
func (l *zmqLink) Close() error {
	var err error
	l.close.Do(func() {
		for _, s := range l.sockets {
			if e := s.Close(); err == nil {
				err = e
			}
		}
		close(l.closing)
		l.readers.Wait()
		l.helpers.Wait()
	})
	return err
}
