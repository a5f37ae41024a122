// Package human formats values for people: sizes, and words to paste into a shell.
package human

import (
	"fmt"
	"strings"
	"unicode"
)

// Bytes formats a number of bytes in decimal units: "1 byte", "512 bytes", "3.4 MB".
func Bytes(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	}
	size, units := float64(n)/1000, []string{"kB", "MB", "GB", "TB"}
	for size >= 999.95 && len(units) > 1 {
		size, units = size/1000, units[1:]
	}
	return fmt.Sprintf("%.1f %s", size, units[0])
}

// Shell quotes a word for a POSIX shell if it needs quotes.
func Shell(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+,@%:=", r)
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
