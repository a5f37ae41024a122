package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// volatile matches what differs between equal runs: object addresses, the temporary files of
// cells, the folder of Python packages, trailing blanks.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b0x[0-9a-fA-F]{6,16}\b`), "0x"},
	{regexp.MustCompile(`[^\s"'<>()]*ipykernel_\d+[/\\]\d+\.py`), "ipykernel.py"},
	{regexp.MustCompile(`[^\s"'<>()]*[/\\](?:site|dist)-packages[/\\]`), "site-packages/"},
	{regexp.MustCompile(`[ \t\r]+(\n|$)`), "$1"},
}

// hashes returns, for each input, the first 16 hex digits of the SHA-256 of its text without
// volatile parts. Traces contain them: a change here invalidates recorded traces.
func hashes(inputs map[string]string) map[string]string {
	if len(inputs) == 0 {
		return nil
	}
	sums := make(map[string]string, len(inputs))
	for name, text := range inputs {
		for _, v := range volatile {
			text = v.pattern.ReplaceAllString(text, v.instead)
		}
		sum := sha256.Sum256([]byte(strings.TrimRight(text, "\n")))
		sums[name] = hex.EncodeToString(sum[:8])
	}
	return sums
}
