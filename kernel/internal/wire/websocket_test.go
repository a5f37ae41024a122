package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/kernel/pyenv/pyenvtest"
)

var messages = []Message{
	{Channel: Shell, Header: Header{MsgID: "1", MsgType: "execute_request", Session: "s",
		Username: "u", Date: "2026-01-02T03:04:05Z", Version: "5.4"}},
	{
		Channel: Shell, Header: Header{MsgID: "2", MsgType: "comm_msg"}, Parent: Header{MsgID: "1"},
		Metadata: json.RawMessage(`{"a": [1, null]}`),
		Content:  json.RawMessage(`{"text": "naïve 日本語 🎉 \u2028"}`),
		Buffers:  [][]byte{{}, []byte("\x00\xff"), bytes.Repeat([]byte("b"), 300)},
	},
	{Channel: Shell, Header: Header{MsgID: "3", MsgType: "x"}, Content: json.RawMessage(`{}`),
		Buffers: [][]byte{[]byte("{}")}},
}

// both are the two framings.
var both = map[string]struct {
	encode func(m Message) (data []byte, isBinary bool, err error)
	parse  func(data []byte, isBinary bool) (Message, error)
}{
	"v1": {
		func(m Message) ([]byte, bool, error) {
			data, err := EncodeV1(m)
			return data, true, err
		},
		func(data []byte, _ bool) (Message, error) { return ParseV1(data) },
	},
	"legacy": {EncodeLegacy, ParseLegacy},
}

// same compares messages whose JSON may be written in different ways.
func same(t testing.TB, name string, got, want Message) {
	t.Helper()
	for _, m := range []*Message{&got, &want} {
		for _, raw := range []*json.RawMessage{&m.Metadata, &m.Content} {
			var value any
			if err := json.Unmarshal(object(*raw), &value); err != nil {
				t.Fatal(err)
			}
			*raw, _ = json.Marshal(value)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}

// oracle decodes each line with jupyter_server and encodes it again.
const oracle = `
import base64, json, sys
from jupyter_server.services.kernels.connection.base import *
for line in sys.stdin:
    framing, binary, data = line.split()
    data = base64.b64decode(data)
    if framing == "v1":
        channel, parts = deserialize_msg_from_ws_v1(data)
        out, binary = serialize_msg_to_ws_v1(parts, "iopub"), "true"
        assert channel == "shell", channel
    else:
        msg = deserialize_binary_message(data) if binary == "true" else json.loads(data)
        assert msg.pop("channel") == "shell"
        msg["channel"] = "iopub"
        out = serialize_binary_message(msg) if msg["buffers"] else json.dumps(msg, default=str).encode()
    print(binary, base64.b64encode(out).decode())
`

// A Jupyter server can read what we encode, and we can read what it encodes.
func TestWebSocketOracle(t *testing.T) {
	var input strings.Builder
	var want []Message
	var framings []string
	for name, framing := range both {
		for _, m := range messages {
			data, isBinary, err := framing.encode(m)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&input, name, isBinary, base64.StdEncoding.EncodeToString(data))
			want, framings = append(want, m), append(framings, name)
		}
	}
	cmd := exec.Command(pyenvtest.Tools(t), "-c", oracle)
	cmd.Stdin = strings.NewReader(input.String())
	out, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%v\n%s", err, e.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	for i, m := range want {
		data, err := base64.StdEncoding.DecodeString(lines[2*i+1])
		if err != nil {
			t.Fatal(err)
		}
		got, err := both[framings[i]].parse(data, lines[2*i] == "true")
		if err != nil {
			t.Fatalf("%s: %v", framings[i], err)
		}
		m.Channel = IOPub
		same(t, framings[i], got, m)
	}
}

// Broken messages are refused.
func TestWebSocketMalformed(t *testing.T) {
	good, err := EncodeV1(messages[1])
	if err != nil {
		t.Fatal(err)
	}
	bad := [][]byte{nil, {1}, good[:7], good[:8], good[:60], bytes.Repeat([]byte{0xff}, 100),
		make([]byte, 100)}
	for i := range 8 {
		b := bytes.Clone(good)
		b[8*i] ^= 0x80
		b[8*i+7] ^= 0x80
		bad = append(bad, b)
	}
	for _, i := range []int{3, 4} { // offsets a little past the end of their parts
		b := bytes.Clone(good)
		b[8*i] = b[8*i+8] + 1
		bad = append(bad, b)
	}
	for _, data := range bad {
		if _, err := ParseV1(data); !errors.Is(err, ErrMalformed) {
			t.Errorf("v1 %.40q: error %v", data, err)
		}
		for _, isBinary := range []bool{true, false} {
			if _, err := ParseLegacy(data, isBinary); !errors.Is(err, ErrMalformed) {
				t.Errorf("legacy %.40q: error %v", data, err)
			}
		}
	}
	for _, text := range []string{"[]", "null", `{"channel": "shell", "header": []}`, `{"channel": 1}`,
		`{"channel":"shell","header":{},"content":[]}`} {
		if m, err := ParseLegacy([]byte(text), false); err == nil && text != "null" {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

// FuzzWebSocket: no bytes make a parser panic, and what it accepts survives being written and read
// again.
func FuzzWebSocket(f *testing.F) {
	for name, framing := range both {
		for _, m := range messages {
			data, isBinary, err := framing.encode(m)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(name, data, isBinary)
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte, isBinary bool) {
		framing, ok := both[name]
		if !ok {
			return
		}
		m, err := framing.parse(data, isBinary)
		if err != nil {
			return
		}
		again, isBinary, err := framing.encode(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := framing.parse(again, isBinary)
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, got, m)
	})
}
