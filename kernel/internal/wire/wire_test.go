package wire

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"

	"github.com/google/go-cmp/cmp"
)

// parse reads frames as the first of a connection.
func parse(k Key, frames [][]byte) (Message, error) { return (&Receiver{Key: k}).Parse(frames) }

// The vector is what jupyter_client 8.9.1's Session(key=b"secret") writes.
func TestSignatureIsJupyters(t *testing.T) {
	got := Key("secret").sign([][]byte{[]byte(`{"a":1}`), []byte(`{}`), []byte(`{}`),
		[]byte(`{"b":2}`)})
	if want := "9b14d94617bffb278285cea390d9dc17e01ec3188dba313f9548021906557a7b"; string(got) != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	key := Key("secret")
	good, err := key.Encode(Message{Header: Header{MsgID: "1", MsgType: "status"}})
	pyenvtest.OK(t, err)
	change := func(i int, b string) [][]byte {
		frames := append([][]byte(nil), good...)
		frames[i] = []byte(b)
		return frames
	}
	for name, c := range map[string]struct {
		key    Key
		frames [][]byte
		want   error
	}{
		"nothing":         {key, nil, ErrMalformed},
		"no delimiter":    {key, good[1:], ErrMalformed},
		"only delimiter":  {key, good[:1], ErrMalformed},
		"short":           {key, good[:5], ErrMalformed},
		"wrong key":       {"other", good, ErrSignature},
		"no signature":    {key, change(1, ""), ErrSignature},
		"cut signature":   {key, change(1, string(good[1][:8])), ErrSignature},
		"changed content": {key, change(5, `{"x":1}`), ErrSignature},
		"not JSON":        {"", change(2, `{`), ErrMalformed},
		"array":           {"", change(3, `[]`), ErrMalformed},
	} {
		if _, err := parse(c.key, c.frames); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}

// FuzzParse: no frames make Parse panic, and what it accepts survives being written and read again.
// Zed#41649, runtimed f1a6630: strict readers broke on null dates and fields that nobody had seen
// before.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"msg_id":"1","msg_type":"stream"}`), []byte(`{}`), []byte(`{}`),
		[]byte(`{"name":"stdout","text":"é\n"}`), []byte("topic"), true)
	f.Add([]byte(`{"msg_id":"1","date":null,"username":7,"subshell_id":null,"new":{}}`), []byte(`{}`),
		[]byte(` {}`), []byte("{}\n"), []byte("topic"), true)
	f.Add([]byte(`[]`), []byte(``), []byte(`{`), []byte("\xff"), []byte(delimiter), false)
	f.Fuzz(func(t *testing.T, header, parent, metadata, content, other []byte, signed bool) {
		key := Key("k")
		parts := [][]byte{header, parent, metadata, content}
		signature := other
		if signed {
			signature = key.sign(parts)
		}
		frames := append([][]byte{other, []byte(delimiter), signature}, parts...)
		frames = append(frames, other)
		for cut := range frames { // every shorter message too
			_, _ = parse(key, frames[:cut])
		}
		first, err := parse(key, frames)
		if err != nil {
			if bytes.HasPrefix(header, []byte(`{"msg_id":"1"`)) && string(parent) == "{}" && signed {
				t.Errorf("%s: %v", header, err)
			}
			return
		}
		again, err := key.Encode(first)
		pyenvtest.OK(t, err)
		second, err := parse(key, again)
		pyenvtest.OK(t, err)
		first.Metadata, first.Content = object(first.Metadata), object(first.Content)
		if d := cmp.Diff(first, second); d != "" {
			t.Error(d)
		}
	})
}

// A repeated message is refused, and a signature is forgotten only after many others.
func TestReceiver(t *testing.T) {
	r := Receiver{Key: "key"}
	send := func(id int) error {
		frames, err := r.Key.Encode(Message{Header: Header{MsgID: fmt.Sprint(id)}})
		pyenvtest.OK(t, err)
		_, err = r.Parse(append([][]byte{[]byte("topic")}, frames...))
		return err
	}
	for id := range 2 * remembered {
		pyenvtest.OK(t, send(id))
	}
	for _, id := range []int{remembered, 2*remembered - 1} {
		if err := send(id); !errors.Is(err, ErrDuplicate) {
			t.Errorf("message %d again: error %v", id, err)
		}
	}
	pyenvtest.Check(t, send(0)) // the oldest have made room
	if len(r.seen)+len(r.older) > 2*remembered {
		t.Errorf("%d and %d are remembered", len(r.seen), len(r.older))
	}
	unsigned := Receiver{}
	frames, _ := unsigned.Key.Encode(Message{})
	for range 2 {
		_, err := unsigned.Parse(frames)
		pyenvtest.Check(t, err)
	}
}
