// Package wire is the message format of the Jupyter protocol on ZeroMQ and on WebSocket, and
// nothing that touches a socket.
//
// On ZeroMQ a message is, frame by frame (jupyter_client, docs/messaging.rst, "The Wire
// Protocol"): any number of routing identities, the delimiter <IDS|MSG>, the hexadecimal HMAC of
// the next four frames, header, parent header, metadata and content as JSON objects, and any number
// of raw buffers. Nobody here sends or reads identities and buffers.
package wire

import (
	"cmp"
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

// The reasons why something is not a message.
var (
	ErrMalformed = errors.New("malformed message")
	ErrSignature = errors.New("wrong message signature")
	ErrDuplicate = errors.New("message with a signature that was seen before")
)

// A Header says what a message is, and, as a parent header, which request it belongs to. Unknown
// fields are dropped, and those that no decision needs may be anything: kernels write null dates.
type Header struct {
	MsgID    string `json:"msg_id,omitempty"`
	MsgType  string `json:"msg_type,omitempty"`
	Session  string `json:"session,omitempty"`
	Username any    `json:"username,omitempty"`
	Date     any    `json:"date,omitempty"`
	Version  any    `json:"version,omitempty"`
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
	Channel  Channel         `json:"channel"`
	Header   Header          `json:"header"`
	Parent   Header          `json:"parent_header"`
	Metadata json.RawMessage `json:"metadata"`
	Content  json.RawMessage `json:"content"`
}

// Encode returns the ZeroMQ frames of m, signed.
func (k Key) Encode(m Message) ([][]byte, error) {
	header, bad := json.Marshal(m.Header)
	parent, err := json.Marshal(m.Parent)
	if err := cmp.Or(bad, err); err != nil {
		return nil, fmt.Errorf("encode header: %w", err)
	}
	parts := [][]byte{header, parent, object(m.Metadata), object(m.Content)}
	return append([][]byte{[]byte(delimiter), k.sign(parts)}, parts...), nil
}

// Parse reads the ZeroMQ frames of one message. It checks the signature first. The message keeps
// parts of frames, which the caller must not change afterwards, and has no Channel.
func (r *Receiver) Parse(frames [][]byte) (m Message, err error) {
	at := slices.IndexFunc(frames, func(f []byte) bool { return string(f) == delimiter })
	if at < 0 || len(frames)-at < 6 { // then signature and four JSON frames at least
		return m, fmt.Errorf("%w: %d frames", ErrMalformed, len(frames))
	}
	signature, parts := frames[at+1], frames[at+2:at+6]
	if !r.Key.valid(signature, parts) {
		return m, ErrSignature
	}
	err = cmp.Or(json.Unmarshal(parts[0], &m.Header), json.Unmarshal(parts[1], &m.Parent))
	if m.Metadata, m.Content = parts[2], parts[3]; err != nil {
		return m, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	if r.Key != "" && r.again(signature) {
		return m, ErrDuplicate
	}
	return m, nil
}

// object returns raw, or the empty object if raw is empty.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}
