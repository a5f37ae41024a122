package ask

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
)

// said is what a reply says under the names of fields, and what it says under none. Code has its
// fences.
type said map[string][]string

// read reads labelled lines and code into a struct, given its address.
func (f *form) read(text string, to any) {
	own, parts := f.lines(text)
	f.set(reflect.ValueOf(to).Elem(), own, parts)
}

var item = lazy.Regexp(`^[ \t]*(?:[-*•]|\(?\d{1,2}[.)])[ \t]+`)

// lines reads labelled lines and code: what they say in no part, and what in each. The first field
// of a part begins one, and a field of no part ends it. What stands before all code without a label
// is the form's first text.
func (f *form) lines(text string) (own said, parts []said) {
	own = said{}
	to, inside, coded, last := own, false, false, "" // last: the field that a line goes on
	add := func(name, value string) {
		if f.opens(name) && (!inside || strings.Join(to[name], "") != "") {
			to, inside = said{}, true
			parts = append(parts, to)
		} else if !slices.Contains(f.inPart, name) {
			to, inside = own, false
		}
		to[name], last = append(to[name], value), name
	}
	for _, p := range pieces(text) {
		if p.isCode {
			add("code", p.text)
			last, coded = "", true
			continue
		}
		for line := range strings.Lines(p.text) {
			line = strings.TrimRight(line, "\n")
			of, blank := f.types[last], strings.Trim(line, "|:- \t") == "" // as below the head of a table
			switch name, value, second := f.labelled(line); {
			case name == "code": // it is in blocks
				last, coded = "", true
			case name != "":
				if add(name, value); f.opens(name) && second != "" {
					add(f.inPart[1], second)
				}
			case of == reflect.Slice && item().MatchString(line):
				add(last, line)
			case of == reflect.Invalid && !blank && !coded:
				own[""] = append(own[""], line)
			case of != reflect.Invalid:
				field := &to[last][len(to[last])-1]
				if blank && *field != "" {
					last = ""
				} else if !blank {
					*field = strings.TrimLeft(*field+"\n"+line, "\n")
				}
			}
		}
	}
	if len(f.own) > 0 && own[f.own[0]] == nil {
		own[f.own[0]] = own[""]
	}
	return own, parts
}

// opens reports whether a field begins a part.
func (f *form) opens(name string) bool { return len(f.inPart) > 0 && name == f.inPart[0] }

// labelled returns the name and the value of the field that a line begins with; "" if there is none.
// A number such as that of Branch 1.2 is two fields: then second is the value of the other one.
func (f *form) labelled(line string) (name, value, second string) {
	m := f.label.FindStringSubmatch(line)
	if m == nil {
		return "", "", ""
	}
	n := slices.IndexFunc(m[1:], func(group string) bool { return group != "" })
	name = slices.Concat(f.own, f.inPart)[n]
	number, second, _ := strings.Cut(m[len(m)-2], ".")
	value = strings.TrimRight(strings.TrimLeft(line[len(m[0]):], "*_ "), "*| ")
	if f.types[name] == reflect.Int {
		value = strings.TrimSpace(number + " " + value)
	}
	return name, value, second
}

// set sets the fields of a struct by what is said of them, and its parts. Code and choices stay as
// they are said.
func (f *form) set(form reflect.Value, own said, parts []said) {
	for of, value := range form.Fields() {
		name := of.Tag.Get("form")
		text := strings.Join(own[name], "\n")
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
			for _, one := range own[name] {
				if one = paragraph(one); one != "" {
					*to = append(*to, one)
				}
			}
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

var (
	nothing  = lazy.Regexp(`(?i)^[\s.*_–—-]*(?:none|nothing|n/a|null)?[\s.*_–—-]*$`)
	numberIn = lazy.Regexp(`\b\d{1,4}\b`)
	ofAll    = lazy.Regexp(`(?i)^-\d+|\b(?:out\s+)?of\s+(?:the\s+)?\d+`) // is no number
	marked   = lazy.Regexp("^(?:\\*\\*([^*]*)\\*\\*|__([^_]*)__|`([^`]*)`)$")
	isYes    = lazy.Regexp(`(?i)^\W*(?:yes|true|settled)\b`)
)

// paragraph returns a text in one line, without marks around it; "" if it says that there is
// nothing.
func paragraph(text string) string {
	text = brief.OneLine(text)
	text = strings.Trim(text[len(item().FindString(text)):], " |")
	text = marked().ReplaceAllString(text, "$1$2$3")
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
