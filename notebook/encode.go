package notebook

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Encode returns the bytes that Python's nbformat.write makes of the notebook: sorted keys, an
// indent of one space, text split into lines, no unnecessary escapes. Only very small and large
// floats of Go may be written otherwise. It gives a new id to cells that have none or repeat one.
func (n *Notebook) Encode() ([]byte, error) {
	n.uniqueIDs()
	cells := make([]any, len(n.Cells))
	for i, c := range n.Cells {
		plain, err := sorted(c.Metadata)
		if err != nil {
			return nil, fmt.Errorf("encode notebook: metadata of cell %d: %w", i+1, err)
		}
		delete(plain, "trusted") // nbformat does not write it either
		c.Metadata = plain
		cells[i] = c.json()
	}
	meta, err := sorted(n.Metadata)
	if err != nil {
		return nil, fmt.Errorf("encode notebook: metadata: %w", err)
	}
	for _, transient := range []string{"signature", "orig_nbformat", "orig_nbformat_minor"} {
		delete(meta, transient)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err = enc.Encode(map[string]any{
		"cells":          cells,
		"metadata":       meta,
		"nbformat":       4,
		"nbformat_minor": 5,
	})
	if err != nil {
		return nil, fmt.Errorf("encode notebook: %w", err)
	}
	return []byte(unescape.Replace(b.String())), nil
}

func (c Cell) json() map[string]any {
	m := map[string]any{
		"id":        c.ID,
		"cell_type": c.Type,
		"metadata":  c.Metadata,
		"source":    splitLines(c.Source),
	}
	if c.Attachments != nil && c.Type != Code {
		attachments := make(map[string]any, len(c.Attachments))
		for name, bundle := range c.Attachments {
			attachments[name] = bundle.json()
		}
		m["attachments"] = attachments
	}
	if c.Type == Code {
		outputs := make([]any, len(c.Outputs))
		for i, o := range c.Outputs {
			outputs[i] = o.json()
		}
		m["outputs"] = outputs
		m["execution_count"] = count(c.ExecutionCount)
	}
	return m
}

func (o Output) json() map[string]any {
	m := map[string]any{"output_type": o.Type}
	switch o.Type {
	case Stream:
		m["name"], m["text"] = o.Name, splitLines(o.Text)
	case ErrorOutput:
		m["ename"], m["evalue"] = o.EName, o.EValue
		m["traceback"] = append([]string{}, o.Traceback...) // not null
	default:
		m["data"], m["metadata"] = o.Data.json(), object(o.Metadata)
		if o.Type == ExecuteResult {
			m["execution_count"] = count(o.ExecutionCount)
		}
	}
	return m
}

func (b MIMEBundle) json() map[string]any {
	m := make(map[string]any, len(b))
	for mime, value := range b {
		if text, ok := value.(string); ok && (strings.HasPrefix(mime, "text/") ||
			mime == "application/javascript" || mime == "image/svg+xml") {
			value = splitLines(text)
		}
		m[mime] = value
	}
	return m
}

// MarshalJSON encodes the output in nbformat's form.
func (o Output) MarshalJSON() ([]byte, error) { return json.Marshal(o.json()) }

func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// sorted turns structs among the values into maps, whose keys encoding/json
// sorts.
func sorted(m map[string]any) (map[string]any, error) {
	data, err := json.Marshal(object(m))
	if err != nil {
		return nil, err
	}
	var plain map[string]any
	err = unmarshal(data, &plain)
	return plain, err
}

func count(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// splitLines is Python's str.splitlines(True), which knows more line breaks than \n and \r\n.
func splitLines(s string) []string {
	lines := []string{}
	for s != "" {
		end := strings.IndexFunc(s, breaksLine)
		if end < 0 {
			return append(lines, s)
		}
		_, n := utf8.DecodeRuneInString(s[end:])
		if strings.HasPrefix(s[end:], "\r\n") {
			n = 2
		}
		lines, s = append(lines, s[:end+n]), s[end+n:]
	}
	return lines
}

func breaksLine(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
}

// unescape undoes the escapes that encoding/json writes but Python does not: U+2028 and U+2029, and
// the U+FFFD that replaces invalid UTF-8. An escaped backslash stays as it is.
var unescape = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029",
	`\ufffd`, "\ufffd")
