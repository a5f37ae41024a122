package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
)

// said is what a reply, or a part of it, says under the names of its form.
type said struct {
	texts  map[string][]string // of fields, in order
	blocks []piece
	parts  []*said
}

// A reader notes what a reply in text says, from the beginning to the end.
type reader struct {
	*shape
	top  said
	part *said  // the last one, while what follows belongs to it
	to   *said  // what the last field belongs to
	name string // of the last field, while lines go on from it
}

var introLine = lazy.Regexp(`(?i)^(?:sure|certainly|of course|okay|ok|here)\b[^\n]*[:!](?:\s*\n|$)`)

// read reads a reply: a JSON object, or else labelled lines and code. What stands before all code
// without a label is the form's first text.
func (s *shape) read(text string) (*said, error) {
	if f, err := s.fromJSON(text); f != nil || err != nil {
		return f, err
	}
	r, lead := &reader{shape: s}, ""
	for _, p := range pieces(text) {
		if p.isCode {
			to := r.owner("code")
			to.blocks, r.name = append(to.blocks, p), ""
			continue
		}
		for line := range strings.Lines(p.text) {
			if !r.line(strings.TrimRight(line, "\n")) && len(r.top.blocks) == 0 {
				lead += line
			}
		}
	}
	if lead = introLine().ReplaceAllString(strings.TrimSpace(lead), ""); len(s.own) > 0 &&
		r.top.texts[s.own[0]] == nil {
		r.top.note(s.own[0], lead)
	}
	return &r.top, nil
}

var item = lazy.Regexp(`^[ \t]*(?:[-*•]|\(?\d{1,2}[.)])[ \t]+`)

// longestField is how much of a field is kept. The rest is talk, or a copying error.
const longestField = 4000

// line notes a line, and reports whether it belongs to a field.
func (r *reader) line(line string) bool {
	name, number, value := r.find(line)
	mark := item().FindString(line)
	switch {
	case name != "":
		r.say(name, number, value)
	case strings.Trim(line, "|:- \t") == "": // also below the head of a table
		if r.name != "" && r.to.text(r.name) != "" {
			r.name = ""
		}
	case r.name == "":
		return false
	case r.name == "options" && mark != "":
		r.say("options", "", line[len(mark):])
	default:
		all := r.to.texts[r.name]
		if last := &all[len(all)-1]; len(*last) < longestField {
			*last += "\n" + line
		}
	}
	return true
}

// say notes a field, with the number of its label. The first field of a part begins one.
func (r *reader) say(name, number, value string) {
	if r.numeric[name] {
		value = number + " " + value
	}
	if name == r.opens && (r.part == nil || r.part.text(name) != "") {
		r.part = &said{}
		r.top.parts = append(r.top.parts, r.part)
	}
	r.name, r.to = name, r.owner(name)
	r.to.note(name, value)
	if _, second, dotted := strings.Cut(number, "."); dotted && name == r.opens {
		r.to.note(r.inPart[1], second) // as in Branch 1.2
	}
}

// owner returns what a field belongs to: the last part, if the field can be one of a part.
func (r *reader) owner(name string) *said {
	if !slices.Contains(r.inPart, name) {
		r.part = nil
	}
	if r.part == nil {
		return &r.top
	}
	return r.part
}

func (f *said) note(name, value string) {
	if f.texts == nil {
		f.texts = map[string][]string{}
	}
	f.texts[name] = append(f.texts[name], value)
}

func (f *said) text(name string) string {
	return strings.TrimSpace(strings.Join(f.texts[name], "\n"))
}

// objectStart matches where a JSON object begins in its line.
var objectStart = lazy.Regexp(`(?m)^[ \t>]*(\{)`)

// fromJSON returns what the JSON object in a text says; nil if there is none that says anything. Of the
// text around it only code serves, if the object has none.
func (s *shape) fromJSON(text string) (*said, error) {
	begin := 0
	for _, p := range pieces(text) {
		m := objectStart().FindStringSubmatchIndex(p.text)
		if m == nil || p.isCode && p.Language != "" && p.Language != "json" {
			begin += len(p.text)
			continue
		}
		begin += m[2]
		object, length := repaired(text[begin:])
		var all map[string]any
		if json.Unmarshal([]byte(object), &all) != nil {
			if strings.Trim(text[:begin], "`~json \t\n") == "" {
				return nil, errors.New("its JSON cannot be read")
			}
			return nil, nil
		}
		f := s.ofObject(all)
		if len(f.texts)+len(f.parts) == 0 {
			return nil, nil
		}
		around := text[:begin] + text[begin+length:]
		if objectStart().MatchString(Prose(around)) {
			return nil, errors.New("it has two JSON objects")
		}
		if len(f.blocks) == 0 {
			f.blocks = codeBlocks(around)
		}
		return f, nil
	}
	return nil, nil
}

