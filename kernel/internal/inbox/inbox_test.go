package inbox

import (
	"fmt"
	"testing"

	"dsstar/kernel/internal/wire"
)

// TestInbox: messages come in order. Outputs beyond the limit are lost, and one gap in their place
// says so; other messages all arrive.
func TestInbox(t *testing.T) {
	b := New()
	for turn := range 2 { // as after the first, so after others
		put := func(i int, kind string, content []byte) {
			b.Put(wire.Message{Channel: wire.IOPub, Header: wire.Header{MsgID: fmt.Sprint(i), MsgType: kind},
				Content: content})
		}
		const n, size = 300, 1 << 20
		content := make([]byte, size) // all share it
		for i := range n {
			put(i, "stream", content)
			if i%10 == 0 {
				put(i, "status", nil)
			}
		}
		if b.bytes > maxMemory+n<<10 {
			t.Errorf("turn %d: %d bytes wait", turn, b.bytes)
		}
		var outputs, others, gaps int
		for items := b.Take(); items != nil; items = b.Take() {
			<-b.Ready
			for _, m := range items {
				switch {
				case m.Channel == Gap:
					gaps++
				case m.Header.MsgType == "status":
					if m.Header.MsgID != fmt.Sprint(10*others) {
						t.Errorf("status %s came after %d", m.Header.MsgID, others)
					}
					others++
				default:
					if m.Header.MsgID != fmt.Sprint(outputs) || gaps > 0 {
						t.Errorf("output %s came after %d and %d gaps", m.Header.MsgID, outputs, gaps)
					}
					outputs++
				}
			}
		}
		if want := maxMemory / (size + 1<<10); outputs < want-1 || outputs > want || others != n/10 || gaps != 1 {
			t.Errorf("turn %d: %d outputs, %d others, %d gaps", turn, outputs, others, gaps)
		}
	}
}
