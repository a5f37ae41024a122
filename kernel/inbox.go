package kernel

import (
	"bufio"
	"encoding/binary"
	"os"
	"sync"

	"dsstar/kernel/internal/wire"
)

// inboxMemory is how many bytes of messages an inbox holds in memory; the rest waits on disk.
const inboxMemory = 16 << 20

// maxSpill is how many bytes a spill takes on disk before outputs are lost, or a 16th of that in
// memory where the disk takes none.
const maxSpill = 1 << 30

// An inbox is a queue of deliveries that takes whatever comes: a reader that lags makes
// ZeroMQ drop iopub messages, with 20,000 printed lines and a slow reader 14,000, and idle
// with them. What does not fit into inboxMemory goes to a file without a name, so that a cell
// which prints faster than its outputs are taken up costs disk and not memory; what is more
// than maxSpill of outputs is lost, and a gap says so.
type inbox struct {
	ready chan struct{} // has a token whenever take may find something

	mu    sync.Mutex
	items []Message // older than what is in the file
	bytes int       // in items
	spill *spill    // nil while everything fits into memory
}

func newInbox() *inbox { return &inbox{ready: make(chan struct{}, 1)} }

func (b *inbox) put(m Message) {
	b.mu.Lock()
	size := sizeOf(m)
	if b.spill == nil && b.bytes+size > inboxMemory && len(b.items) > 0 {
		b.spill = newSpill()
	}
	if b.spill != nil {
		b.spill.put(m)
	} else {
		b.items = append(b.items, m)
		b.bytes += size
	}
	b.mu.Unlock()
	b.wake()
}

func (b *inbox) wake() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// take removes and returns the next deliveries, nil when there are none left.
// A caller that does not take until then finds ready again.
func (b *inbox) take() []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items, b.bytes = nil, 0
	if items == nil && b.spill != nil {
		items = b.spill.take()
		if items == nil {
			b.spill.close()
			b.spill = nil
		}
	}
	if items != nil {
		b.wake()
	}
	return items
}

// close gives up what has not been taken.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = nil
	if b.spill != nil {
		b.spill.close()
		b.spill = nil
	}
}

// sizeOf is about what m takes in memory: small messages are mostly overhead.
func sizeOf(m Message) int {
	n := 1<<10 + len(m.Content) + len(m.Metadata)
	for _, b := range m.Buffers {
		n += len(b)
	}
	return n
}

// gap is the channel of a message that stands for messages which are lost.
const gap Channel = "gap"

// A spill is a queue of deliveries in a file. Each is a length of 64 bits and a
// message in the framing of [wire.EncodeV1].
type spill struct {
	file    *os.File // nil if none could be made
	written *bufio.Writer
	in, out int64     // where the file is read and written next
	freed   int64     // the file takes nothing on disk up to here
	rest    []Message // after the file, once it cannot be written any more: memory is what is left then
	held    int       // bytes in rest
	most    int64     // bytes on disk with which outputs still find room
	failed  bool
	lost    bool // some found no room
}

func newSpill() *spill {
	f, err := os.CreateTemp("", "dsstar-inbox-")
	if err != nil {
		return &spill{failed: true, most: maxSpill}
	}
	_ = os.Remove(f.Name()) // where that fails, the system tidies its temporary folder
	return &spill{file: f, written: bufio.NewWriterSize(f, 64<<10), most: maxSpill}
}

func (s *spill) put(m Message) {
	if s.full(m) {
		s.lost = true
		return
	}
	if !s.failed && s.write(m) != nil {
		s.failed = true
	}
	if s.failed {
		s.rest = append(s.rest, m)
		s.held += sizeOf(m)
	}
}

// full reports whether there is no room for m. A run can continue without outputs, but not without
// other messages.
func (s *spill) full(m Message) bool {
	switch m.Header.MsgType {
	case "stream", "display_data", "update_display_data", "execute_result", "error", "comm_open", "comm_msg":
		return s.out-s.freed > s.most || int64(s.held) > s.most/16
	}
	return false
}

func (s *spill) write(m Message) error {
	data, err := wire.EncodeV1(m)
	if err != nil {
		return err
	}
	size := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	if _, err := s.written.Write(size); err != nil {
		return err
	}
	if _, err := s.written.Write(data); err != nil {
		return err
	}
	s.out += int64(len(size) + len(data))
	return nil
}

// take returns the next deliveries, about inboxMemory bytes of them.
func (s *spill) take() (items []Message) {
	if !s.failed && s.file != nil && s.written.Flush() != nil {
		s.failed = true
	}
	for bytes := 0; s.in < s.out && bytes < inboxMemory; {
		m, n, err := s.read()
		if err != nil {
			s.in = s.out // the rest was not written whole: the disk is full
			items = append(items, Message{Channel: gap})
			break
		}
		items = append(items, m)
		s.in += n
		bytes += int(n)
	}
	s.free()
	if items == nil {
		items, s.rest, s.held = s.rest, nil, 0
	}
	if s.lost {
		items, s.lost = append(items, Message{Channel: gap}), false
	}
	return items
}

// free gives the disk back what has been read: a cell that stays ahead of its reader never lets the
// file be drained and closed. Where the disk does not take it, what has been read still counts.
func (s *spill) free() {
	const step = 1 << 20 // file systems free whole blocks
	if n := s.in / step * step; n > s.freed && freeUpTo(s.file, n) == nil {
		s.freed = n
	}
}

func (s *spill) read() (Message, int64, error) {
	var size [8]byte
	if _, err := s.file.ReadAt(size[:], s.in); err != nil {
		return Message{}, 0, err
	}
	data := make([]byte, binary.LittleEndian.Uint64(size[:]))
	if _, err := s.file.ReadAt(data, s.in+int64(len(size))); err != nil {
		return Message{}, 0, err
	}
	m, err := wire.ParseV1(data)
	return m, int64(len(size) + len(data)), err
}

func (s *spill) close() {
	if s.file != nil {
		_ = s.file.Close() // nothing in it is wanted any more
	}
}
