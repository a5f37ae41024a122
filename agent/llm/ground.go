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
	`"(?:Description|Output|Error|Size|Kind|Written|Result)":"(?:[^"\\]|\\(?s:.))*"`)

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

// GroundOf returns the ground of a request that rests on plain data. mask takes out of texts what the
// request must not tell either, as whoever has a digest can try values. Traces contain grounds: a
// change here invalidates recorded traces.
func GroundOf(mask func([]string) []string, data ...any) Ground {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		panic(err) // it is not plain
	}
	all := line.String()
	both := mask([]string{plain(all), plain(printed.ReplaceAllString(all, ""))})
	return Ground{digest(both[0]), digest(both[1])}
}

// plain returns JSON without escapes in its strings, and without what is volatile.
func plain(text string) string {
	text = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(text)
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.instead)
	}
	return text
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
