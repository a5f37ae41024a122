package files

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// A Look is what the beginning of a file tells.
type Look struct {
	Kind  string // for people and models: "text", "text, UTF-16", "binary"
	Text  string // the beginning of text, in UTF-8; "": it is no text
	Whole bool   // Text is the whole content
}

// Look looks at a file, of which it reads at most so many bytes: see [Folder.Find].
func (d Folder) Look(name string, most int64) (Look, error) {
	at, err := d.Find(name)
	if err != nil {
		return Look{}, err
	}
	file, err := d.open(at)
	if err != nil {
		return Look{}, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return Look{}, fmt.Errorf("look at %s: %w", name, err)
	}
	_, err = file.ReadAt(make([]byte, 1), int64(len(b)))
	return decode(b, err == io.EOF), nil
}

// decode returns what the beginning of a file tells, in UTF-8. If the file continues after b, an
// incomplete character at b's end is dropped.
func decode(b []byte, whole bool) Look {
	for n := range min(utf8.UTFMax, len(b)) {
		if rest := b[:len(b)-n]; !whole && utf8.Valid(rest) {
			b = rest
			break
		}
	}
	kind, decoder := "text", transform.Transformer(transform.Nop)
	switch {
	case bytes.HasPrefix(b, []byte("\xEF\xBB\xBF")):
		kind = "text, UTF-8 with BOM"
	case bytes.HasPrefix(b, []byte("\xFF\xFE")), bytes.HasPrefix(b, []byte("\xFE\xFF")):
		kind = "text, UTF-16"
	case !utf8.Valid(b):
		kind, decoder = "text, not in UTF-8", charmap.Windows1252.NewDecoder()
	}
	text, _, err := transform.Bytes(unicode.BOMOverride(decoder), b)
	if err != nil || controls(text)*1000 > len(text) || bytes.HasPrefix(b, []byte("%PDF-")) {
		return Look{Kind: "binary"}
	}
	return Look{kind, strings.ToValidUTF8(string(text), "\uFFFD"), whole}
}

// controls counts the control characters that do not occur in text.
func controls(b []byte) int {
	n := 0
	for _, c := range b {
		if c < ' ' && !strings.ContainsRune("\n\r\t\f\x1a", rune(c)) || c == 0x7f {
			n++
		}
	}
	return n
}
