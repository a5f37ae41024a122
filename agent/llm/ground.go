package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
)

// A Ground is a digest of what a request rests on, words of prompts aside. A recorded reply is for
// requests of the same ground.
type Ground struct {
	All  string `json:"all"`
	Told string `json:"told"` // without what programs have printed, which their versions change
}

// printed matches the fields of a request's parts that hold what a program has printed or measured.
var printed = regexp.MustCompile(
	`"(?:Description|Relations|Output|Error|Size|Kind|Written|Result)":"(?:[^"\\]|\\(?s:.))*"`)

// volatile matches what differs between equal runs: object addresses, the temporary files of
// cells, the folder of Python packages, blanks at the end of a line.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b0x[0-9a-fA-F]{6,16}\b`), "0x"},
	{regexp.MustCompile(`[^\s"'<>()]*ipykernel_\d+[/\\]\d+\.py`), "ipykernel.py"},
	{regexp.MustCompile(`[^\s"'<>()]*[/\\](?:site|dist)-packages[/\\]`), "site-packages/"},
	{regexp.MustCompile(`[ \t\r]+(\n)|\s+(")`), "$1$2"},
}

// GroundOf returns the ground of a request that rests on plain data. Traces contain it: a change
// here invalidates recorded traces.
func GroundOf(data ...any) Ground {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(data) // plain data cannot fail
	all := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(text.String())
	for _, v := range volatile {
		all = v.pattern.ReplaceAllString(all, v.instead)
	}
	return Ground{digest(all), digest(printed.ReplaceAllString(all, ""))}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
