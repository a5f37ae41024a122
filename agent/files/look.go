package files

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// A Look is what the name and the beginning of a file tell.
type Look struct {
	Kind  string // for people and models: "CSV", "JSON, UTF-16", "text", "binary"
	Text  string // the beginning of text, in UTF-8; "": it is no text
	Whole bool   // Text is the whole content
}

// LookAt looks at a file, of which it reads at most so many bytes. The error is an [*OutsideError]
// or comes from the file system.
func LookAt(d *Folder, f File, most int64) (Look, error) {
	file, info, err := d.open(f)
	if err != nil {
		return Look{}, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return Look{}, fmt.Errorf("look at %s: %w", f.Name, err)
	}
	whole := int64(len(b)) >= info.Size()
	if len(b) == 0 {
		return Look{Kind: "empty", Whole: whole}, nil
	}
	text, encoding, isText := decode(b, whole)
	return Look{kind(f.Name, encoding, isText), text, whole && isText}, nil
}

// kind names a file by its ending.
func kind(name, encoding string, isText bool) string {
	kind := strings.ToUpper(strings.TrimPrefix(path.Ext(strings.ToValidUTF8(name, "")), "."))
	switch {
	case !isText && kind == "":
		return "binary"
	case kind == "" || kind == "TXT":
		kind = "text"
	}
	if encoding != "" {
		kind += ", " + encoding
	}
	return kind
}

// decode returns the text of the beginning of a file in UTF-8 with "\n" line ends, and its
// encoding, "" for UTF-8. ok is false if it is not text. If the file continues after b, an
// incomplete character at b's end is dropped.
func decode(b []byte, whole bool) (text, encoding string, ok bool) {
	for n := range min(utf8.UTFMax, len(b)) {
		if rest := b[:len(b)-n]; !whole && utf8.Valid(rest) {
			b = rest
			break
		}
	}
	var fallback transform.Transformer = transform.Nop
	switch {
	case bytes.HasPrefix(b, []byte("\xEF\xBB\xBF")):
		encoding = "UTF-8 with BOM"
	case bytes.HasPrefix(b, []byte("\xFF\xFE")), bytes.HasPrefix(b, []byte("\xFE\xFF")):
		encoding = "UTF-16"
	case !utf8.Valid(b):
		encoding, fallback = "not in UTF-8", charmap.Windows1252.NewDecoder()
	}
	decoded, _, err := transform.Bytes(unicode.BOMOverride(fallback), b)
	if err != nil || controls(decoded)*1000 > len(decoded) || bytes.HasPrefix(b, []byte("%PDF-")) {
		return "", "", false
	}
	text = strings.ToValidUTF8(string(decoded), "\uFFFD")
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), encoding, true
}

// controls counts the control characters that do not occur in text.
func controls(b []byte) int {
	n := 0
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1a || c == 0x7f {
			n++
		}
	}
	return n
}
