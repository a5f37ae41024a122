package reply

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dsstar/notebook/lazy"
)

// A label is a name of a field, as models write it.
type label struct {
	name  string
	words string // regular expression
	value string // regular expression of what may follow without a colon; "": any text
	opens bool   // it begins a part
	part  bool   // it belongs to the part that was begun last
	item  bool   // it is an option, or all of them
	talk  bool   // its line is read as talk
}

// labels are those of one kind of reply.
type labels struct {
	all    []label
	match  func() *regexp.Regexp // a group for each label
	values []func() *regexp.Regexp
}

func newLabels(all ...label) labels {
	l := labels{all: all}
	var words []string
	for _, one := range all {
		words = append(words, "("+one.words+")")
		l.values = append(l.values, lazy.Regexp(
			`(?i)^(?:(?:the|is|are|was|it|options?|steps?|readings?)\s+)*(?:`+one.value+`)`))
	}
	l.match = lazy.Regexp(`(?i)^` + marks + `(?:(?:here\s+is|my|the|final|overall|next|new)\s+)*(?:` +
		strings.Join(words, "|") + ")")
	return l
}

// labelEnd is what follows a label's words: a number, marks, a colon.
var labelEnd = lazy.Regexp(`(?i)^(?:[\s_#(*-]*(\d{1,2}(?:\.\d{1,2})?|[a-d])\b\)?)?` +
	"([\\s*_\"'`|)\\]]*)" + `([:=|]+|[.)]\s+|[-–—]+(?:\s+|$)|\bis\b)?[\s|]*`)

// find returns the label at the beginning of a text and what follows its words; -1 if there is
// none.
func (l labels) find(text string) (n int, rest string) {
	m := l.match().FindStringSubmatchIndex(text)
	if m == nil {
		return -1, ""
	}
	rest = text[m[1]:]
	if next, _ := utf8.DecodeRuneInString(rest); unicode.IsLetter(next) {
		return -1, ""
	}
	for n = range l.all {
		if m[2*n+2] >= 0 {
			break
		}
	}
	return n, rest
}

// inLine returns the label of a line, its number and its value.
func (l labels) inLine(line string, seen func(name string) bool) (n int, number, value string) {
	n, rest := l.find(line)
	if n < 0 {
		return -1, "", ""
	}
	m := labelEnd().FindStringSubmatchIndex(rest)
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return rest[m[2*i]:m[2*i+1]]
	}
	number, closing, colon := group(1), group(2), group(3)
	head, value := line[:len(line)-len(rest)+m[1]], rest[m[1]:]
	is := l.all[n]
	first, _ := utf8.DecodeRuneInString(value)
	begins := unicode.IsUpper(first) || first == '"' || first == '“'
	plain := colon == "" || colon == "is"
	switch {
	case (colon == "." || strings.TrimSpace(colon) == ")") && number == "":
		return -1, "", ""
	case !plain, value == "":
	case is.value != "":
		if number == "" && !l.values[n]().MatchString(value) {
			return -1, "", ""
		}
	case is.item && number != "", strings.ContainsAny(closing, "*_`|"):
	case seen(is.name) || colon == "" && !begins:
		return -1, "", ""
	}
	return n, number, withoutMarks(head, value)
}

// withoutMarks removes marks for bold type that a label shares with its value.
func withoutMarks(head, value string) string {
	for _, mark := range []string{"**", "__", "*", "_"} {
		if strings.Count(head, mark)%2 == 1 {
			value = strings.TrimSpace(strings.TrimPrefix(value, mark))
		}
		if strings.Count(value, mark)%2 == 1 {
			value = strings.TrimSuffix(value, mark)
		}
	}
	return strings.TrimSpace(value)
}

