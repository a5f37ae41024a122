package ask

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"dsstar/agent/llm"
	"dsstar/notebook/lazy"
)

// The form of a reply is a struct. Its tags json and jsonschema name and describe what the reply
// has; a field with omitempty may be null. The JSON schema that endpoints are given and the labels
// of replies in text come from it. A field whose elements are structs has the parts of the reply;
// the first field of one begins it.

// labels are regular expressions for the names of fields as models write them, where that is not
// the name alone.
var labels = map[string]string{
	"code":       `(?:(?:last|corrected|python)\s+)?(?:code|cell|python)`,
	"keeps":      `keeps?|kept|steps`,
	"options":    `options?`,
	"point":      `readings?|(?:open\s+)?points?|ambiguity`,
	"reading":    `branch(?:es)?|readings?|(?:open\s+)?points?|ambiguity`,
	"reason":     `reason|explanation|mistake`,
	"ruling":     `ruling|decision|verdict`,
	"step":       `steps?`,
	"taken":      `taken|chosen|choice|takes|selected`,
	"verdict":    `verdict|answer|judge?ment`,
	"wrong_step": `(?:wrong|incorrect|faulty|mistaken)\s+step|wrong`,
}

// choices are the values of fields that have no others.
var choices = map[string][]any{
	"verdict": {"sufficient", "unfinished", "insufficient", "inconclusive"},
	"ruling":  {"same", "first", "second", "reading", "undecided"},
}

// What may stand in a line before a choice, and behind it.
const (
	before = `(?im)^` + marks + `(?:(?:so|thus|overall),?\s+)?(?:(?:it|(?:the|this)\s+plan)\s+is\s+)?(?:the\s+)?`
	behind = "[*_\"'`|)}]*(?:\\s*$|\\s*[.,:;!(]|\\s+[-–—]|\\s+(?:because|since|as|to)\\b)"
)

// chosen matches the choices of a field, in their order, as models write them.
var chosen = map[string]func() *regexp.Regexp{
	"verdict": lazy.Regexp(before + `(?:(sufficient|yes)|(unfinished)|` +
		`(insufficient|(?:not|isn['’]t)\s+(?:\w+\s+)?sufficient|no)|(inconclusive|not\s+applicable))` + behind),
	"ruling": lazy.Regexp(before + `(?:(same)|(first)|(second)|(reading)|(undecided))` + behind),
}

// chosenIn returns which choice of a field the lines of a text make, and what follows it.
func chosenIn(name, text string) (value, rest string, err error) {
	err = fmt.Errorf("it gives no %s", name)
	for _, m := range chosen[name]().FindAllStringSubmatchIndex(text, -1) {
		n := slices.IndexFunc(m[2:], func(at int) bool { return at >= 0 }) / 2
		switch choice := choices[name][n].(string); {
		case err != nil:
			value, rest, err = choice, strings.TrimLeft(text[m[2*n+3]:], " .,:;!-–—*_`\"')}\n"), nil
		case value != choice:
			return "", "", fmt.Errorf("it gives two %ss", name)
		}
	}
	return value, paragraph(rest), err
}

// A shape is what a form says to the reader.
type shape struct {
	schema      json.RawMessage
	own, inPart []string              // the names of fields, and of those of parts
	partsOf     string                // the field that has the parts
	opens       string                // the name that begins a part; "": there are none
	numeric     map[string]bool       // fields whose value may be the number of their label
	names       []string              // both
	match       func() *regexp.Regexp // a label: a group for each name, then the number and the end
}

var shapes sync.Map // by key

// shapeOf returns the shape of a form without some of its fields. Shapes are kept by their key.
func shapeOf[W any](key string, without []string) *shape {
	if s, ok := shapes.Load(key); ok {
		return s.(*shape)
	}
	s := &shape{numeric: map[string]bool{}}
	schema, err := jsonschema.For[W](nil)
	if err == nil {
		makeStrict(schema, without)
		s.schema, err = json.Marshal(schema)
	}
	if err != nil {
		panic(err) // the form is one of this package
	}
	s.own = s.fields(reflect.TypeFor[W](), without)
	s.names = slices.Concat(s.own, s.inPart)
	s.match = lazy.Regexp(s.expression())
	shapes.Store(key, s)
	return s
}

