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
// digest of what its cells show now.
func (k Key) Seal(nb *notebook.Notebook) {
	if meta := content(nb); len(k) > 0 && meta != nil {
		meta["shown"] = shownSum(nb)
		meta["seal"] = k.of(digest(meta))
		nb.Metadata["dsstar"] = meta
	}
}

// of returns the seal of a digest.
func (k Key) of(digest string) string {
	sum, _ := hex.DecodeString(digest)
	mac := hmac.New(sha256.New, k)
	mac.Write(sum)
	return hex.EncodeToString(mac.Sum(nil))
}

// Holds reports whether the holder of the key has made a seal, for what it stands on.
func (k Key) Holds(s Seal) bool {
	return len(k) > 0 && hmac.Equal([]byte(s.Text), []byte(k.of(s.Sum)))
}

// Claimed follows what only the record of another user's dsstar says.
const Claimed = ", says its notebook"

// A Seal is the text of a seal, and the digest of what it is for.
type Seal struct {
	Text, Sum string

	Reshown bool // cells show something else than what was sealed
}

// SealOf returns the seal of a notebook.
func SealOf(nb *notebook.Notebook) (s Seal) {
	meta, _ := nb.Metadata["dsstar"].(map[string]any)
	s.Reshown = meta["shown"] != nil && meta["shown"] != shownSum(nb)
	if s.Text, _ = meta["seal"].(string); s.Text != "" {
		s.Sum = digest(content(nb))
	}
	return s
}

// shownSum returns the digest of what dsstar's cells show.
func shownSum(nb *notebook.Notebook) string {
	var all []any
	for _, c := range nb.Cells {
		if _, own := c.Metadata["dsstar"]; own {
			all = append(all, c.ID, c.Type, c.Source)
			for _, o := range Recounted(c.Outputs, 0) {
				all = append(all, o)
			}
		}
		if len(c.Attachments) > 0 {
			all = append(all, c.Attachments)
		}
	}
	return digest(plain[any](all))
}

// content returns the record of a notebook, which may be just drawn or rewritten by another
// program, without its seal; nil if there is none.
func content(nb *notebook.Notebook) map[string]any {
	meta := plain[map[string]any](nb.Metadata["dsstar"])
	delete(meta, "seal")
	return meta
}

// digest returns the digest of a value's JSON.
func digest(value any) string {
	data, _ := json.Marshal(value) // sorted
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
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