// read reads a reply: a JSON object with one of the fields, or else labelled lines and code.
func (l labels) read(text string) (*fields, error) {
	o, around, err := objectIn(text, func(v any) object { return l.unwrap(v, 0) })
	if err != nil {
		return nil, err
	}
	if o != nil {
		f := l.fromObject(o)
		f.raw.WriteString(around)
		return f, nil
	}
	r := lineReader{labels: l, root: newFields()}
	r.root.raw.WriteString(text)
	var open fence
	var talk strings.Builder
	for line := range strings.Lines(text) {
		next := open.after(line)
		if open.isOpen() || next.isOpen() {
			r.talk(talk.String())
			talk.Reset()
			r.code(line)
		} else {
			talk.WriteString(line)
		}
		open = next
	}
	r.talk(talk.String())
	return r.root, nil
}

// A lineReader reads labelled lines.
type lineReader struct {
	labels
	root, part *fields // part: that was begun last
	at         *fields // has the field that goes on in the next line; nil: none
	name       string  // of that field
	lists      bool    // numbered or marked lines are options
	began      bool    // there was code
	tagged     bool    // within HTML tags for code
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

func (r *lineReader) talk(text string) {
	if text == "" {
		return
	}
	for _, line := range strings.Split(tableAsLines(text, r.isLabel), "\n") {
		if codeTag().MatchString(line) {
			r.tagged = true
		}
		if r.tagged {
			r.code(line + "\n")
			r.tagged = !closingTags().MatchString(line)
			continue
		}
		r.line(line)
	}
}

func (r *lineReader) isLabel(text string) bool {
	n, _ := r.find(text)
	return n >= 0
}

var optionItem = lazy.Regexp(`(?i)^[ \t]*(?:[-*•]|\(?(?:\d{1,2}|[a-d])[.)])[ \t]+`)

func (r *lineReader) line(line string) {
	blank := strings.TrimSpace(line) == ""
	n, number, value := -1, "", ""
	if !blank {
		n, number, value = r.inLine(line, r.seen)
	}
	if r.at != nil && r.name == "code" && (n < 0 || !r.all[n].opens) {
		r.at.bare.WriteString(line + "\n")
		return
	}
	switch item := optionItem().FindString(line); {
	case blank:
		if r.at != nil && (r.at.text[r.name] != "" || r.name == "") {
			r.at = nil
		}
	case n >= 0:
		r.begin(r.all[n], number, value, line)
	case r.lists && item != "":
		to := r.to(true)
		to.items = append(to.items, strings.TrimSpace(line[len(item):]))
		r.at, r.name = to, ""
	case r.at == nil:
		r.root.talk.WriteString(line + "\n")
	case r.name == "":
		appendLine(&r.at.items[len(r.at.items)-1], line)
	default:
		text := r.at.text[r.name]
		appendLine(&text, line)
		r.at.text[r.name] = text
	}
}

// appendLine adds a line to a text that is not too long already.
func appendLine(text *string, line string) {
	if len(*text) < longestField {
		*text = strings.TrimSpace(*text + "\n" + line)
	}
}

// to returns where a field belongs.
func (r *lineReader) to(part bool) *fields {
	if part && r.part != nil {
		return r.part
	}
	return r.root
}

func (r *lineReader) seen(name string) bool {
	_, root := r.root.text[name]
	_, part := r.to(true).text[name]
	return root || part
}

// begin begins the field of a label.
func (r *lineReader) begin(is label, number, value, line string) {
	if is.value != "" {
		value = strings.TrimSpace(number + " " + value)
	}
	switch {
	case is.opens && (r.part == nil || r.part.text[is.name] != "" || len(r.part.items) > 0):
		r.part = newFields()
		r.root.parts = append(r.root.parts, r.part)
	case !is.opens && !is.part:
		r.part = nil
	}
	r.lists = is.opens || is.item && value == ""
	r.at, r.name = r.to(is.part || is.opens), is.name
	switch {
	case is.talk:
		r.at = nil
		if !strings.ContainsAny(line, ":=|-–—") {
			line = is.name + ": " + value
		}
		r.root.talk.WriteString(line + "\n")
	case is.item && number == "" && value != "":
		r.at.items = append(r.at.items, inlineOptions(value)...)
		r.name = ""
	case is.item && value != "":
		r.at.items = append(r.at.items, value)
		r.name = ""
	case is.item && number != "":
		r.at.items = append(r.at.items, "")
		r.name = ""
	case is.name == "code":
		r.at.bare.WriteString(value + "\n")
	default:
		r.at.add(is.name, value)
	}
}

var optionMark = lazy.Regexp(`(?i)\s*(?:;|\s[/|]\s|\s+vs\.?\s|(?:^|\s)\(?(?:\d|[a-d])[.)]\s)\s*`)

// inlineOptions splits options in one line.
func inlineOptions(text string) (all []string) {
	for _, one := range optionMark().Split(text, -1) {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// named returns the label of a JSON name.
func (l labels) named(name string) (label, bool) {
	name = strings.NewReplacer("_", " ", "-", " ").Replace(name)
	n, rest := l.find(name)
	if n < 0 || strings.Trim(rest, " 0123456789") != "" {
		return label{}, false
	}
	return l.all[n], true
}

// unwrap returns the object that has a field, within one that only wraps it, such as a call of a
// tool.
func (l labels) unwrap(value any, depth int) object {
	switch value := value.(type) {
	case object:
		if l.has(value, func(label) bool { return true }) {
			return value
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if o := l.unwrap(value[name], depth+1); o != nil && depth < 3 {
				return o
			}
		}
	case []any:
		one, _ := first(value).(object)
		isRoot := l.has(one, func(is label) bool { return !is.part && !is.opens })
		i := slices.IndexFunc(l.all, func(is label) bool { return is.opens })
		if i >= 0 && !isRoot && l.has(one, func(is label) bool { return is.part }) {
			return object{l.all[i].name: value}
		}
		if len(value) == 1 {
			return l.unwrap(one, depth+1)
		}
	case string:
		p := jsonReader{text: value}
		if p.space() == '{' && depth < 3 {
			inner, _ := p.value(0)
			return l.unwrap(inner, depth+1)
		}
	}
	return nil
}

// has reports whether an object has a field of such a label.
func (l labels) has(o object, such func(label) bool) bool {
	for name := range o {
		if is, ok := l.named(name); ok && such(is) {
			return true
		}
	}
	return false
}

func first(all []any) any {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// fromObject returns the fields of a JSON object.
func (l labels) fromObject(o object) *fields {
	f := newFields()
	for _, name := range slices.Sorted(maps.Keys(o)) {
		is, ok := l.named(name)
		if !ok {
			continue
		}
		texts := textsOf(o[name])
		inner, isObject := o[name].(object)
		list, isList := o[name].([]any)
		switch {
		case is.opens && isList:
			for _, one := range list {
				if o, ok := one.(object); ok {
					f.parts = append(f.parts, l.fromObject(o))
				}
			}
		case is.opens && isObject:
			f.parts = append(f.parts, l.fromObject(inner))
		case is.item && len(texts) == 1 && strings.HasSuffix(name, "s"):
			f.items = append(f.items, inlineOptions(texts[0])...)
		case is.item:
			f.items = append(f.items, texts...)
		case isObject:
			inside := l.fromObject(inner)
			maps.Copy(f.text, inside.text)
			f.items = append(f.items, inside.items...)
		case is.talk:
			words := strings.Fields(strings.Join(texts, " "))
			f.talk.WriteString(name + ": " + strings.Join(words, " ") + "\n\n")
		case is.name == "code":
			f.cells = append(f.cells, texts...)
		default:
			f.add(is.name, strings.Join(texts, "\n"))
		}
	}
	return f
}

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
		numbered := true
		for _, name := range slices.Sorted(maps.Keys(value)) {
			all = append(all, strings.Join(textsOf(value[name]), " "))
			numbered = numbered && (len(name) < 3 || strings.HasPrefix(name, "option"))
		}
		if !numbered {
			slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
			return all[:1]
		}
	}
	return all
}
