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
	Head  string // the first lines of text, in UTF-8; "": it is no text
	Whole bool   // Head is the whole content
}

// How much of a file is read.
const (
	startBytes = 32 << 10
	mostBytes  = 256 << 10
)

// LookAt looks at a file. It reads at most the first 256 kB. Head has at most head bytes. The
// error is an [*OutsideError] or comes from the file system.
func LookAt(d *Folder, f File, head int) (Look, error) {
	// text in UTF-16 has twice the bytes
	b, whole, err := beginning(d, f, min(mostBytes, max(startBytes, 2*int64(head))))
	if err != nil {
		return Look{}, err
	}
	if len(b) == 0 {
		return Look{Kind: "empty", Whole: true}, nil
	}
	text, encoding, isText := decode(b, whole)
	look := Look{Kind: kind(f.Name, encoding, isText)}
	if isText {
		look.Head, look.Whole = lines(text, max(0, head))
		look.Whole = look.Whole && whole
	}
	return look, nil
}

// Text returns at most most bytes of the beginning of a file, in UTF-8; "" if the file is no text.
func Text(d *Folder, f File, most int64) (string, error) {
	b, whole, err := beginning(d, f, most)
	text, _, _ := decode(b, whole)
	return text, err
}

// beginning returns at most most bytes of the beginning of a file, and whether these are all.
func beginning(d *Folder, f File, most int64) (b []byte, whole bool, err error) {
	file, info, err := d.open(f)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	if b, err = io.ReadAll(io.LimitReader(file, most)); err != nil {
		return nil, false, fmt.Errorf("look at %s: %w", f.Name, err)
	}
	return b, int64(len(b)) >= info.Size(), nil
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

// lines returns the first lines of text, at most n bytes. It cuts at the end of a line, or
// within a line if more than half of the n bytes would be unused.
func lines(text string, n int) (head string, whole bool) {
	if len(text) <= n {
		return text, true
	}
	if end := strings.LastIndexByte(text[:n], '\n') + 1; end > n/2 {
		return text[:end], false
	}
	const mark = "…"
	if n < len(mark) {
		return "", false
	}
	n -= len(mark)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + mark, false
}
