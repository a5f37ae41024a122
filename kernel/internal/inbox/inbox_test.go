package inbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dsstar/kernel/internal/wire"
)

// spoken returns a message that contains n and has about size bytes.
func spoken(n, size int) wire.Message {
	return wire.Message{
		Channel: wire.IOPub, Header: wire.Header{MsgID: fmt.Sprint(n), MsgType: "stream"},
		Parent:   wire.Header{MsgID: "p"},
		Metadata: json.RawMessage(`{}`),
		Content:  json.RawMessage(`{"text":"` + strings.Repeat("x", size) + `"}`),
		Buffers:  [][]byte{[]byte("b")},
	}
}

// listen takes messages from b until want have arrived, in order.
func listen(t *testing.T, b *Inbox, want int) {
	t.Helper()
	for got := 0; got < want; {
		<-b.Ready
		for _, m := range b.Take() {
			if m.Header.MsgID != fmt.Sprint(got) || m.Channel != wire.IOPub || len(m.Buffers) != 1 ||
				m.Parent.MsgID != "p" {
				t.Fatalf("message %d: %+v", got, m.Header)
			}
			got++
		}
	}
}

// What does not fit into memory waits on disk, and arrives in order.
func TestInbox(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, size := range []int{10, 100_000, 20 << 20} {
		b := New()
		defer b.Close()
		n := max(3, min(1000, 80<<20/size))
		var put sync.WaitGroup
		put.Go(func() {
			for i := range n {
				b.Put(spoken(i, size))
			}
		})
		if size > 10 {
			put.Wait() // all before the first is taken
			if b.spill == nil || b.bytes > maxMemory+size+100 {
				t.Errorf("%d bytes are in memory", b.bytes)
			}
		}
		listen(t, b, n)
		put.Wait()
		if b.Take() != nil || b.spill != nil {
			t.Error("something is left")
		}
		b.Put(spoken(0, size)) // and so on
		listen(t, b, 1)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
}

// Without a disk, nothing is lost either.
func TestInboxWithoutDisk(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	b := New()
	defer b.Close()
	const n = 300
	for i := range n {
		b.Put(spoken(i, 100_000))
	}
	listen(t, b, n)

	// Nor if the disk fills up meanwhile.
	t.Setenv("TMPDIR", t.TempDir())
	b = New()
	defer b.Close()
	for i := range n {
		b.Put(spoken(i, 100_000))
		if i == n-10 {
			b.spill.file.Close() // everything that is written from now on fails
		}
	}
	if !b.spill.failed {
		t.Fatal("the file still takes something")
	}
	all, gaps := drain(b)
	if all[0].Header.MsgID != "0" || all[len(all)-1].Header.MsgID != fmt.Sprint(n-1) {
		t.Error("what was in memory is lost")
	}
	if lost := len(all) < n; lost != (gaps == 1) || gaps > 1 {
		t.Errorf("%d of %d came, with %d gaps", len(all), n, gaps)
	}
}

// drain takes all messages, and counts the gaps.
func drain(b *Inbox) (all []wire.Message, gaps int) {
	for items := b.Take(); items != nil; items = b.Take() {
		for _, m := range items {
			if m.Channel == Gap {
				gaps++
			} else {
				all = append(all, m)
			}
		}
	}
	return all, gaps
}

// TestSpillIsFull: outputs beyond the limit on disk are lost, and a gap says so; other messages all
// arrive.
func TestSpillIsFull(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := New()
	defer b.Close()
	put := func(i int, kind string) {
		m := spoken(i, 1<<20)
		m.Header.MsgType = kind
		b.Put(m)
	}
	put(0, "stream")
	b.spill = newSpill()
	b.spill.most = 10 << 20
	for i := range 100 {
		put(i+1, "stream")
	}
	put(101, "status")
	if held := b.spill.out - b.spill.in; held > 13<<20 {
		t.Errorf("%d bytes wait", held)
	}
	all, gaps := drain(b)
	if len(all) < 10 || len(all) > 15 || gaps != 1 ||
		all[len(all)-1].Header.MsgType != "status" {
		t.Errorf("%d came, with %d gaps", len(all), gaps)
	}
}
