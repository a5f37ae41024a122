// Package inbox queues messages without bound: what does not fit into memory waits on disk.
package inbox

import (
	"bufio"
	"encoding/binary"
	"os"
	"sync"

	"dsstar/kernel/internal/wire"
)

const (
	maxMemory = 16 << 20 // bytes of messages in memory; the rest waits on disk
	// maxSpill bounds the bytes on disk. Outputs beyond it are lost. If the disk cannot be written, a
	// 16th of it may wait in memory.
	maxSpill = 1 << 30
)

// An Inbox is a queue that never blocks its writer: if a reader lags, ZeroMQ drops iopub messages
// (14,000 of 20,000 printed lines in a trial), even the status idle. Messages beyond maxMemory go
// to an unlinked file: a cell that prints faster than its outputs are read takes disk, not memory.
// Beyond maxSpill outputs are lost; a message on the channel [Gap] says so.
type Inbox struct {
	Ready chan struct{} // has a token whenever Take may find something

	mu    sync.Mutex
	items []wire.Message // older than what is in the file
	bytes int            // in items
	spill *spill         // nil while everything fits into memory
}

// New returns an empty inbox.
func New() *Inbox { return &Inbox{Ready: make(chan struct{}, 1)} }

// Put appends a message.
func (b *Inbox) Put(m wire.Message) {
	b.mu.Lock()
	size := Size(m)
	if b.spill == nil && b.bytes+size > maxMemory && len(b.items) > 0 {
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

func (b *Inbox) wake() {
	select {
	case b.Ready <- struct{}{}:
	default:
	}
}

// Take removes and returns the next messages, nil if there are none. Ready has a token again unless
// it returned nil.
func (b *Inbox) Take() []wire.Message {
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

// Close drops what has not been taken.
func (b *Inbox) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = nil
	if b.spill != nil {
		b.spill.close()
		b.spill = nil
	}
}

// Size estimates the memory that m takes; small messages are mostly overhead.
func Size(m wire.Message) int {
	n := 1<<10 + len(m.Content) + len(m.Metadata)
	for _, b := range m.Buffers {
		n += len(b)
	}
	return n
}

// Gap is the channel of a message that stands for lost ones.
const Gap wire.Channel = "gap"

// A spill is a queue in a file: messages in the framing of [wire.EncodeV1], each after its length
// in 64 bits.
type spill struct {
	file    *os.File // nil if none could be made
	written *bufio.Writer
	in, out int64          // offsets of the next read and write
	freed   int64          // disk space is freed up to this offset
	rest    []wire.Message // messages after those in the file, once the file cannot be written
	held    int            // bytes in rest
	most    int64          // limit of bytes on disk; beyond it outputs are lost
	failed  bool
	lost    bool // outputs were lost
}

func newSpill() *spill {
	f, err := os.CreateTemp("", "gokernel-inbox-")
	if err != nil {
		return &spill{failed: true, most: maxSpill}
	}
	_ = os.Remove(f.Name()) // if it fails, the system cleans its temporary folder some day
	return &spill{file: f, written: bufio.NewWriterSize(f, 64<<10), most: maxSpill}
}

func (s *spill) put(m wire.Message) {
	if s.full(m) {
		s.lost = true
		return
	}
	if !s.failed && s.write(m) != nil {
		s.failed = true
	}
	if s.failed {
		s.rest = append(s.rest, m)
		s.held += Size(m)
	}
}

// full reports whether m must be dropped for lack of room. Only outputs are: a run can go on
// without them, but not without other messages.
func (s *spill) full(m wire.Message) bool {
	switch m.Header.MsgType {
	case "stream", "display_data", "update_display_data", "execute_result", "error", "comm_open",
		"comm_msg":
		return s.out-s.freed > s.most || int64(s.held) > s.most/16
	}
	return false
}

func (s *spill) write(m wire.Message) error {
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

// take returns the next messages, about maxMemory bytes of them.
func (s *spill) take() (items []wire.Message) {
	if !s.failed && s.file != nil && s.written.Flush() != nil {
		s.failed = true
	}
	for bytes := 0; s.in < s.out && bytes < maxMemory; {
		m, n, err := s.read()
		if err != nil {
			s.in = s.out // the rest was not written whole: the disk is full
			items = append(items, wire.Message{Channel: Gap})
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
		items, s.lost = append(items, wire.Message{Channel: Gap}), false
	}
	return items
}

// free frees the disk space of what was read: while a cell stays ahead of its reader, the file is
// never drained and closed. Space that cannot be freed still counts.
func (s *spill) free() {
	const step = 1 << 20 // file systems free whole blocks
	if n := s.in / step * step; n > s.freed && freeUpTo(s.file, n) == nil {
		s.freed = n
	}
}

func (s *spill) read() (wire.Message, int64, error) {
	var size [8]byte
	if _, err := s.file.ReadAt(size[:], s.in); err != nil {
		return wire.Message{}, 0, err
	}
	data := make([]byte, binary.LittleEndian.Uint64(size[:]))
	if _, err := s.file.ReadAt(data, s.in+int64(len(size))); err != nil {
		return wire.Message{}, 0, err
	}
	m, err := wire.ParseV1(data)
	return m, int64(len(size) + len(data)), err
}

func (s *spill) close() {
	if s.file != nil {
		_ = s.file.Close() // its content is not needed any more
	}
}
