package kernel

import (
	"context"

	"dsstar/kernel/internal/wire"
)

// A Message is one message of the protocol, either way, from the wire to those who fold it into
// outputs. Who sends one sets Channel, Header.MsgType, Content and what else it has; the rest of
// the header is filled in.
type Message = wire.Message

// A Header says what a message is.
type Header = wire.Header

// A Channel is one of the protocol's channels to a kernel. Requests go to Shell or Control.
type Channel = wire.Channel

// The channels.
const (
	Shell   = wire.Shell
	Control = wire.Control
	IOPub   = wire.IOPub
	Stdin   = wire.Stdin
)

// A transport carries messages to and from one kernel. Received messages go to
// the deliver function that it was made with, which must not block and is
// called from one goroutine per channel, in the order of that channel.
type transport interface {
	// Send sends one message. It waits for a connection that is being made again,
	// until ctx ends. After any other error the transport is unusable: a message
	// whose fate is unknown must not be sent again.
	Send(context.Context, Message) error
	// Rouse wakes a kernel that does not see a request which it has received.
	// It does not wait.
	Rouse()
	// Drained is closed when the kernel's ends of all channels have gone and all
	// that they sent has been delivered.
	Drained() <-chan struct{}
	// Breaks returns how often the connection was lost and made again, each of
	// which may have lost messages.
	Breaks() int
	// Close ends all deliveries; none happens after it has returned.
	Close() error
}
