package ask

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
)

// This file puts JSON into labelled lines, as small models write it: with trailing commas, line breaks
// and bare quotes in strings, unknown escapes, Python's literals and quotes, and text around the
// object. General repairers do not serve for code: they complete what was cut off, and drop
// backslashes.

// fromJSON returns what the JSON in a text says as labelled lines; "" if it says nothing. One object at
// most may say anything. Of the text around it only code serves, if the object has none.
func (s *shape) fromJSON(text string) (labelled string, err error) {
	around := text
	for range 3 { // more would take too long
		at := objectStart(around)
		if at < 0 {
			break
		}
		p := jsonReader{shape: s, text: around, at: at}
		whole := p.value("", 0)
		more := p.lines
		if !whole {
			if labelled == "" && around[at] == '{' && strings.Trim(around[:at], "`~jsonJSON \t\n") == "" {
				return "", errors.New("its JSON cannot be read")
			}
			break
		}
		switch {
		case more != "" && p.twice != "":
			return "", errors.New("it gives " + p.twice + " twice")
		case more != "" && labelled != "":
			return "", errors.New("it has two JSON objects")
		}
		labelled += more
		around = around[:at] + around[p.at:]
	}
	isOwn := func(e entry) bool { return slices.Contains(s.own, e.name) && !slices.Contains(s.inPart, e.name) }
	if len(s.own) > 0 && !slices.ContainsFunc(s.lines(labelled), isOwn) {
		return "", nil // parts alone are not the reply
	}
	if labelled != "" && len(codeBlocks(labelled)) == 0 {
		for _, p := range codeBlocks(around) {
			labelled += p.text
		}
	}
	return labelled, nil
}

// jsonStart matches the begin of an object or of a list of objects: of its line, or before a name.
var jsonStart = lazy.Regexp(`(?m)^[ \t>]*(\{|\[\s*\{)|(\{")`)

// objectStart returns where the first JSON object or list of objects begins, outside of blocks of
// other code; -1 if there is none.
func objectStart(text string) int {
	begin := 0
	for _, p := range pieces(text) {
		info := p.fence.info
		m := jsonStart().FindStringSubmatchIndex(p.text)
		if m != nil && (info == "" || info[0] == '{' || strings.HasPrefix(info, "json")) {
			return begin + max(m[2], m[4])
		}
		begin += len(p.text)
	}
	return -1
}

// SoFar returns what is worth showing of a reply that is still coming: of a JSON object the text that
// came last, of any other all of it.
func SoFar(text string) string {
	p := jsonReader{text: strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "```json"))}
	if !strings.HasPrefix(p.text, "{") {
		return text
	}
	p.value("", 0)
	return p.last
}

