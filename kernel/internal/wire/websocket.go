package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// Subprotocol is the name of the framing of [EncodeV1] in a WebSocket handshake. A server that
// does not choose it speaks the legacy framing of [EncodeLegacy]: a Jupyter server whose kernels run
// on a gateway never does (jupyter_server, gateway/connections.py).
const Subprotocol = "v1.kernel.websocket.jupyter.org"

// EncodeV1 returns the binary WebSocket message that carries m on its channel: the number
// of offsets, the offsets, all 64 bits and little-endian, and the parts that they delimit: channel,
// header, parent header, metadata, content and buffers (jupyter_server, docs/source/developers/
// websocket-protocols.rst). There is no signature: the server signs.
func EncodeV1(m Message) ([]byte, error) {
	head, err := m.parts()
	if err != nil {
		return nil, err
	}
	parts := append([][]byte{[]byte(m.Channel)}, head...)
	parts = append(parts, m.Buffers...)
	at := 8 * (2 + len(parts)) // where the first part begins
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(parts)+1))
	out = binary.LittleEndian.AppendUint64(out, uint64(at))
	for _, p := range parts {
		at += len(p)
		out = binary.LittleEndian.AppendUint64(out, uint64(at))
	}
	return append(out, bytes.Join(parts, nil)...), nil
}

// ParseV1 reads what [EncodeV1] and servers write. Its errors are [ErrMalformed], wrapped. The
// message keeps parts of data, which the caller must not change afterwards.
func ParseV1(data []byte) (Message, error) {
	parts, err := split(data, 8, binary.LittleEndian.Uint64)
	if err != nil {
		return Message{}, err
	}
	end := len(parts) - 1 // the last offset only ends the last part
	if end < 5 {
		return Message{}, fmt.Errorf("%w: %d parts", ErrMalformed, end)
	}
	m, err := fromParts(parts[1:end])
	m.Channel = Channel(parts[0])
	return m, err
}

// legacyMessage is a message of the legacy framing.
type legacyMessage struct {
	Channel  Channel         `json:"channel"`
	Header   json.RawMessage `json:"header"`
	Parent   json.RawMessage `json:"parent_header"`
	Metadata json.RawMessage `json:"metadata"`
	Content  json.RawMessage `json:"content"`
	Buffers  []struct{}      `json:"buffers"`
}

// EncodeLegacy returns the WebSocket message that carries m on its channel in the framing without a
// subprotocol name: one JSON text or, if there are buffers, a binary message of the number of
// parts, their offsets, all 32 bits and big-endian, the JSON text and the buffers.
func EncodeLegacy(m Message) (data []byte, isBinary bool, err error) {
	p, err := m.parts()
	if err != nil {
		return nil, false, err
	}
	text, err := json.Marshal(legacyMessage{
		Channel: m.Channel, Header: p[0], Parent: p[1], Metadata: p[2], Content: p[3],
		Buffers: []struct{}{},
	})
	if err != nil || len(m.Buffers) == 0 {
		return text, false, err
	}
	parts := append([][]byte{text}, m.Buffers...)
	at := 4 * (1 + len(parts))
	out := binary.BigEndian.AppendUint32(nil, uint32(len(parts)))
	for _, part := range parts {
		out = binary.BigEndian.AppendUint32(out, uint32(at))
		at += len(part)
	}
	return append(out, bytes.Join(parts, nil)...), true, nil
}

// ParseLegacy reads what [EncodeLegacy] and servers write. See [ParseV1].
func ParseLegacy(data []byte, isBinary bool) (Message, error) {
	var buffers [][]byte
	if isBinary {
		parts, err := split(data, 4, func(b []byte) uint64 { return uint64(binary.BigEndian.Uint32(b)) })
		if err != nil {
			return Message{}, err
		}
		data, buffers = parts[0], none(parts[1:])
	}
	var l struct {
		legacyMessage
		Buffers json.RawMessage `json:"buffers"` // ignored, so it may be anything
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return Message{}, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	m, err := fromParts(append([][]byte{
		object(notNull(l.Header)), object(notNull(l.Parent)), object(notNull(l.Metadata)),
		object(notNull(l.Content)),
	}, buffers...))
	m.Channel = l.Channel
	return m, err
}

// split reads a number of offsets and the offsets, each size bytes wide, and returns the parts that
// begin there; the last one takes the rest.
func split(data []byte, size int, number func([]byte) uint64) ([][]byte, error) {
	if len(data) < size {
		return nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(data))
	}
	n, end := number(data), uint64(len(data))
	if n == 0 || n > end/uint64(size)-1 {
		return nil, fmt.Errorf("%w: %d offsets in %d bytes", ErrMalformed, n, end)
	}
	parts := make([][]byte, n)
	for i := int(n) - 1; i >= 0; i-- {
		at := number(data[size*(i+1):])
		if at > end || at < uint64(size)*(n+1) {
			return nil, fmt.Errorf("%w: offset %d", ErrMalformed, at)
		}
		parts[i] = data[at:end:end]
		end = at
	}
	return parts, nil
}

// notNull returns nil for a JSON null.
func notNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}
