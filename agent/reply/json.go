package reply

import (
	"encoding/json"
	"errors"
	"strings"

	"dsstar/notebook/lazy"
)

// This file reads JSON as small models write it: with trailing commas, line breaks and bare quotes
// in strings, unknown escapes, Python's literals and quotes, and text around the object.

var errJSON = errors.New("its JSON cannot be read")

// An object is a JSON object with its names in lower case. A value is a string, also for numbers,
// literals and null (""), a []any, or an object.
type object map[string]any

// objectIn returns the one object of a text that wanted finds in its JSON, and the text around it;
// nil if there is none.
func objectIn(text string, wanted func(any) object) (found object, around string, err error) {
	around = text
	for range 3 { // more would take too long
		at := objectStart(around)
		if at < 0 {
			break
		}
		p := jsonReader{text: around, at: at}
		value, ok := p.value(0)
		if !ok {
			begin := strings.TrimLeft(around[:at], "`~jsonJSON \t\n")
			if found == nil && begin == "" && around[at] == '{' {
				return nil, text, errJSON
			}
			break
		}
		o := wanted(value)
		switch {
		case o != nil && p.twice != "":
			return nil, text, errors.New("it gives " + p.twice + " twice")
		case o != nil && found != nil:
			return nil, text, errors.New("it has two JSON objects")
		case o != nil:
			found = o
		}
		around = around[:at] + around[p.at:]
	}
	if found == nil {
		return nil, text, nil
	}
	return found, around, nil
}

// objectStart returns where the first JSON object or list of objects begins, outside of blocks of
// other code; -1 if there is none.
func objectStart(text string) int {
	var open fence
	begin := 0
	for line := range strings.Lines(text) {
		next := open.after(line)
		isJSON := open.info == "" || strings.HasPrefix(open.info, "json")
		bare := strings.TrimLeft(line, " \t>")
		switch {
		case open.isOpen() && !isJSON:
		case strings.HasPrefix(bare, "{"), strings.HasPrefix(bare, "[") &&
			strings.HasPrefix(strings.TrimLeft(text[begin+len(line)-len(bare)+1:], " \t\n"), "{"):
			return begin + len(line) - len(bare)
		case !open.isOpen() && strings.Contains(line, `{"`):
			return begin + strings.Index(line, `{"`)
		}
		open = next
		begin += len(line)
	}
	return -1
}

type jsonReader struct {
	text  string
	at    int
	twice string // a name that one object has twice
	last  string // the text that was read last, whole or not
}

// SoFar returns what is worth showing of a reply that is still coming: of a JSON object the text that
// came last, of any other all of it.
func SoFar(text string) string {
	p := jsonReader{text: strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "```json"))}
	if !strings.HasPrefix(p.text, "{") {
		return text
	}
	p.value(0)
	return p.last
}

// next returns the next byte that is no space; 0 at the end.
func (p *jsonReader) next() byte {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// value reads any value. ok is false if it is none, or does not end.
func (p *jsonReader) value(depth int) (value any, ok bool) {
	switch c := p.next(); {
	case c == 0 || depth > 20:
		return nil, false
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case strings.IndexByte("\"'`", c) >= 0:
		text, ok := p.quoted(c)
		if text != "" {
			p.last = text
		}
		return text, ok
	}
	word := p.word()
	switch strings.ToLower(word) {
	case "null", "none", "undefined":
		return "", true
	}
	return word, word != ""
}

// word reads a number, a literal or a bare name.
func (p *jsonReader) word() string {
	rest := p.text[p.at:]
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !(r == '_' || r == '+' || r == '-' || r == '.' || '0' <= r && r <= '9' ||
			'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
	if end < 0 {
		end = len(rest)
	}
	p.at += end
	return rest[:end]
}

func (p *jsonReader) object(depth int) (any, bool) {
	o := object{}
	for p.at++; ; {
		c := p.next()
		name, ok := "", true
		switch c {
		case '}':
			p.at++
			return o, true
		case ',':
			p.at++
			continue
		case '"', '\'':
			name, ok = p.quoted(c)
		default:
			name = p.word()
		}
		if !ok || name == "" || p.next() != ':' {
			return nil, false
		}
		p.at++
		value, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := o[name]; twice {
			p.twice = name
		}
		o[name] = value
	}
}

func (p *jsonReader) list(depth int) (any, bool) {
	all := []any{}
	for p.at++; ; {
		switch p.next() {
		case ']':
			p.at++
			return all, true
		case ',':
			p.at++
			continue
		}
		value, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		all = append(all, value)
	}
}

// quoted reads a string, also one between Python's three quotes. A quote ends it only if what
// follows can follow a string; any other was to be escaped.
func (p *jsonReader) quoted(quote byte) (string, bool) {
	if triple := strings.Repeat(string(quote), 3); strings.HasPrefix(p.text[p.at:], triple) {
		text, _, ok := strings.Cut(p.text[p.at+3:], triple)
		p.at = min(p.at+len(text)+6, len(p.text))
		return strings.Trim(text, "\n"), ok
	}
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			p.escape(&b)
		case c == quote && p.ends():
			p.at++
			return b.String(), true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), false
}

// ends reports whether the quote at this place can end a string.
func (p *jsonReader) ends() bool {
	after := jsonReader{text: p.text, at: p.at + 1}
	c := after.next()
	return c == 0 || strings.IndexByte(",:]}", c) >= 0
}

// codePoint matches the digits of a code point, or those of a surrogate pair.
var codePoint = lazy.Regexp(`^u[[:xdigit:]]{4}(?:\\u[dD][c-fC-F][[:xdigit:]]{2})?`)

// escape reads an escape after its backslash. An unknown one stays as it is, such as \d.
func (p *jsonReader) escape(b *strings.Builder) {
	c := p.text[p.at]
	if i := strings.IndexByte("ntrbf", c); i >= 0 {
		b.WriteByte("\n\t\r\b\f"[i])
		return
	}
	if found := codePoint().FindString(p.text[p.at:min(p.at+11, len(p.text))]); found != "" {
		var text string
		_ = json.Unmarshal([]byte(`"\`+found+`"`), &text) // it is valid
		b.WriteString(text)
		p.at += len(found) - 1
		return
	}
	if strings.IndexByte("\"'\\/`", c) < 0 {
		b.WriteByte('\\')
	}
	b.WriteByte(c)
}
