package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"dsstar/notebook"
)

// A Key seals what one user's dsstar writes. Nobody else can make a seal that holds. The nil Key
// seals nothing, and no seal holds with it.
type Key []byte

// Seal seals the record of a notebook: what the entry "dsstar" of its metadata says, with the
// digest of the outputs that its cells have now.
func (k Key) Seal(nb *notebook.Notebook) {
	if meta := content(nb); len(k) > 0 && meta != nil {
		meta["outputs"] = shownSum(nb)
		meta["seal"] = k.Sum(digest(meta))
		nb.Metadata["dsstar"] = meta
	}
}

// Made reports whether the record of a notebook is as the holder of the key has sealed it.
func (k Key) Made(nb *notebook.Notebook) bool { return k.holds(SealOf(nb)) }

// Wrote reports whether the record that a trajectory was read from is as the holder of the key has
// sealed it.
func (k Key) Wrote(t *Trajectory) bool { return k.holds(t.Seal) }

// Claimed follows what only the record of another user's dsstar says.
const Claimed = ", says its notebook"

// Standing says in words what the answer of a run is worth to the holder of the key.
func (k Key) Standing(t *Trajectory) string {
	if k.Wrote(t) {
		return t.Standing()
	}
	return t.Standing() + Claimed
}

// shownSum returns the digest of the outputs of dsstar's code cells.
func shownSum(nb *notebook.Notebook) string {
	var all []any
	for _, c := range nb.Cells {
		if _, own := c.Metadata["dsstar"]; own && c.Type == notebook.Code {
			all = append(all, c.ID)
			for _, o := range Recounted(c.Outputs, 0) {
				all = append(all, o)
			}
		}
	}
	data, _ := json.Marshal(plain[any](all))
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Sum returns the seal of some bytes.
func (k Key) Sum(data []byte) string {
	mac := hmac.New(sha256.New, k)
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil))
}

// Holds reports whether a seal is that of some bytes.
func (k Key) Holds(seal string, data []byte) bool {
	return len(k) > 0 && hmac.Equal([]byte(seal), []byte(k.Sum(data)))
}

func (k Key) holds(s Seal) bool { return k.Holds(s.Text, s.Sum[:]) }

// A Seal is the text of a seal, and the digest of what it is for.
type Seal struct {
	Text string
	Sum  [sha256.Size]byte

	Reshown bool // cells show other outputs than those that were sealed
}

// SealOf returns the seal of a notebook.
func SealOf(nb *notebook.Notebook) (s Seal) {
	meta, _ := nb.Metadata["dsstar"].(map[string]any)
	s.Reshown = meta["outputs"] != nil && meta["outputs"] != shownSum(nb)
	if s.Text, _ = meta["seal"].(string); s.Text != "" {
		copy(s.Sum[:], digest(content(nb)))
	}
	return s
}

// content returns the record of a notebook, which may be just drawn or rewritten by another
// program, without its seal; nil if there is none.
func content(nb *notebook.Notebook) map[string]any {
	meta := plain[map[string]any](nb.Metadata["dsstar"])
	delete(meta, "seal")
	return meta
}

// digest returns the digest of a record.
func digest(meta map[string]any) []byte {
	data, _ := json.Marshal(meta) // sorted
	sum := sha256.Sum256(data)
	return sum[:]
}

// plain returns a value as its JSON is read, with numbers in one form; zero if it has none.
func plain[T any](value any) (read T) {
	if data, err := json.Marshal(value); err == nil {
		_ = json.Unmarshal(data, &read)
	}
	return read
}

// Recounted returns the outputs with another execution count.
func Recounted(outputs []notebook.Output, count int) []notebook.Output {
	outputs = slices.Clone(outputs)
	for i := range outputs {
		if outputs[i].Type == notebook.ExecuteResult {
			outputs[i].ExecutionCount = count
		}
	}
	return outputs
}
