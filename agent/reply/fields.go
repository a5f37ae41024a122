package reply

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
)

// fields are what a reply says, by name: the names of a JSON object, or the labels of its lines.
type fields struct {
	text  map[string]string // a name that occurs again adds a line
	again map[string]bool   // it did so with another text
	items []string          // the options
	parts []*fields         // readings or branches
	json  bool
	bare  strings.Builder // the code, if it is no block
	raw   strings.Builder // what holds the blocks
	talk  strings.Builder // the lines that belong to no field
	lead  string          // those before the first code
}

func newFields() *fields {
	return &fields{text: map[string]string{}, again: map[string]bool{}}
}

// longestField is how much of a field is kept. The rest is talk, or a copying error.
const longestField = 4000

func (f *fields) add(name, value string) {
	value = brief.Clip(strings.TrimSpace(value), longestField)
	before := f.text[name]
	switch {
	case before == "":
		f.text[name] = value
	case value != "" && !strings.EqualFold(before, value):
		f.text[name], f.again[name] = before+"\n"+value, true
	}
}

// line returns a field as one paragraph; "" if it says that there is nothing.
func (f *fields) line(name string) string {
	text := paragraph(f.text[name])
	if isNothing(text) {
		return ""
	}
	return text
}

func paragraph(text string) string {
	text = strings.TrimPrefix(strings.Join(strings.Fields(text), " "), "- ")
	return brief.Clip(strings.Trim(text, " *_|`"), 600)
}

// isNothing reports whether a text says that there is nothing.
func isNothing(text string) bool {
	switch strings.ToLower(strings.Trim(text, " .-–—*_`\n")) {
	case "", "none", "nothing", "n/a", "null", "nothing is missing":
		return true
	}
	return false
}

const numeral = `one|two|three|four|five|six|seven|eight|nine|ten`

var (
	numberIn = lazy.Regexp(`(?i)\b(?:\d{1,4}|` + numeral + `)\b`)
	ofAll    = lazy.Regexp(`(?i)\b(?:out\s+)?of\s+(?:the\s+)?\d+`)
)

// numbers returns the numbers that a field names, in digits or in words.
func (f *fields) numbers(name string) (all []int) {
	for _, found := range numberIn().FindAllString(ofAll().ReplaceAllString(f.text[name], ""), -1) {
		n, err := strconv.Atoi(found)
		if err != nil {
			n = 1 + slices.Index(strings.Split(numeral, "|"), strings.ToLower(found))
		}
		all = append(all, n)
	}
	return all
}

// code returns the code; the error is errNoCode if there is none.
func (f *fields) code() (code string, err error) {
	bare, raw := f.bare.String(), f.raw.String()
	if isNothing(bare) {
		bare = ""
	}
	switch {
	case bare != "" && len(codeBlocks(bare)) > 0:
		code, err = codeOf(bare)
	case f.json && bare != "":
		code, err = cell(bare)
	case len(codeBlocks(raw)) > 0:
		code, err = codeOf(raw)
	case isPython(bare):
		code, err = cell(bare)
	}
	if err == nil && code == "" {
		err = errNoCode
	}
	return code, err
}

// marks may surround a label: Markdown, quotes, a number, emoji.
const marks = "(?:[\\s#>*_`\"'({|•✔✗✘\\p{So}\\x{FE0F}\\x{200D}]|[-–—]+\\s|\\d{1,2}[.)]\\s)*"

// A vocabulary is the names of fields in one form of reply.
type vocabulary struct {
	names  []string
	match  func() *regexp.Regexp // a group for each name, then the number and the end of the label
	opens  string                // the name that begins a part
	inPart string                // names that belong to the part
}

// newVocabulary returns a vocabulary of pairs: a name, and the regular expression of its labels.
func newVocabulary(opens, inPart string, pairs ...string) vocabulary {
	v := vocabulary{opens: opens, inPart: " " + opens + " " + inPart + " "}
	var words []string
	for i := 0; i < len(pairs); i += 2 {
		v.names = append(v.names, pairs[i])
		words = append(words, "("+pairs[i+1]+")")
	}
	v.match = lazy.Regexp(`(?i)^` + marks + `(?:(?:here\s+is|my|the|final|overall|next|new)[\s_]+)*(?:` +
		strings.Join(words, "|") + `)(?:[\s_#(*-]*(\d{1,2}(?:\.\d{1,2})?|[a-d])\b)?[*_"'|)\]` + "`" +
		`]*(\s*[:=|]+|\s+[-–—]+\s+|\s+is\b|[ \t.]*$)`)
	return v
}

