package ask

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
)

// An entry is what a reply says under the name of a field, or a block of code.
type entry struct {
	name, text string
	block      piece
}

// read reads a reply into a form, given its address: a JSON object, or else labelled lines and
// code. The first error says why there is no code.
func (s *shape) read(text string, form any) (noCode, err error) {
	isJSON, err := fromJSON(text, form)
	if err != nil {
		return nil, err
	}
	all := s.entries(text)
	if isJSON {
		all = slices.DeleteFunc(all, func(e entry) bool { return !e.block.isCode })
	}
	own, parts := s.parts(all)
	return s.into(reflect.ValueOf(form).Elem(), own, parts), nil
}

var (
	introLine = lazy.Regexp(`(?i)^(?:sure|certainly|of course|okay|ok|here)\b[^\n]*[:!](?:\s*\n|$)`)
	item      = lazy.Regexp(`^[ \t]*(?:[-*•]|\(?\d{1,2}[.)])[ \t]+`)
)

// longestField is how much of a field is kept. The rest is talk, or a copying error.
const longestField = 4000

// entries reads labelled lines and code. What stands before all code without a label is the form's
// first text.
func (s *shape) entries(text string) (all []entry) {
	var lead []string
	hasCode, last := false, &entry{} // last: what lines go on from; without a name: none
	add := func(e ...entry) {
		all = append(all, e...)
		last = &all[len(all)-1]
	}
	for _, p := range pieces(text) {
		if p.isCode {
			add(entry{name: "code", block: p})
			hasCode, last = true, &entry{}
			continue
		}
		for line := range strings.Lines(p.text) {
			line = strings.TrimRight(line, "\n")
			switch fields := s.labelled(line); {
			case fields != nil:
				add(fields...)
			case last.name == "options" && item().MatchString(line):
				add(entry{name: "options", text: line})
			case strings.Trim(line, "|:- \t") == "": // also below the head of a table
				if last.text != "" {
					last = &entry{}
				}
			case last.name == "" && !hasCode:
				lead = append(lead, line)
			case last.name != "" && len(last.text) < longestField:
				last.text = strings.TrimSpace(last.text + "\n" + line)
			}
		}
	}
	first := introLine().ReplaceAllString(strings.TrimSpace(strings.Join(lead, "\n")), "")
	if len(s.own) > 0 && texts(all, s.own[0]) == nil {
		add(entry{name: s.own[0], text: first})
	}
	return all
}

// texts returns what entries say under a name; nil if they do not have it.
func texts(all []entry, name string) (found []string) {
	for _, e := range all {
		if e.name == name {
			found = append(found, e.text)
		}
	}
	return found
}

// parts returns the entries that belong to no part, and those of each part. The first field of a
// part begins one, and a field of no part ends it.
func (s *shape) parts(all []entry) (own []entry, parts [][]entry) {
	to := &own
	for _, e := range all {
		if e.name == s.opens && (to == &own || strings.Join(texts(*to, e.name), "") != "") {
			parts = append(parts, nil)
			to = &parts[len(parts)-1]
		} else if !slices.Contains(s.inPart, e.name) {
			to = &own
		}
		*to = append(*to, e)
	}
	return own, parts
}

// into sets the fields of a form that are empty by entries, and by those of its parts, and tidies
// all. The error says why there is no code.
func (s *shape) into(form reflect.Value, own []entry, parts [][]entry) (noCode error) {
	noCode = errNoCode
	for of, value := range form.Fields() {
		name := nameOf(of)
		texts := texts(own, name)
		text := strings.TrimSpace(strings.Join(texts, "\n"))
		switch to := value.Addr().Interface().(type) {
		case *string:
			if name == "code" {
				*to, noCode = codeOf(*to, own)
			} else if *to = cmp.Or(*to, text); choices[name] == nil {
				*to = paragraph(*to)
			}
		case *int:
			*to = max(0, cmp.Or(*to, append(numbersIn(text), 0)[0]))
		case *bool:
			*to = *to || isYes().MatchString(text)
		case *[]string:
			*to = different(append(*to, texts...))
		default:
			for n := range value.Len() {
				_ = s.into(value.Index(n), nil, nil)
			}
			for _, part := range parts {
				if one := reflect.New(of.Type.Elem()).Elem(); name == s.partsOf {
					_ = s.into(one, part, nil) // it is left out
					value.Set(reflect.Append(value, one))
				}
			}
		}
	}
	return noCode
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
	ofAll    = lazy.Regexp(`(?i)\b(?:out\s+)?of\s+(?:the\s+)?\d+`)
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
