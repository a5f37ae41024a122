package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// volatile matches what differs between two equal runs: addresses of objects, temporary
// files of cells, and the folder of Python's packages.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b0x[0-9a-fA-F]{6,16}\b`), "0x"},
	{regexp.MustCompile(`[^\s"'<>()]*ipykernel_\d+[/\\]\d+\.py`), "ipykernel.py"},
	{regexp.MustCompile(`[^\s"'<>()]*[/\\](?:site|dist)-packages[/\\]`), "site-packages/"},
	{regexp.MustCompile(`[ \t\r]+(\n|$)`), "$1"},
}

// hashes returns the first 16 hex digits of the SHA-256 of each input without its volatile
// parts. Traces contain them: a change here makes recorded traces useless.
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
