package wire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
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
