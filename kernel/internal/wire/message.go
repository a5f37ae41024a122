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
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
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
	if r.Key != "" && !hmac.Equal(signature, r.Key.sign(parts)) { // in constant time
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

// Scheme is the signature_scheme of a connection file whose key is a [Key].
const Scheme = "hmac-sha256"

// A Key signs messages with HMAC-SHA256. The empty key signs nothing and
// accepts everything, as the protocol says.
type Key string

// NewKey returns a random key of 256 bits.
func NewKey() Key {
	var b [32]byte
	rand.Read(b[:]) // never fails: crypto/rand
	return Key(hex.EncodeToString(b[:]))
}

// sign returns the signature frame of the four JSON frames.
func (k Key) sign(parts [][]byte) []byte {
	if k == "" {
		return []byte{}
	}
	mac := hmac.New(sha256.New, []byte(k))
	for _, p := range parts {
		mac.Write(p)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}

// remembered is how many signatures a [Receiver] remembers at least (jupyter_client, session.py,
// digest_history_size).
const remembered = 1 << 16

// A Receiver parses the messages of one connection and rejects repeated ones: whoever recorded a
// signed message could replay it. It is safe for concurrent use. The zero value has the empty key:
// nothing is signed, and no message is rejected as repeated.
type Receiver struct {
	Key Key

	mu          sync.Mutex
	seen, older map[digest]bool // older is the seen before
}

// A digest is the beginning of a signature, long enough to tell messages apart.
type digest [16]byte

// again remembers a signature and reports whether it was known already.
func (r *Receiver) again(signature []byte) bool {
	var d digest
	if _, err := hex.Decode(d[:], signature[:2*len(d)]); err != nil {
		return true // a valid signature is hexadecimal
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.seen[d] || r.older[d]
	if len(r.seen)%remembered == 0 {
		r.seen, r.older = map[digest]bool{}, r.seen
	}
	r.seen[d] = true
	return known
}

// EncodeText returns the WebSocket message that carries m: one JSON text. Every server takes it of
// clients that name no subprotocol; a server whose kernels run on a gateway takes nothing else
// (jupyter_server, docs/source/developers/websocket-protocols.rst; gateway/connections.py). There
// is no signature: the server signs.
func EncodeText(m Message) ([]byte, error) {
	m.Metadata, m.Content = object(m.Metadata), object(m.Content)
	return json.Marshal(m)
}

// ParseText reads a WebSocket message. One with buffers is binary: the number of parts, their
// offsets, all of 32 bits and big-endian, the JSON text, and the buffers, which nobody reads.
func ParseText(data []byte, isBinary bool) (m Message, err error) {
	if isBinary {
		number := func(i int) int { return int(binary.BigEndian.Uint32(data[4*i:])) }
		if len(data) < 12 || number(0) < 2 || number(1) > number(2) || number(2) > len(data) {
			return m, fmt.Errorf("%w: %d bytes", ErrMalformed, len(data))
		}
		data = data[number(1):number(2)]
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	return m, nil
}
