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

// An entry is what a reply says under the name of a field. That of code has its fences.
type entry struct {
	name  string
	lines []string
}

// read reads a reply into a struct, given its address: a JSON object, or else labelled lines and
// code.
func (f *form) read(text string, to any) error {
	object, err := objectIn(text, append(f.own, f.partsOf))
	if err != nil {
		return err
	}
	said := f.entries(text)
	own, parts := f.parts(said)
	if object != nil {
		own, parts = entriesOf(object, f.own), nil
		list, _ := object[f.partsOf].([]any)
		for _, part := range list {
			parts = append(parts, entriesOf(lower(part), f.inPart))
		}
		if code := texts(own, "code"); nothing().MatchString(strings.Join(code, "\n")) {
			own = append(own, slices.DeleteFunc(said, func(e *entry) bool { return e.name != "code" })...)
		}
	}
	f.set(reflect.ValueOf(to).Elem(), own, parts)
	return nil
}

// entriesOf returns what an object says under some names.
func entriesOf(object map[string]any, names []string) (all []*entry) {
	for _, name := range names {
		list, isList := object[name].([]any)
		if !isList {
			list = []any{object[name]}
		}
		for _, one := range list {
			if one != nil {
				all = append(all, &entry{name, []string{fmt.Sprint(one)}})
			}
		}
	}
	return all
}

var (
	introLine = lazy.Regexp(`(?i)^(?:sure|certainly|of course|okay|ok|here)\b[^\n]*[:!](?:\s*\n|$)`)
	item      = lazy.Regexp(`^[ \t]*(?:[-*•]|\(?\d{1,2}[.)])[ \t]+`)
)

// entries reads labelled lines and code. What stands before all code without a label is the form's
// first text.
func (f *form) entries(text string) []*entry {
	lead := &entry{}
	rest, last, all := lead, lead, []*entry{lead}
	add := func(fields ...*entry) {
		all = append(all, fields...)
		last = all[len(all)-1]
	}
	for _, p := range pieces(text) {
		if p.isCode {
			add(&entry{"code", []string{p.text}})
			rest = &entry{} // is not read
			last = rest
			continue
		}
		for line := range strings.Lines(p.text) {
			line = strings.TrimRight(line, "\n")
			switch fields := f.labelled(line); {
			case fields != nil && fields[0].name == "code":
				last = &entry{} // code is in blocks
			case fields != nil:
				add(fields...)
			case f.kinds[last.name] == reflect.Slice && item().MatchString(line):
				add(&entry{last.name, []string{line}})
			case strings.Trim(line, "|:- \t") != "":
				last.lines = append(last.lines, line)
			case len(last.lines) > 0: // also below the head of a table
				last = rest
			}
		}
	}
	if len(f.own) > 0 && texts(all, f.own[0]) == nil {
		first := strings.TrimSpace(strings.Join(lead.lines, "\n"))
		*lead = entry{f.own[0], []string{introLine().ReplaceAllString(first, "")}}
	}
	return all
}

// labelled returns the field that a line begins with; nil if there is none. A number such as that
// of Branch 1.2 is two fields.
func (f *form) labelled(line string) []*entry {
	m := f.label().FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	n := slices.IndexFunc(m[1:], func(group string) bool { return group != "" })
	name := slices.Concat(f.own, f.inPart)[n]
	number, second, dotted := strings.Cut(m[len(m)-2], ".")
	value := strings.TrimRight(strings.TrimLeft(line[len(m[0]):], "*_ "), "| ")
	if strings.HasSuffix(value, "**") && strings.Count(value, "**")%2 == 1 {
		value = strings.TrimSuffix(value, "**") // the label has the other half
	}
	field := &entry{name: name}
	if f.kinds[name] == reflect.Int {
		value = strings.TrimSpace(number + " " + value)
	}
	if value != "" {
		field.lines = []string{value}
	}
	if dotted && len(f.inPart) > 1 && name == f.inPart[0] {
		return []*entry{field, {f.inPart[1], []string{second}}}
	}
	return []*entry{field}
}

// texts returns what entries say under a name; nil if they do not have it.
func texts(all []*entry, name string) (found []string) {
	for _, e := range all {
		if e.name == name {
			found = append(found, strings.Join(e.lines, "\n"))
		}
	}
	return found
}

// parts returns the entries that belong to no part, and those of each part. The first field of a
// part begins one, and a field of no part ends it.
func (f *form) parts(all []*entry) (own []*entry, parts [][]*entry) {
	to := &own
	for _, e := range all {
		opens := len(f.inPart) > 0 && e.name == f.inPart[0]
		if opens && (to == &own || strings.Join(texts(*to, e.name), "") != "") {
			parts = append(parts, nil)
			to = &parts[len(parts)-1]
		} else if !slices.Contains(f.inPart, e.name) {
			to = &own
		}
		*to = append(*to, e)
	}
	return own, parts
}