// find returns the name of the label that a line begins with, its number and its value.
func (v vocabulary) find(line string) (name, number, value string) {
	m := v.match().FindStringSubmatchIndex(line)
	if m == nil {
		return "", "", ""
	}
	for n := range v.names {
		if m[2*n+2] >= 0 {
			name = v.names[n]
		}
	}
	if last := len(m) - 4; m[last] >= 0 {
		number = line[m[last]:m[last+1]]
	}
	value = strings.TrimSpace(line[m[1]:])
	for _, bold := range []string{"**", "__"} {
		if strings.Count(value, bold)%2 == 1 { // the label has the other half
			value = strings.ReplaceAll(value, bold, "")
		}
	}
	return name, number, strings.TrimSpace(strings.Trim(value, "|"))
}

// by returns what reads the fields of a reply, and then takes what they say.
func by[T any](v vocabulary, take func(*fields) (T, error)) func(text string) (T, error) {
	return func(text string) (T, error) {
		f, err := v.read(text)
		if err != nil {
			return *new(T), err
		}
		return take(f)
	}
}

// read reads a reply: a JSON object with one of the fields, or else labelled lines and code.
func (v vocabulary) read(text string) (*fields, error) {
	o, around, err := objectIn(text, func(value any) object { return v.unwrap(value, 0) })
	if err != nil {
		return nil, err
	}
	if o != nil {
		f := v.ofObject(o)
		f.raw.WriteString(around)
		return f, nil
	}
	r := lineReader{vocabulary: v, root: newFields()}
	r.root.raw.WriteString(text)
	var open fence
	for line := range strings.Lines(text) {
		next := open.after(line)
		if open.isOpen() || next.isOpen() {
			r.code(line)
		} else {
			r.line(strings.TrimRight(line, "\n"))
		}
		open = next
	}
	if !r.began {
		r.root.lead = r.root.talk.String()
	}
	return r.root, nil
}

// A lineReader reads labelled lines.
type lineReader struct {
	vocabulary
	root, part *fields // part: that was begun last
	at         *fields // has the field that goes on in the next line; nil: none
	name       string  // of that field
	lists      bool    // numbered or marked lines are options
	began      bool    // there was code
}

func (r *lineReader) code(line string) {
	if !r.began {
		r.began, r.root.lead = true, r.root.talk.String()
	}
	r.at, r.lists = nil, false
	if r.part != nil {
		r.part.raw.WriteString(line)
	}
}

var optionItem = lazy.Regexp(`(?i)^[ \t]*(?:[-*•]|\(?(?:\d{1,2}|[a-d])[.)])[ \t]+`)

func (r *lineReader) line(line string) {
	name, number, value := r.find(line)
	item := optionItem().FindString(line)
	switch {
	case r.at != nil && r.name == "code" && (name == "" || name != r.opens):
		r.at.bare.WriteString(line + "\n")
	case name != "":
		r.begin(name, number, value)
	case strings.Trim(line, "|:- \t") == "": // also below the head of a table
		if r.at != nil && r.at.text[r.name] != "" {
			r.at = nil
		}
	case r.lists && item != "":
		r.option(line[len(item):])
	case r.at == nil:
		r.root.talk.WriteString(line + "\n")
	default:
		if before := r.at.text[r.name]; len(before) < longestField {
			r.at.text[r.name] = strings.TrimSpace(before + "\n" + line)
		}
	}
}