// fields returns the names of a struct's fields, and notes those of its parts.
func (s *shape) fields(of reflect.Type, without []string) (names []string) {
	for f := range of.Fields() {
		switch name := nameOf(f); {
		case slices.Contains(without, name):
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			s.inPart, s.partsOf = s.fields(f.Type.Elem(), nil), name
			s.opens = s.inPart[0]
		default:
			names = append(names, name)
			s.numeric[name] = f.Type.Kind() == reflect.Int
		}
	}
	return names
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// makeStrict makes a schema one that strict endpoints take: every property is required, and there
// are no others. Models write the properties in their order.
func makeStrict(s *jsonschema.Schema, without []string) {
	for _, name := range without {
		delete(s.Properties, name)
	}
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool {
		return s.Properties[name] == nil
	})
	for name, property := range s.Properties {
		property.Enum = choices[name]
		if property.Items != nil {
			property.Type, property.Types = "array", nil // not null
			makeStrict(property.Items, nil)
		}
		if !slices.Contains(s.Required, name) {
			property.Type, property.Types = "", []string{property.Type, "null"}
		}
	}
	s.Required = s.PropertyOrder
}

// marks may surround a label: Markdown, quotes, a number, emoji.
const marks = "(?:[\\s#>*_`\"'({|•✔✗✘\\p{So}\\x{FE0F}\\x{200D}]|[-–—]+\\s|\\d{1,2}[.)]\\s)*"

func (s *shape) expression() string {
	var all []string
	for _, name := range s.names {
		all = append(all, "("+cmp.Or(labels[name], strings.ReplaceAll(name, "_", `\s+`))+")")
	}
	return `(?i)^` + marks + `(?:(?:here\s+is|my|the|final|overall|next|new)[\s_]+)*(?:` +
		strings.Join(all, "|") + `)(?:[\s_#(*-]*(\d{1,2}(?:\.\d{1,2})?)\b)?[*_"'|)\]` + "`" +
		`]*(\s*[:=|]+|\s+[-–—]+\s+|\s+is\b|[ \t.]*$)`
}

// labelled returns the field that a line begins with; nil if there is none. A number such as that
// of Branch 1.2 is two fields.
func (s *shape) labelled(line string) []entry {
	m := s.match().FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	name := s.names[slices.IndexFunc(m[1:], func(group string) bool { return group != "" })]
	number, second, dotted := strings.Cut(m[len(s.names)+1], ".")
	value := strings.TrimRight(strings.TrimLeft(line[len(m[0]):], "*_ "), "| ")
	if strings.HasSuffix(value, "**") && strings.Count(value, "**")%2 == 1 {
		value = strings.TrimSuffix(value, "**") // the label has the other half
	}
	if s.numeric[name] {
		value = strings.TrimSpace(number + " " + value)
	}
	if dotted && name == s.opens {
		return []entry{{name: name, text: value}, {name: s.inPart[1], text: second}}
	}
	return []entry{{name: name, text: value}}
}

// reads returns what reads replies in the form W: take makes the value of the form, and is told why
// there is no code.
func reads[W, T any](key string, take func(form W, noCode error) (T, error),
	without ...string) func(string) (T, error) {
	return func(text string) (T, error) {
		var form W
		noCode, err := shapeOf[W](key, without).read(text, &form)
		if err != nil {
			return *new(T), err
		}
		return take(form, noCode)
	}
}

// formatOf returns the format of replies in the form W. Its words are in the file forms/key.txt,
// and name is that of its schema.
func formatOf[W, T any](name, key, rule string, take func(W, error) (T, error),
	without ...string) Format[T] {
	return Format[T]{Rule: rule, Parse: reads(key, take, without...), Form: words(key),
		Schema: &llm.Schema{Name: name, JSON: shapeOf[W](key, without).schema}}
}

// forms has the forms of replies in words.
//
//go:embed forms
var forms embed.FS

func words(key string) string {
	text, err := forms.ReadFile("forms/" + key + ".txt")
	if err != nil {
		panic(err) // it is embedded
	}
	return strings.TrimSuffix(string(text), "\n")
}
