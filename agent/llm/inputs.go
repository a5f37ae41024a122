package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// volatile is what differs between two equal runs: an object's address, the
// temporary file of a cell, the folder that Python's packages are in.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b0x[0-9a-fA-F]{6,16}\b`), "0x"},
	{regexp.MustCompile(`[^\s"'<>()]*ipykernel_\d+[/\\]\d+\.py`), "ipykernel.py"},
	{regexp.MustCompile(`[^\s"'<>()]*[/\\](?:site|dist)-packages[/\\]`), "site-packages/"},
	{regexp.MustCompile(`[ \t\r]+(\n|$)`), "$1"},
}

// hashes gives each input the first 16 hex digits of the SHA-256 of its text,
// without what is volatile in it. Traces hold them: a change here makes the
// recorded ones unfit.
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
