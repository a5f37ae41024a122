// Package wire is the message format of the Jupyter protocol on ZeroMQ: the
// multipart frames, their signature, and nothing that touches a socket.
//
// A message is, frame by frame (jupyter_client, docs/messaging.rst, "The Wire
// Protocol"): any number of routing identities, the delimiter <IDS|MSG>, the
// hexadecimal HMAC of the next four frames, header, parent header, metadata
// and content as JSON objects, and any number of raw buffers.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Version is the protocol version in outgoing headers. What a kernel can do is found by asking it,
// never by comparing versions.
const Version = "5.4"

// delimiter ends the routing identities.
const delimiter = "<IDS|MSG>"

// The reasons why frames are not a message.
var (
	ErrMalformed = errors.New("malformed message")
	ErrSignature = errors.New("wrong message signature")
	ErrDuplicate = errors.New("message with a signature that was seen before")
)

// A Header says what a message is, and, as a parent header, which request it
// belongs to. Unknown fields are dropped and a field that is not a string is
// taken as empty: kernels write null dates, and no decision here needs more
// than the id and the type.
type Header struct {
	MsgID    string `json:"msg_id,omitempty"`
	MsgType  string `json:"msg_type,omitempty"`
	Session  string `json:"session,omitempty"`
	Username string `json:"username,omitempty"`
	Date     string `json:"date,omitempty"`
	Version  string `json:"version,omitempty"`
}

// UnmarshalJSON is lenient; see [Header].
func (h *Header) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	text := func(key string) (s string) {
		if json.Unmarshal(raw[key], &s) != nil {
			return ""
		}
		return s
	}
	*h = Header{
		MsgID: text("msg_id"), MsgType: text("msg_type"), Session: text("session"),
		Username: text("username"), Date: text("date"), Version: text("version"),
	}
	return nil
}

// A Channel is one of the protocol's channels to a kernel.
type Channel string

// The channels. The heartbeat channel is not used: the death of a process of ours is noticed at
// once, and that of any other when its sockets close.
const (
	Shell   Channel = "shell"   // one request after the other: cells, and whatever waits for them
	Control Channel = "control" // even while a cell runs: shutdown, interrupt, debug, usage
	IOPub   Channel = "iopub"   // what the kernel publishes
	Stdin   Channel = "stdin"   // the prompts of input() and their answers
)

// A Message is a message in either direction. Metadata and Content are JSON objects; nil stands for
// an empty one.
type Message struct {
	Channel  Channel
	Idents   [][]byte
	Header   Header
	Parent   Header
	Metadata json.RawMessage
	Content  json.RawMessage
	Buffers  [][]byte
}

// Encode returns the frames of m, signed.
func (k Key) Encode(m Message) ([][]byte, error) {
	parts, err := m.parts()
	if err != nil {
		return nil, err
	}
	frames := slices.Clone(m.Idents)
	frames = append(frames, []byte(delimiter), k.sign(parts))
	frames = append(frames, parts...)
	return append(frames, m.Buffers...), nil
}

// Parse reads the frames of one message. It checks the signature first; its
// errors are [ErrSignature] and [ErrMalformed], wrapped. The message keeps
// parts of frames, which the caller must not change afterwards, and has no Channel.
func (k Key) Parse(frames [][]byte) (Message, error) {
	at := slices.IndexFunc(frames, func(f []byte) bool { return string(f) == delimiter })
	if at < 0 {
		return Message{}, fmt.Errorf("%w: no delimiter", ErrMalformed)
	}
	// After the delimiter: signature and four JSON frames at least.
	if len(frames)-at < 6 {
		return Message{}, fmt.Errorf("%w: %d frames after the delimiter", ErrMalformed, len(frames)-at-1)
	}
	if !k.valid(frames[at+1], frames[at+2:at+6]) {
		return Message{}, ErrSignature
	}
	m, err := fromParts(frames[at+2:])
	m.Idents = none(frames[:at])
	return m, err
}

// parts returns the four JSON texts of m.
func (m Message) parts() ([][]byte, error) {
	header, err := json.Marshal(m.Header)
	if err != nil {
		return nil, fmt.Errorf("encode header: %w", err)
	}
	parent, err := json.Marshal(m.Parent)
	if err != nil {
		return nil, fmt.Errorf("encode parent header: %w", err)
	}
	return [][]byte{header, parent, object(m.Metadata), object(m.Content)}, nil
}

// fromParts returns the message with the given four JSON texts, followed by buffers.
func fromParts(parts [][]byte) (Message, error) {
	m := Message{Metadata: parts[2], Content: parts[3], Buffers: none(parts[4:])}
	for i, name := range []string{"header", "parent header", "metadata", "content"} {
		if !isObject(parts[i]) {
			return Message{}, fmt.Errorf("%w: %s is not a JSON object", ErrMalformed, name)
		}
	}
	if err := json.Unmarshal(parts[0], &m.Header); err != nil {
		return Message{}, fmt.Errorf("%w: header: %v", ErrMalformed, err)
	}
	if err := json.Unmarshal(parts[1], &m.Parent); err != nil {
		return Message{}, fmt.Errorf("%w: parent header: %v", ErrMalformed, err)
	}
	return m, nil
}

// object returns raw, or the empty object if raw is empty.
func object(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	return raw
}

// isObject reports whether b is one JSON object.
func isObject(b []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) && json.Valid(b)
}

// none returns nil for an empty list, so that equal messages compare equal.
func none(frames [][]byte) [][]byte {
	if len(frames) == 0 {
		return nil
	}
	return frames
}
