package kernel

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dsstar/kernel/internal/zmq"
	"dsstar/notebook"
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

// TestQuota: the outputs of all cells are bounded, and the cell that reaches the bound says so.
func TestQuota(t *testing.T) {
	const kept, cells = 100_000, 60
	o := Outputs{Limits: notebook.Limits{Stream: 20_000}, Run: kept}.begin()
	sum, told := 0, 0
	for range cells {
		f := o.fold(Cell{})
		for _, m := range []struct{ kind, content string }{
			{"stream", `{"name": "stdout", "text": %q}`},
			{"display_data", `{"data": {"text/plain": %q}, "metadata": {}}`},
			{"display_data", `{"data": {"image/png": %q}, "metadata": {}, "transient": {"display_id": "i"}}`},
		} {
			ok(t, f.Add(m.kind, json.RawMessage(fmt.Sprintf(m.content,
				strings.Repeat("x", 30_000)))))
		}
		o.take(&f)
		data := must(json.Marshal(f.Outputs()))
		sum += len(data)
		told += strings.Count(string(data), "from here on")
	}
	// the last cell may exceed it, and the others keep a little
	if most := kept + 100_000 + cells*10_000; sum > most {
		t.Errorf("%d bytes in the notebook, want at most %d", sum, most)
	}
	equal(t, "times it was said", told, 1)
}

// A socket is dialled only if the kernel has created it: a link may lead to another program's.
func TestBoundReplaced(t *testing.T) {
	dir, err := privateDir()
	ok(t, err)
	defer os.RemoveAll(dir)
	c := zmq.File{Transport: "ipc", IP: filepath.Join(dir, "k"), ShellPort: 1, IOPubPort: 2,
		StdinPort: 3, ControlPort: 4, HBPort: 5}
	for _, port := range []string{"other", "k-1", "k-2", "k-4"} {
		l := must(net.Listen("unix", filepath.Join(dir, port)))
		defer l.Close()
	}
	if !c.Bound("") {
		t.Fatal("the kernel listens")
	}
	for _, port := range []string{"k-1", "k-2", "k-3", "k-4"} {
		path := filepath.Join(dir, port)
		for name, put := range map[string]func() error{
			"link": func() error { return os.Symlink("other", path) },
			"file": func() error { return os.WriteFile(path, nil, 0o600) },
			"pipe": func() error { return syscall.Mkfifo(path, 0o600) },
		} {
			_ = os.Rename(path, path+".kept")
			ok(t, put())
			if c.Bound("") {
				t.Errorf("%s is a %s, and is dialled", port, name)
			}
			_ = os.Remove(path)
			_ = os.Rename(path+".kept", path)
		}
	}
}
