package files

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

const (
	utf8Name    = "UTF-8"
	utf8BOM     = "UTF-8 with BOM"
	utf16LE     = "UTF-16LE"
	utf16BE     = "UTF-16BE"
	windows1252 = "Windows-1252"
	unknown8    = "unknown" // neither UTF-8 nor a plausible Western European encoding
)

// decode returns the text of the beginning of a file in UTF-8 with "\n" line ends, and its
// encoding. ok is false if it is not text. If the file continues after b, an incomplete
// character at b's end is dropped.
func decode(b []byte, whole bool) (text, name string, ok bool) {
	name = encodingOf(b, whole)
	switch name {
	case "":
		return "", "", false
	case utf8BOM:
		b = b[3:]
	case utf16LE:
		b = decodeWith(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), b[:len(b)&^1])
	case utf16BE:
		b = decodeWith(unicode.UTF16(unicode.BigEndian, unicode.UseBOM), b[:len(b)&^1])
	case windows1252, unknown8:
		b = decodeWith(charmap.Windows1252, b)
	}
	if !whole {
		b = trimPartial(b)
	}
	// the zeros suggest UTF-16, but the characters do not
	if strings.HasPrefix(name, "UTF-16") && controls(b)*1000 > len(b) {
		return "", "", false
	}
	return unixLines(strings.ToValidUTF8(string(b), "\uFFFD")), name, true
}

func decodeWith(e encoding.Encoding, b []byte) []byte {
	out, err := e.NewDecoder().Bytes(b)
	if err != nil { // unreachable: the decoders replace invalid bytes
		return nil
	}
	return out
}

func unixLines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// encodingOf returns the name of a text's encoding, "" if it is not text.
func encodingOf(b []byte, whole bool) string {
	switch {
	case bytes.HasPrefix(b, []byte("\xEF\xBB\xBF")):
		return utf8BOM
	case bytes.HasPrefix(b, []byte("\xFF\xFE")):
		return utf16LE
	case bytes.HasPrefix(b, []byte("\xFE\xFF")):
		return utf16BE
	}
	if name := wide(b); name != "" {
		return name
	}
	if controls(b)*1000 > len(b) {
		return ""
	}
	if !whole {
		b = trimPartial(b)
	}
	if utf8.Valid(b) {
		return utf8Name
	}
	return eightBit(b)
}

// wide recognizes UTF-16 without a byte order mark by the positions of its zeros.
func wide(b []byte) string {
	var zeros [2]int
	for i, c := range b {
		if c == 0 {
			zeros[i&1]++
		}
	}
	pairs := len(b) / 2
	switch {
	case pairs < 4:
		return ""
	case zeros[1]*10 > pairs*7 && zeros[0]*100 < pairs:
		return utf16LE
	case zeros[0]*10 > pairs*7 && zeros[1]*100 < pairs:
		return utf16BE
	}
	return ""
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

// eightBit distinguishes damaged UTF-8, Western European encodings and others.
func eightBit(b []byte) string {
	letters, high, bad, multi := 0, 0, 0, 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case size > 1:
			multi++
		case r == utf8.RuneError:
			high++
			if charmap.Windows1252.DecodeByte(b[i]) == utf8.RuneError ||
				bytes.IndexByte([]byte("\x81\x8d\x8f\x90\x9d"), b[i]) >= 0 {
				bad++
			}
		case 'a' <= r|0x20 && r|0x20 <= 'z':
			letters++
		}
		i += size
	}
	switch {
	case multi > high:
		return utf8Name
	case bad > 0 || high+multi > 3 && high+multi > letters/2:
		return unknown8
	}
	return windows1252
}

// trimPartial removes an incomplete UTF-8 character from the end.
func trimPartial(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}

// lines returns the first lines of text, at most n bytes. It cuts at the end of a line, or
// within a line if more than half of the n bytes would be unused.
func lines(text string, n int) (head string, whole bool) {
	if len(text) <= n {
		return text, true
	}
	if n <= 0 {
		return "", false
	}
	if end := strings.LastIndexByte(text[:n], '\n') + 1; end > n/2 {
		return text[:end], false
	}
	return cut(text, n), false
}

// cut shortens text to at most n bytes, including an ellipsis.
func cut(text string, n int) string {
	const mark = "…"
	if len(text) <= n {
		return text
	}
	if n < len(mark) {
		return ""
	}
	n -= len(mark)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + mark
}