// begin begins the field of a label.
func (r *lineReader) begin(name, number, value string) {
	switch {
	case name == r.opens && (r.part == nil || r.part.text[name] != "" || len(r.part.items) > 0):
		r.part = newFields()
		r.root.parts = append(r.root.parts, r.part)
	case !strings.Contains(r.inPart, " "+name+" "):
		r.part = nil
	}
	r.lists = name == r.opens || name == "options"
	r.at, r.name = r.to(), name
	switch {
	case name == "options" && number == "" && value != "":
		r.at.items, r.at = append(r.at.items, split(value)...), nil
	case name == "options":
		if number != "" {
			r.option(value)
		}
	case name == "code":
		r.at.bare.WriteString(value + "\n")
	case name == "branch" || value == "":
		r.at.add(name, number+" "+value)
	default:
		r.at.add(name, value)
	}
}

// to returns where a field belongs.
func (r *lineReader) to() *fields {
	if r.part != nil {
		return r.part
	}
	return r.root
}

func (r *lineReader) option(text string) {
	to := r.to()
	to.items = append(to.items, strings.TrimSpace(text))
	r.at = nil
}

var between = lazy.Regexp(`(?i)\s*(?:;|\s[/|]\s|\s+vs\.?\s|(?:^|\s)\(?[1-9a-d][.)]\s)\s*`)

// split returns options that stand in one line.
func split(text string) []string {
	return slices.DeleteFunc(between().Split(text, -1), func(one string) bool { return one == "" })
}

// named returns the field of a JSON name such as next_step or option_1.
func (v vocabulary) named(name string) string {
	name, _, _ = v.find(strings.NewReplacer("_", " ", "-", " ").Replace(name))
	return name
}

// unwrap returns the object that has a field, within one that only wraps it, such as a call of a
// tool.
func (v vocabulary) unwrap(value any, depth int) object {
	if text, ok := value.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") && depth < 3 {
		p := jsonReader{text: text}
		value, _ = p.value(0)
	}
	if all, ok := value.([]any); ok && len(all) > 0 {
		one, _ := all[0].(object)
		if v.opens != "" && v.knows(one, v.inPart) {
			return object{v.opens: value}
		}
		if len(all) == 1 {
			value = one
		}
	}
	o, _ := value.(object)
	if v.knows(o, "") {
		return o
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if inner := v.unwrap(o[name], depth+1); inner != nil && depth < 3 {
			return inner
		}
	}
	return nil
}

// knows reports whether an object has a field of the vocabulary, or of some names of it.
func (v vocabulary) knows(o object, names string) bool {
	for name := range o {
		is := v.named(name)
		if is != "" && (names == "" || strings.Contains(names, " "+is+" ")) {
			return true
		}
	}
	return false
}

// ofObject returns the fields of a JSON object.
func (v vocabulary) ofObject(o object) *fields {
	f := newFields()
	f.json = true
	for _, name := range slices.Sorted(maps.Keys(o)) {
		is, value := v.named(name), o[name]
		inner, isObject := value.(object)
		texts := textsOf(value)
		switch {
		case is == "":
		case is == v.opens && v.opens != "" && !isText(value):
			list, isList := value.([]any)
			if !isList {
				list = []any{value}
			}
			for _, one := range list {
				if text, ok := one.(string); ok {
					one = object{v.opens: text}
				}
				if o, ok := one.(object); ok {
					f.parts = append(f.parts, v.ofObject(o))
				}
			}
		case is == "options" && len(texts) == 1 && strings.HasSuffix(name, "s"):
			f.items = append(f.items, split(texts[0])...)
		case is == "options":
			f.items = append(f.items, texts...)
		case isObject:
			inside := v.ofObject(inner)
			maps.Copy(f.text, inside.text)
			f.items = append(f.items, inside.items...)
		case is == "code":
			f.bare.WriteString(strings.Join(texts, "\n"))
		default:
			f.add(is, strings.Join(texts, "\n"))
		}
	}
	return f
}

func isText(value any) bool { _, ok := value.(string); return ok }

// textsOf returns the texts of a JSON value: of an object the longest one, or all if their names
// are numbers or letters.
func textsOf(value any) (all []string) {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, one := range value {
			all = append(all, strings.Join(textsOf(one), " "))
		}
	case object:
		named := false
		for _, name := range slices.Sorted(maps.Keys(value)) {
			all = append(all, strings.Join(textsOf(value[name]), " "))
			named = named || len(name) > 2
		}
		if named {
			return []string{slices.MaxFunc(all, func(a, b string) int { return len(a) - len(b) })}
		}
	}
	return all
}
