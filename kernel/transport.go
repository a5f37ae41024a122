package kernel

import (
	"context"

	"dsstar/kernel/internal/wire"
)

// A channel is one of the protocol's channels to a kernel.
type channel int

// There is no heartbeat: the death of an owned process is seen at once, and that
// of any other when its sockets close.
const (
	shell channel = iota
	iopub
	control
	stdin // only where somebody answers input()
	channels
)

var channelNames = [channels]string{shell: "shell", iopub: "iopub", control: "control", stdin: "stdin"}

// A transport carries messages to and from one kernel. Received messages go to
// the deliver function that it was made with, which must not block and is
// called from one goroutine per channel, in the order of that channel.
type transport interface {
	// Send sends one message. It waits for a connection that is being made again,
	// until ctx ends. After any other error the transport is unusable: a message
	// whose fate is unknown must not be sent again.
	Send(context.Context, channel, wire.Message) error
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

// A delivery is a received message and the channel it came by.
type delivery struct {
	from channel
	msg  wire.Message
}