const longFence = "````````````"

// ofObject returns what an object says.
func (s *shape) ofObject(object map[string]any) *said {
	f := &said{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		name, _, _ := s.find(strings.NewReplacer("_", " ", "-", " ").Replace(key) + ":")
		all, isList := object[key].([]any)
		if !isList {
			all = []any{object[key]}
		} else if len(all) == 0 {
			f.note(name, "")
		}
		for _, one := range all {
			part, isObject := one.(map[string]any)
			switch {
			case name == "" || one == nil:
				f.note(name, "")
			case isObject && name == s.opens:
				f.parts = append(f.parts, s.ofObject(part))
			case isList && name == s.opens:
				f.parts = append(f.parts, s.ofObject(map[string]any{name: one}))
			default:
				f.note(name, fmt.Sprint(one))
			}
		}
	}
	delete(f.texts, "")
	if code := strings.Join(f.texts["code"], "\n"); !nothing().MatchString(code) {
		if f.blocks = codeBlocks(code); len(f.blocks) == 0 {
			f.blocks = codeBlocks(longFence + "python\n" + code + "\n" + longFence)
		}
	}
	return f
}

// into sets the fields of a form. The error says why there is no code.
func (f *said) into(form reflect.Value) (noCode error) {
	noCode = errNoCode
	for _, of := range reflect.VisibleFields(form.Type()) {
		name, value := nameOf(of), form.FieldByIndex(of.Index)
		text := f.text(name)
		switch {
		case of.Anonymous:
		case name == "code":
			if text, noCode = f.code(); noCode == nil {
				value.SetString(text)
			}
		case choices[name] != nil:
			value.SetString(text)
		case of.Type.Kind() == reflect.String:
			value.SetString(paragraph(text))
		case of.Type.Kind() == reflect.Int:
			value.SetInt(int64(append(numbersIn(text), 0)[0]))
		case of.Type.Kind() == reflect.Bool:
			value.SetBool(isYes().MatchString(text))
		case of.Type == reflect.TypeFor[[]int]():
			if f.texts[name] != nil {
				value.Set(reflect.ValueOf(numbersIn(text)))
			}
		case of.Type == reflect.TypeFor[[]string]():
			for _, one := range f.texts[name] {
				if one = paragraph(one); one != "" {
					value.Set(reflect.Append(value, reflect.ValueOf(one)))
				}
			}
		default:
			for _, part := range f.parts {
				one := reflect.New(of.Type.Elem()).Elem()
				_ = part.into(one) // it is left out
				value.Set(reflect.Append(value, one))
			}
		}
	}
	return noCode
}

var (
	nothing  = lazy.Regexp(`(?i)^\W*(?:none|nothing|n/a|null)?\W*$`)
	numberIn = lazy.Regexp(`\b\d{1,4}\b`)
	ofAll    = lazy.Regexp(`(?i)\b(?:out\s+)?of\s+(?:the\s+)?\d+`)
	isYes    = lazy.Regexp(`(?i)^\W*(?:yes|true|settled)\b`)
)

// paragraph returns a text in one line, without marks around it; "" if it says that there is nothing.
func paragraph(text string) string {
	text = brief.OneLine(text)
	text = strings.Trim(text[len(item().FindString(text)):], " |")
	for _, mark := range []string{"**", "__", "`"} {
		if strings.Count(text, mark) == 2 && strings.HasPrefix(text, mark) && strings.HasSuffix(text, mark) {
			text = strings.Trim(text, mark)
		}
	}
	if nothing().MatchString(text) {
		return ""
	}
	return brief.Clip(text, 2000)
}

// numbersIn returns the numbers in a text.
func numbersIn(text string) []int {
	all := []int{}
	for _, found := range numberIn().FindAllString(ofAll().ReplaceAllString(text, ""), -1) {
		n, _ := strconv.Atoi(found) // a few digits
		all = append(all, n)
	}
	return all
}