// set sets the fields of a struct by entries, and its parts by those of each. Code and choices stay
// as they are said.
func (f *form) set(form reflect.Value, own []*entry, parts [][]*entry) {
	for of, value := range form.Fields() {
		name := nameOf(of)
		said := texts(own, name)
		text := strings.Join(said, "\n")
		switch to := value.Addr().Interface().(type) {
		case *string:
			if *to = text; name != "code" && choices[name] == nil {
				*to = paragraph(text)
			}
		case *int:
			*to = append(numbersIn(paragraph(text)), 0)[0]
		case *bool:
			*to = isYes().MatchString(text)
		case *[]string:
			*to = different(said)
		default:
			for _, part := range parts {
				if one := reflect.New(of.Type.Elem()).Elem(); name == f.partsOf {
					f.set(one, part, nil)
					value.Set(reflect.Append(value, one))
				}
			}
		}
	}
}

// different returns the texts that are not empty; nil if two are the same but for case.
func different(texts []string) (all []string) {
	for _, text := range texts {
		text = paragraph(text)
		if slices.ContainsFunc(all, func(one string) bool { return strings.EqualFold(one, text) }) {
			return nil
		}
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

var (
	nothing  = lazy.Regexp(`(?i)^[\s.*_–—-]*(?:none|nothing|n/a|null)?[\s.*_–—-]*$`)
	numberIn = lazy.Regexp(`\b\d{1,4}\b`)
	ofAll    = lazy.Regexp(`(?i)^-\d+|\b(?:out\s+)?of\s+(?:the\s+)?\d+`) // is no number
	isYes    = lazy.Regexp(`(?i)^\W*(?:yes|true|settled)\b`)
)

// paragraph returns a text in one line, without marks around it; "" if it says that there is
// nothing.
func paragraph(text string) string {
	text = brief.OneLine(text)
	text = strings.Trim(text[len(item().FindString(text)):], " |")
	for _, mark := range []string{"**", "__", "`"} {
		if all := strings.Split(text, mark); len(all) == 3 && all[0]+all[2] == "" {
			text = all[1]
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

var (
	objectStart = lazy.Regexp(`(?m)^[ \t>]*(\{)`) // in its line
	jsonToken   = lazy.Regexp(`(?s)"(?:[^"\\]|\\.|"\s*[^,:}\]\s"\\])*"|,\s*[}\]]`)
	jsonEscape  = lazy.Regexp(`(?s)\\.|"`)
)

// objectIn returns the JSON object in a text, its names in small letters; nil if there is none. One
// in the midst of other text has one of some names.
func objectIn(text string, names []string) (map[string]any, error) {
	at := startOf(text)
	if at < 0 {
		return nil, nil
	}
	var value any
	whole := repaired(text[at:])
	decoder := json.NewDecoder(strings.NewReader(whole))
	decoder.UseNumber()
	err, object := decoder.Decode(&value), lower(value)
	isNamed := slices.ContainsFunc(names, func(name string) bool { return object[name] != nil })
	switch {
	case !isNamed && strings.Trim(text[:at], "`~json \t\n") != "":
		return nil, nil
	case err != nil:
		return nil, errors.New("its JSON cannot be read")
	case objectStart().MatchString(Prose(whole[decoder.InputOffset():])):
		return nil, errors.New("it has two JSON objects")
	}
	return object, nil
}

// startOf returns where the first JSON object of a text begins, outside of other code; -1 if there is
// none.
func startOf(text string) int {
	begin := 0
	for _, p := range pieces(text) {
		m := objectStart().FindStringSubmatchIndex(p.text)
		if m != nil && (!p.isCode || p.Language == "json" || p.Language == "" && p.Code[0] == '{') {
			return begin + m[2]
		}
		begin += len(p.text)
	}
	return -1
}

// lower returns an object with its names in small letters; one that is empty for any other value.
func lower(value any) map[string]any {
	all, object := map[string]any{}, map[string]any(nil)
	object, _ = value.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		all[strings.ToLower(name)] = object[name]
	}
	return all
}

// repaired returns JSON without faults of small models: line breaks, quotes and backslashes as they
// are in strings, and commas before brackets. General repairers do not serve for code: they
// complete what was cut off, and drop backslashes.
func repaired(text string) string {
	return jsonToken().ReplaceAllStringFunc(text, func(token string) string {
		if token[0] == ',' {
			return token[len(token)-1:]
		}
		text := jsonEscape().ReplaceAllStringFunc(token[1:len(token)-1], func(pair string) string {
			if pair != `"` && strings.Contains(`"\/bfnrtu`, pair[1:]) {
				return pair
			}
			return `\` + pair
		})
		return `"` + strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text) + `"`
	})
}

var lastText = lazy.Regexp(`(?s)^.*:\s*"((?:[^"\\]|\\.)*)`)

// SoFar returns what is worth showing of a reply that is still coming: of a JSON object the text
// that came last, of any other all of it.
func SoFar(text string) string {
	if !strings.HasPrefix(strings.TrimLeft(text, "`json \t\n"), "{") {
		return text
	}
	m, shown := lastText().FindStringSubmatch(text), ""
	if m != nil && json.Unmarshal([]byte(`"`+m[1]+`"`), &shown) != nil {
		return m[1]
	}
	return shown
}
