package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/kernel/pyenv/pyenvtest"
)

var messages = []Message{
	{Channel: Shell, Header: Header{MsgID: "1", MsgType: "execute_request", Session: "s",
		Username: "u", Date: "2026-01-02T03:04:05Z", Version: "5.4"}},
	{Channel: Shell, Header: Header{MsgID: "2", MsgType: "comm_msg"}, Parent: Header{MsgID: "1"},
		Metadata: json.RawMessage(`{"a": [1, null]}`),
		Content:  json.RawMessage(`{"text": "naïve 日本語 🎉 \u2028"}`)},
}

// same compares messages whose JSON may be written in different ways.
func same(t testing.TB, got, want Message) {
	t.Helper()
	for _, m := range []*Message{&got, &want} {
		for _, raw := range []*json.RawMessage{&m.Metadata, &m.Content} {
			var value any
			pyenvtest.OK(t, json.Unmarshal(object(*raw), &value))
			*raw, _ = json.Marshal(value)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// oracle decodes each line with jupyter_server and encodes it again, without and with buffers.
const oracle = `
import base64, json, sys
from jupyter_server.services.kernels.connection.base import *
for line in sys.stdin:
    msg = json.loads(base64.b64decode(line))
    assert msg.pop("channel") == "shell"
    msg["channel"] = "iopub"
    text = json.dumps(msg, default=str).encode()
    msg["buffers"] = [b"", b"\x00\xff"]
    for out in text, serialize_binary_message(msg):
        print(base64.b64encode(out).decode())
`

// A Jupyter server can read what we encode, and we can read what it encodes.
func TestWebSocketOracle(t *testing.T) {
	var input strings.Builder
	for _, m := range messages {
		data, err := EncodeText(m)
		pyenvtest.OK(t, err)
		fmt.Fprintln(&input, base64.StdEncoding.EncodeToString(data))
	}
	cmd := exec.Command(pyenvtest.Tools(t), "-c", oracle)
	cmd.Stdin, cmd.Stderr = strings.NewReader(input.String()), os.Stderr
	out, err := cmd.Output()
	pyenvtest.OK(t, err)
	lines := strings.Fields(string(out))
	for i, line := range lines {
		data := pyenvtest.Must(base64.StdEncoding.DecodeString(line))
		got, err := ParseText(data, i%2 == 1)
		pyenvtest.OK(t, err)
		want := messages[i/2]
		want.Channel = IOPub
		same(t, got, want)
	}
	if len(lines) != 2*len(messages) {
		t.Errorf("%d messages", len(lines))
	}
}

// FuzzWebSocket: no bytes make the parser panic, and what it accepts survives being written and
// read again.
func FuzzWebSocket(f *testing.F) {
	for _, m := range messages {
		data, err := EncodeText(m)
		pyenvtest.OK(f, err)
		f.Add(data, false)
		f.Add(append([]byte("\x00\x00\x00\x02\x00\x00\x00\x0c\x00\x00\x00\x0e{}"), data...), true)
	}
	for _, text := range []string{"", "[]", "null", `{"header": []}`, `{"channel": 1}`,
		"\x00\x00\x00\x02\x00\x00\x00\x0e\x00\x00\x00\x0c{}", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, isBinary bool) {
		m, err := ParseText(data, isBinary)
		if err != nil {
			return
		}
		again, err := EncodeText(m)
		pyenvtest.OK(t, err)
		got, err := ParseText(again, false)
		pyenvtest.OK(t, err)
		same(t, got, m)
	})
}
