package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

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
