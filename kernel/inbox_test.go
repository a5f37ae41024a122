package kernel

import (
	"fmt"
	"testing"
)

// TestInbox: messages come in order. Outputs beyond the limit are lost, and one gap in their place
// says so; other messages all arrive.
func TestInbox(t *testing.T) {
	b := newInbox()
	s := &session{owner: &local{}, heard: make(chan struct{}), pending: map[string]*inbox{"it": b}}
	put := func(id, kind string, content []byte) {
		s.deliver(Message{Header: Header{MsgID: id, MsgType: kind}, Parent: Header{MsgID: "it"}, Content: content})
	}
	for turn := range 2 { // as after the first, so after others
		const n, size = 300, 1 << 20
		content := make([]byte, size) // all share it
		for i := range n {
			id := fmt.Sprint(i)
			put(id, "stream", content)
			put(id, "status", nil)
		}
		<-b.ready
		var outputs, others, gaps int
		for _, m := range s.take(b) {
			switch {
			case m.Channel == gap:
				gaps++
			case m.Header.MsgType == "status" && m.Header.MsgID == fmt.Sprint(others):
				others++
			case m.Header.MsgID == fmt.Sprint(outputs) && gaps == 0:
				outputs++
			default:
				t.Fatalf("%v after %d outputs, %d others, %d gaps", m.Header, outputs, others, gaps)
			}
		}
		if outputs < maxWaiting/size-2 || outputs > maxWaiting/size || others != n || gaps != 1 {
			t.Errorf("turn %d: %d outputs, %d others, %d gaps", turn, outputs, others, gaps)
		}
	}
}
