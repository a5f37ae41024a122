package kernel

// maxWaiting is how many bytes of messages wait in an inbox at most. Outputs beyond it are lost.
const maxWaiting = 256 << 20

// An inbox has the messages about a request until its owner takes them ([session.take]). It never
// blocks the reader of a socket: if that lags, ZeroMQ drops iopub messages (14,000 of 20,000
// printed lines in a trial), even the status idle. Beyond maxWaiting outputs are lost; a message on
// the channel gap in their place says so. The session's lock guards it.
type inbox struct {
	ready chan struct{} // has a token whenever there are messages
	items []Message
	bytes int  // in items
	lossy bool // a gap is among items
}

func newInbox() *inbox { return &inbox{ready: make(chan struct{}, 1)} }

// gap is the channel of a message that stands for lost ones.
const gap Channel = "gap"

// isOutput reports whether m may be lost: a run can go on without outputs, but not without other
// messages.
func isOutput(m Message) bool {
	switch m.Header.MsgType {
	case "stream", "display_data", "update_display_data", "execute_result", "error", "comm_open",
		"comm_msg":
		return true
	}
	return false
}

// take removes and returns the messages in b.
func (s *session) take(b *inbox) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := b.items
	b.items, b.bytes, b.lossy = nil, 0, false
	return items
}
