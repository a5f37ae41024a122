package kernel

import (
	"sync"

	"dsstar/kernel/internal/wire"
)

// A channel is one of the protocol's channels to a kernel.
type channel int

// There is no stdin channel: every request says allow_stdin=false, so that a
// cell which calls input() raises an exception instead of waiting for a human.
// There is no heartbeat either: the death of an owned process is seen at once.
const (
	shell channel = iota
	iopub
	control
)

// A transport carries messages to and from one kernel. Received messages go to
// the deliver function that it was made with, which must not block and is
// called from one goroutine per channel, in the order of that channel.
type transport interface {
	// Send sends one message. After an error the transport is unusable: a
	// message whose fate is unknown must not be sent again.
	Send(channel, wire.Message) error
	// Rouse wakes a kernel that does not see a request which it has received.
	// It does not wait.
	Rouse()
	// Drained is closed when the kernel's ends of all channels have gone and all
	// that they sent has been delivered.
	Drained() <-chan struct{}
	// Close ends all deliveries; none happens after it has returned.
	Close() error
}

// A delivery is a received message and the channel it came by.
type delivery struct {
	from channel
	msg  wire.Message
}

// An inbox is an unbounded queue of deliveries. It has no bound because a
// reader that lags makes ZeroMQ drop iopub messages: with 20,000 printed lines
// and a slow reader, 14,000 were lost and idle with them.
type inbox struct {
	ready chan struct{} // has a token whenever take may find something

	mu    sync.Mutex
	items []delivery
}

func newInbox() *inbox { return &inbox{ready: make(chan struct{}, 1)} }

func (b *inbox) put(d delivery) {
	b.mu.Lock()
	b.items = append(b.items, d)
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// take removes and returns what has arrived.
func (b *inbox) take() []delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}
