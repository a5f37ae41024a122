package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Encode returns the bytes that Python's nbformat.write makes of the notebook:
// sorted keys, an indent of one space, text split into lines, no unnecessary
// escapes. It gives a new id to cells that have none or repeat one.
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
	var b bytes.Buffer
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
	return pythonNumbers(unescape(b.Bytes())), nil
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
		traceback := o.Traceback
		if traceback == nil {
			traceback = []string{}
		}
		m["ename"], m["evalue"], m["traceback"] = o.EName, o.EValue, traceback
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
		text, ok := value.(string)
		if ok && (strings.HasPrefix(mime, "text/") || mime == "application/javascript" ||
			mime == "image/svg+xml") {
			m[mime] = splitLines(text)
		} else {
			m[mime] = value
		}
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

// splitLines is Python's str.splitlines(True), which knows more line breaks
// than \n and \r\n.
func splitLines(s string) []string {
	lines := []string{}
	start := 0
	for i, r := range s {
		if i < start { // the \n of a \r\n
			continue
		}
		end := i + len(string(r))
		switch r {
		case '\r':
			if strings.HasPrefix(s[end:], "\n") {
				end++
			}
		case '\n', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		default:
			continue
		}
		lines = append(lines, s[start:end])
		start = end
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

// unescape undoes the escapes that encoding/json writes but Python does not:
// U+2028 and U+2029, and the U+FFFD that replaces invalid UTF-8.
func unescape(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\u202`)) && !bytes.Contains(data, []byte(`\ufffd`)) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' || i+1 == len(data) {
			out = append(out, data[i])
			continue
		}
		switch rest := data[i:]; {
		case bytes.HasPrefix(rest, []byte(`\u2028`)):
			out, i = append(out, "\u2028"...), i+5
		case bytes.HasPrefix(rest, []byte(`\u2029`)):
			out, i = append(out, "\u2029"...), i+5
		case bytes.HasPrefix(rest, []byte(`\ufffd`)):
			out, i = append(out, "\ufffd"...), i+5
		default: // another escape: copy both bytes, so \\u2028 stays as it is
			out, i = append(out, data[i], data[i+1]), i+1
		}
	}
	return out
}

// pythonNumbers writes the numbers of a JSON text as Python does.
func pythonNumbers(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		n := 1
		switch c := data[0]; {
		case c == '"':
			for ; data[n] != '"'; n++ {
				if data[n] == '\\' {
					n++
				}
			}
			n++
			out = append(out, data[:n]...)
		case c == '-' || '0' <= c && c <= '9':
			n = len(data) - len(bytes.TrimLeft(data, "+-.0123456789eE"))
			out = append(out, pythonNumber(string(data[:n]))...)
		default:
			out = append(out, c)
		}
		data = data[n:]
	}
	return out
}

// pythonNumber returns Python's repr of a number: an int keeps its digits, a
// float has an exponent below 1e-4 and from 1e16 on, and otherwise a point.
func pythonNumber(number string) string {
	if number == "-0" {
		return "0"
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.ContainsAny(number, ".eE") {
		return number
	}
	short := strconv.FormatFloat(f, 'e', -1, 64)
	_, exponent, _ := strings.Cut(short, "e")
	if e, _ := strconv.Atoi(exponent); e < -4 || e >= 16 {
		return short
	}
	short = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(short, ".") {
		short += ".0"
	}
	return short
}
