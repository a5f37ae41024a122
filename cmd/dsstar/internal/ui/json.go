package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
)

// JSON writes a value as JSON. Control characters are escaped, so that a terminal does not
// obey them and the value is unchanged.
func JSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	if err == nil {
		_, err = io.WriteString(w, EscapeControls(b.String()))
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// EscapeControls escapes the control characters of a JSON text that encoding/json does not; they
// occur in strings only.
func EscapeControls(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r != '\n' && (unicode.IsControl(r) || Turns(r)) && r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		case r != '\n' && (unicode.IsControl(r) || Turns(r)):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
