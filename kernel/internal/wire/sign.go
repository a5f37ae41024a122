package wire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

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

// valid compares in constant time.
func (k Key) valid(signature []byte, parts [][]byte) bool {
	return k == "" || hmac.Equal(signature, k.sign(parts))
}
