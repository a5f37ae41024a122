package kernel

import (
	"context"

	"dsstar/kernel/internal/wire"
)

// A Message is a message of the protocol, in either direction, with its Channel, Header, the Parent
// header of the message that it is about, and Metadata and Content as JSON objects; nil stands for
// an empty one. To send one, set Channel, Header.MsgType and Content; the rest is filled in.
type Message = wire.Message

// A Header identifies a message by its strings MsgID, MsgType and Session.
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
	// Send sends one message. While the connection is being restored it waits, until ctx ends. After
	// any other error than [tooLargeError] the transport is unusable: a message whose fate is unknown
	// must not be sent again.
	Send(context.Context, Message) error
	// Rouse wakes a kernel that has not noticed a request it received. It does not wait.
	Rouse()
	// Drained is closed when the other ends of all channels are closed and everything that they sent
	// has been delivered.
	Drained() <-chan struct{}
	// Lost returns why it has drained, if the kernel may still run; nil if it was closed.
	Lost() error
	// Breaks returns how often the connection was lost and restored. Each time messages may have been
	// lost.
	Breaks() int
	// Close closes the connection. Nothing is delivered after it has returned.
	Close() error
}