type jsonReader struct {
	*shape // nil: no lines are wanted
	text   string
	at     int
	lines  string
	twice  string // a name that one object has twice
	last   string // the text that was read last, whole or not
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

var bareWord = lazy.Regexp(`^[\w.+-]*`)

// word reads a number, a literal or a bare name.
func (p *jsonReader) word() string {
	word := bareWord().FindString(p.text[p.at:])
	p.at += len(word)
	return word
}

// value reads any value, and writes what it says under its label. It reports whether it is one, and
// ends.
func (p *jsonReader) value(label string, depth int) bool {
	c := p.next()
	switch {
	case c == 0 || depth > 20:
		return false
	case c == '{' || c == '[':
		return p.group(label, c, depth)
	case strings.IndexByte("\"'`", c) >= 0:
		text, ok := p.quoted(c)
		if text != "" {
			p.last = text
		}
		p.write(label, text)
		return ok
	}
	word := p.word()
	p.write(label, word)
	return word != ""
}

// Labels of values in a group that have none of their own.
const (
	anItem     = "-"
	lineOfCode = "| "
)

// group reads an object or a list, and writes its values under their own names if these are labels, or
// else under its label. What only wraps an object has none.
func (p *jsonReader) group(label string, opens byte, depth int) bool {
	inner, field := "", p.named(label)
	switch {
	case label == anItem || field == "":
		inner = label
	case field == "code":
		inner = lineOfCode
	case field != p.opens:
		p.line(label + ":")
		inner = anItem
	case opens == '{':
		p.line(label + ":")
	default:
		inner = label
	}
	begin, names, wrapped := len(p.lines), []string{}, ""
	for p.at++; ; {
		switch c := p.next(); {
		case c == ',':
			p.at++
			continue
		case c == opens+2: // the bracket that closes it
			p.at++
			switch text := p.lines[begin:]; {
			case inner == lineOfCode:
				p.lines = p.lines[:begin]
				p.write(label, text)
			case text == "":
				p.lines += wrapped
			}
			return true
		}
		name := inner
		if opens == '{' {
			own, ok := p.name()
			if !ok {
				return false
			}
			if slices.Contains(names, own) {
				p.twice = own
			}
			names = append(names, own)
			if p.named(own) != "" {
				name = own
			} else if len(own) > 1 && strings.IndexByte("\"'`{[", p.next()) < 0 {
				name = "" // such as the number of an option
			}
		}
		before := len(p.lines)
		if !p.value(name, depth+1) {
			return false
		}
		if opens == '{' && name != anItem && p.named(name) == "" {
			p.lines, wrapped = p.lines[:before], wrapped+p.lines[before:]
		}
	}
}

// write writes a text under its label. One without a label may be JSON, in the call of a tool.
func (p *jsonReader) write(label, text string) {
	field := p.named(label)
	switch {
	case label == lineOfCode:
		p.line(text)
	case label == anItem:
		p.line("- " + brief.OneLine(text))
	case field == "code" && len(codeBlocks(text)) > 0:
		p.line(text)
	case field == "code" && !isNothing(text):
		const marks = "````````````"
		p.line(marks + "python\n" + text + "\n" + marks)
	case field != "":
		p.line(label + ": " + brief.OneLine(text))
	case p.shape != nil && strings.HasPrefix(strings.TrimSpace(text), "{"):
		inner := jsonReader{shape: p.shape, text: text}
		if inner.value("", 0) {
			p.lines += inner.lines
		}
	}
}

func (p *jsonReader) line(text string) { p.lines += text + "\n" }

// named returns the field that a label is of; "": none.
func (p *jsonReader) named(label string) (field string) {
	if p.shape != nil && label != "" {
		field, _, _ = p.find(label)
	}
	return field
}

// name reads the name of a field and the colon, and returns it in words, such as next step.
func (p *jsonReader) name() (name string, ok bool) {
	name, ok = p.word(), true
	if c := p.next(); name == "" && (c == '"' || c == '\'') {
		name, ok = p.quoted(c)
	}
	if !ok || name == "" || p.next() != ':' {
		return "", false
	}
	p.at++
	return strings.ToLower(brief.OneLine(strings.NewReplacer("_", " ", "-", " ").Replace(name))), true
}

// escaped matches an escape of JSON, or a surrogate pair.
var escaped = lazy.Regexp(`^\\(?:["\\/bfnrt]|u[[:xdigit:]]{4}(?:\\u[dD][c-fC-F][[:xdigit:]]{2})?)`)

// quoted reads a string, also one between Python's three quotes. A quote ends it only if what
// follows can follow a string; any other was to be escaped. An unknown escape such as \d stays.
func (p *jsonReader) quoted(quote byte) (string, bool) {
	if triple := strings.Repeat(string(quote), 3); strings.HasPrefix(p.text[p.at:], triple) {
		text, _, ok := strings.Cut(p.text[p.at+3:], triple)
		p.at = min(p.at+len(text)+6, len(p.text))
		return strings.Trim(text, "\n"), ok
	}
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		c, rest := p.text[p.at], p.text[p.at+1:]
		switch {
		case c == '\\':
			if found := escaped().FindString(p.text[p.at:min(p.at+12, len(p.text))]); found != "" {
				var text string
				_ = json.Unmarshal([]byte(`"`+found+`"`), &text) // it is valid
				b.WriteString(text)
				p.at += len(found) - 1
				continue
			}
			if rest != "" && (rest[0] == '\'' || rest[0] == '`') {
				p.at++
				c = rest[0]
			}
		case c == quote:
			if after := strings.TrimLeft(rest, " \t\r\n"); after == "" || strings.IndexByte(",:]}", after[0]) >= 0 {
				p.at++
				return b.String(), true
			}
		}
		b.WriteByte(c)
	}
	return b.String(), false
}
