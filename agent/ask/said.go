package ask

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
)

// said is what a reply says under the names of fields, and what it says under none. Code has its
// fences.
type said map[string][]string

// read reads labelled lines and code into a struct, given its address.
func (f *form) read(text string, to any) {
	own, parts := f.lines(fenced(f.unJSON(text)))
	f.set(reflect.ValueOf(to).Elem(), own, parts)
}

// unJSON returns the labelled lines and code that a JSON object says, which may be in a block. Any other
// text stays.
func (f *form) unJSON(text string) string {
	object := text
	if all := Blocks(text); len(all) == 1 && all[0].Language == "json" {
		object = all[0].Code
	}
	if !strings.HasPrefix(strings.TrimSpace(object), "{") || !gjson.Valid(object) {
		return text
	}
	var b strings.Builder
	var write func(key, value gjson.Result) bool
	write = func(key, value gjson.Result) bool {
		label := strings.ReplaceAll(key.Str, "_", " ") + ": "
		name, _, _ := f.labelled(label)
		switch {
		case value.IsArray():
			value.ForEach(func(_, one gjson.Result) bool { return write(key, one) })
		case value.IsObject():
			b.WriteString(strings.Trim(label, ": ") + ":\n")
			value.ForEach(write)
		case name == "code" && len(Blocks(value.Str)) == 0:
			b.WriteString("```python\n" + value.Str + "\n```\n")
		case name == "code":
			b.WriteString(value.Str + "\n")
		default:
			b.WriteString(label + value.String() + "\n")
		}
		return true
	}
	write(gjson.Result{}, gjson.Parse(object))
	return b.String()
}

// bare matches code without a fence, below its label or from an import on: to a branch, a last line in words
// or the end.
var bare = lazy.Regexp(`(?ms)(?:^([#* ]*(?:(?:[Ll]ast|[Pp]ython) )?(?:[Cc]ode|[Cc]ell)[* ]*:[* ]*\n|python\n)(.*?)|` +
	`^((?:import [\w.]+(?: as \w+|, *[\w.]+)*|from [\w.]+ import [^\n]+)$.*?))` +
	`(\n[#* ]*Branch[ #]*\d|(?:\n[A-Z][\w'’]* [\w'’][^\n=():]*[.!?])?\s*\z)`)

// fenced puts fences around code that has none.
func fenced(text string) string {
	if len(Blocks(text)) > 0 {
		return text
	}
	return bare().ReplaceAllString(text, "$1```python\n$2$3\n```\n$4")
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
	value = strings.TrimRight(strings.TrimLeft(line[len(m[0]):], "*_ "), "*| ")
	number := m[len(m)-2]
	if number == "" && f.types[name] == reflect.Int {
		number = ofTwo().FindString(value)
	}
	number, second, _ = strings.Cut(number, ".")
	switch {
	case f.types[name] == reflect.Int:
		value = strings.TrimSpace(number + " " + value)
	case name == "warnings" && number != "":
		value = number + ": " + value
	}
	return name, value, second
}

// set sets the fields of a struct by what is said of them, and its parts. Code, choices and
// what is said of warnings stay as they are said.
func (f *form) set(form reflect.Value, own said, parts []said) {
	for of, value := range form.Fields() {
		name := of.Tag.Get("form")
		text := strings.Join(own[name], "\n")
		switch to := value.Addr().Interface().(type) {
		case *string:
			if *to = text; name != "code" && name != "warnings" && choices[name] == nil {
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
	ofTwo    = lazy.Regexp(`^\d{1,2}\.\d{1,2}$`)                         // of a branch
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

func numbersIn(text string) []int {
	all := []int{}
	for _, found := range numberIn().FindAllString(ofAll().ReplaceAllString(text, ""), -1) {
		n, _ := strconv.Atoi(found) // a few digits
		all = append(all, n)
	}
	return all
}

// A Block is a code block of a text, of which the last one may not be closed, or what stands between.
// Its language is in small letters, "python" for all names of Python.
type Block struct {
	Language, Code string
	text           string // with the lines of its fences
	isCode         bool
}

// Blocks returns the code blocks of a text, in order.
func Blocks(text string) []Block {
	return slices.DeleteFunc(pieces(text), func(p Block) bool { return !p.isCode })
}

// Prose returns the lines of a text that are in no code block.
func Prose(text string) (prose string) {
	for _, p := range pieces(text) {
		if !p.isCode {
			prose += p.text
		}
	}
	return prose
}

var (
	// fenceLine opens or closes a block, in a list, too, or opens one behind its label.
	fenceLine = lazy.Regexp("(?m)^([ \t]*(?:(?:[-*+]|\\d{1,3}[.)])[ \t]+)?)(?:[*_#\\w /\\[]{1,24}[:\\]][*_]*[ \t]*)?" +
		"(`{3,}|~{3,})[ \t]*([^`\n]*?)[ \t]*$")
	pythonTag = lazy.Regexp(`(?i)^(?:\{code-cell\}\s*)?[{.\s]*(?:i?python|py)(?:[23](?:\.\d+)?)?(?:$|[\s{}:,;])`)
)

// pieces returns the code blocks of a text and what stands between, in order.
func pieces(text string) (all []Block) {
	begin, open := 0, []string(nil) // line, what stands before the marks, these, language of a fence
	for _, at := range fenceLine().FindAllStringSubmatchIndex(text, -1) {
		line := []string{text[at[0]:at[1]], text[at[2]:at[3]], text[at[4]:at[5]], text[at[6]:at[7]]}
		switch {
		case open == nil:
			all = append(all, Block{text: text[begin:at[0]]})
			begin, open = at[0], line
		case line[3] == "" && strings.HasPrefix(line[2], open[2]) && strings.TrimSpace(text[at[0]:at[4]]) == "" &&
			len(line[1]) <= len(open[1])+3:
			all = append(all, blockOf(open, text[begin:at[0]], text[at[0]:at[1]]))
			begin, open = at[1], nil
		}
	}
	if open == nil {
		return append(all, Block{text: text[begin:]})
	}
	return append(all, blockOf(open, text[begin:], ""))
}

// blockOf returns the block of a text that begins with a fence, without an indent that all its lines have.
func blockOf(fence []string, text, end string) Block {
	language, _, _ := strings.Cut(strings.ToLower(fence[3]), " ")
	if pythonTag().MatchString(fence[3]) {
		language = "python"
	}
	code := strings.TrimRight(strings.TrimLeft(text[len(fence[0]):], "\n"), " \t\n")
	indent := code[:len(code)-len(strings.TrimLeft(code, " \t"))]
	for line := range strings.Lines(code) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, indent) {
			indent = ""
		}
	}
	return Block{language, strings.ReplaceAll("\n"+code, "\n"+indent, "\n")[1:], text + end, true}
}

var errNoCode = errors.New("it has no code block")

// codeOf returns the code of a text that has blocks of it, in Python or else without a language. Of
// several blocks one is the whole if it has the others in it: models show excerpts, too.
func codeOf(text string) (string, error) {
	blocks := Blocks(text)
	for _, language := range []string{"python", ""} {
		is := func(b Block) bool { return b.Language == language && b.Code != "" }
		all := lists.Map(lists.Where(blocks, is), func(b Block) string { return b.Code })
		for _, whole := range all {
			if !slices.ContainsFunc(all, func(part string) bool { return !strings.Contains(whole, part) }) {
				return whole, nil
			}
		}
		if all != nil {
			return "", errors.New("it has several code blocks, and none is the whole")
		}
	}
	return "", errNoCode
}
