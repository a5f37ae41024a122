package ask

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/lazy"
)

// An entry is a labelled line with those that go on from it, a code block, or a line without a label.
type entry struct {
	name   string // of the field; "": none
	text   string
	block  *piece
	begins bool // a part
}

// said is what a reply, or a part of it, says by the names of its form.
type said struct {
	whole  string            // the text of the reply; "": it is JSON
	text   map[string]string // of fields: one that occurs again adds a line; "": what has no label
	again  map[string]bool   // it did so with another text
	items  []string          // the options
	bare   string            // the code, if it is no block
	blocks []piece
	lead   string // what has no label, before the first code
	parts  []*said
}

// read reads a reply: a JSON object with one of the fields, or else labelled lines and code. A part is
// what follows its first field; in a form whose parts have code nothing follows them.
func (s *shape) read(text string) (*said, error) {
	labelled, err := s.fromJSON(text)
	f := &said{}
	if labelled == "" {
		f.whole, labelled = text, text
	}
	var part *said
	for _, e := range s.lines(labelled) {
		switch {
		case e.begins && (part == nil || part.text[s.opens] != "" || e.text == "" && part.goesOn()):
			part = &said{}
			f.parts = append(f.parts, part)
			part.add(e)
		case part != nil && slices.Contains(s.inPart, e.name):
			part.add(e)
		case part == nil || !s.cells:
			f.add(e)
			if e.name != "" && e.block == nil {
				part = nil
			}
		}
	}
	return f, err
}

// goesOn reports whether a part has more than its first field.
func (f *said) goesOn() bool { return len(f.text)+len(f.items)+len(f.blocks) > 1 }

// longestField is how much of a field is kept. The rest is talk, or a copying error.
const longestField = 4000

func (f *said) add(e entry) {
	if e.name == "code" && len(f.blocks) == 0 && f.bare == "" {
		f.lead = f.text[""]
	}
	text := brief.Clip(strings.TrimSpace(e.text), longestField)
	before := f.text[e.name]
	switch {
	case e.block != nil:
		f.blocks = append(f.blocks, *e.block)
	case e.name == "code":
		f.bare += e.text + "\n"
	case e.name == "options":
		f.items = append(f.items, text)
	case f.text == nil:
		f.text, f.again = map[string]string{e.name: text}, map[string]bool{}
	case before == "":
		f.text[e.name] = text
	case text != "" && !strings.EqualFold(before, text):
		f.text[e.name], f.again[e.name] = before+"\n"+text, true
	}
}

var (
	optionItem = lazy.Regexp(`(?i)^[ \t]*(?:[-*•]|\(?(?:\d{1,2}|[a-d])[.)])[ \t]+`)
	branchLine = lazy.Regexp(`(?i)^` + marks + `branch`)
	between    = lazy.Regexp(`(?i)\s*(?:;|\s[/|]\s|\s+vs\.?\s|(?:^|\s)\(?[1-9a-d][.)]\s)\s*`)
)

// lines reads labelled lines and code blocks.
func (s *shape) lines(text string) (all []entry) {
	goesOn, lists := false, false // the last entry, in the next line; numbered or marked lines are options
	for _, p := range pieces(text) {
		if p.fence.isOpen() {
			all = append(all, entry{name: "code", block: &p})
			goesOn, lists = false, false
			continue
		}
		for line := range strings.Lines(p.text) {
			line = strings.TrimRight(line, "\n")
			name, number, value := s.find(line)
			item := optionItem().FindString(line)
			last := len(all) - 1
			switch {
			case goesOn && all[last].name == "code" && (name == "" || name != s.opens):
				all[last].text += "\n" + line
			case name != "":
				goesOn, lists = name != "options", name == "options" || name == s.opens
				all = append(all, s.entries(line, name, number, value)...)
			case strings.Trim(line, "|:- \t") == "": // also below the head of a table
				goesOn = goesOn && all[last].text == ""
			case lists && item != "":
				all = append(all, entry{name: "options", text: line[len(item):]})
				goesOn = false
			case !goesOn:
				all = append(all, entry{text: line})
			case len(all[last].text) < longestField:
				all[last].text += "\n" + line
			}
		}
	}
	return all
}

// entries returns what a label and its value say. Options without a number may stand in one line. A
// reading begins no branch where the reply has code of its own, as a judgement has.
func (s *shape) entries(line, name, number, value string) (all []entry) {
	e := entry{name: name, text: value}
	e.begins = name == s.opens && (!s.cells || len(s.own) == 0 || branchLine().MatchString(line))
	switch {
	case name == "options" && number == "":
		for _, one := range between().Split(value, -1) {
			if one != "" {
				all = append(all, entry{name: name, text: one})
			}
		}
		return all
	case value == "" || s.cells && e.begins:
		e.text = strings.TrimSpace(number + " " + value)
	}
	return []entry{e}
}

// line returns a field as one paragraph; "" if it says that there is nothing.
func (f *said) line(name string) string {
	text := paragraph(f.text[name])
	if isNothing(text) {
		return ""
	}
	return text
}

func paragraph(text string) string {
	text = strings.TrimPrefix(brief.OneLine(text), "- ")
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
	isYes    = lazy.Regexp(`(?i)^\W*(?:yes|true|settled)\b`)
)

// numbers returns the numbers that a field names, in digits or in words; nil if the reply does not
// have it.
func (f *said) numbers(name string) numbers {
	text, has := f.text[name]
	if !has {
		return nil
	}
	all := numbers{}
	for _, found := range numberIn().FindAllString(ofAll().ReplaceAllString(text, ""), -1) {
		n, err := strconv.Atoi(found)
		if err != nil {
			n = 1 + slices.Index(strings.Split(numeral, "|"), strings.ToLower(found))
		}
		all = append(all, n)
	}
	return all
}

// into sets the fields of a form, given its address, that are texts, numbers, lists of them, or yes or
// no.
func (f *said) into(form any) {
	v := reflect.ValueOf(form).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch field := v.Field(i).Addr().Interface().(type) {
		case *string:
			*field = f.line(name)
		case *int:
			if all := f.numbers(name); len(all) > 0 {
				*field = all[0]
			}
		case *numbers:
			*field = f.numbers(name)
		case *[]string:
			*field = f.options()
		case *bool:
			*field = isYes().MatchString(f.text[name])
		}
	}
}
