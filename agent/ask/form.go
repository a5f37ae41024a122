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

// What may stand in a line before a choice, and behind it.
const (
	before = `(?im)^` + marks + `(?:(?:so|thus|overall),?\s+)?(?:(?:it|(?:the|this)\s+plan)\s+is\s+)?(?:the\s+)?`
	behind = "[*_\"'`|)}]*(?:\\s*$|\\s*[.,:;!(]|\\s+[-–—]|\\s+(?:because|since|as|to)\\b)"
)

// choices match the values of fields that have no others, as models write them. The names of the
// groups are the values.
var choices = map[string]func() *regexp.Regexp{
	"verdict": lazy.Regexp(before + `(?:(?<sufficient>sufficient|yes)|(?<unfinished>unfinished)|` +
		`(?<insufficient>insufficient|(?:not|isn['’]t)\s+(?:\w+\s+)?sufficient|no)|` +
		`(?<inconclusive>inconclusive|not\s+applicable))` + behind),
	"ruling": lazy.Regexp(before + `(?:(?<same>same)|(?<first>first)|(?<second>second)|` +
		`(?<reading>reading)|(?<undecided>undecided))` + behind),
}

// chosenIn returns which choice of a field the lines of a text make, and what follows it.
func chosenIn(name, text string) (value, rest string, err error) {
	err = fmt.Errorf("it gives no %s", name)
	for _, m := range choices[name]().FindAllStringSubmatchIndex(text, -1) {
		n := slices.IndexFunc(m[2:], func(at int) bool { return at >= 0 })/2 + 1
		switch choice := choices[name]().SubexpNames()[n]; {
		case err != nil:
			value, rest, err = choice, strings.TrimLeft(text[m[2*n+1]:], " .,:;!-–—*_`\"')}\n"), nil
		case value != choice:
			return "", "", fmt.Errorf("it gives two %ss", name)
		}
	}
	return value, paragraph(rest), err
}

// A form is what a struct says to endpoints and to the reader of replies.
type form struct {
	schema  json.RawMessage
	own     []string // the names of fields
	partsOf string   // of the field that has the parts; "": there are none
	inPart  []string // of the fields of a part
	kinds   map[string]reflect.Kind
	label   func() *regexp.Regexp // a group for each name, then the number and the end
}

var known sync.Map // the forms so far

// formOf returns the form of a struct without some of its fields.
func formOf[W any](without []string) *form {
	key := [2]any{reflect.TypeFor[W](), fmt.Sprint(without)}
	if f, ok := known.Load(key); ok {
		return f.(*form)
	}
	fields := slices.Collect(reflect.TypeFor[W]().Fields())
	of := reflect.StructOf(slices.DeleteFunc(fields, func(f reflect.StructField) bool {
		return slices.Contains(without, nameOf(f))
	}))
	f := &form{kinds: map[string]reflect.Kind{}}
	f.own = f.names(of)
	schema, err := jsonschema.ForType(of, nil)
	if err == nil {
		makeStrict(schema)
		f.schema, err = json.Marshal(schema)
	}
	if err != nil {
		panic(err) // the form is one of this package
	}
	f.label = lazy.Regexp(f.expression())
	known.Store(key, f)
	return f
}

// names returns the names of a struct's fields, and notes those of its parts.
func (f *form) names(of reflect.Type) (names []string) {
	for field := range of.Fields() {
		name, kind := nameOf(field), field.Type.Kind()
		if kind == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct {
			f.partsOf, f.inPart = name, f.names(field.Type.Elem())
			continue
		}
		names, f.kinds[name] = append(names, name), kind
	}
	return names
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// makeStrict makes a schema one that strict endpoints take: every property is required, and there
// are no others. Models write the properties in their order.
func makeStrict(s *jsonschema.Schema) {
	for name, property := range s.Properties {
		if choices[name] != nil {
			for _, value := range choices[name]().SubexpNames()[1:] {
				property.Enum = append(property.Enum, value)
			}
		}
		if property.Items != nil {
			property.Type, property.Types = "array", nil // not null
			makeStrict(property.Items)
		}
		if !slices.Contains(s.Required, name) {
			property.Type, property.Types = "", []string{property.Type, "null"}
		}
	}
	s.Required = s.PropertyOrder
}

// marks may surround a label: Markdown, quotes, a number, emoji.
const marks = "(?:[\\s#>*_`\"'({|•✔✗✘\\p{So}\\x{FE0F}\\x{200D}]|[-–—]+\\s|\\d{1,2}[.)]\\s)*"

func (f *form) expression() string {
	var all []string
	for _, name := range slices.Concat(f.own, f.inPart) {
		all = append(all, "("+cmp.Or(labels[name], strings.ReplaceAll(name, "_", `\s+`))+")")
	}
	return `(?i)^` + marks + `(?:(?:here\s+is|my|the|final|overall|next|new)[\s_]+)*(?:` +
		strings.Join(all, "|") + `)(?:[\s_#(*-]*(\d{1,2}(?:\.\d{1,2})?)\b)?[*_"'|)\]` + "`" +
		`]*(\s*[:=|]+|\s+[-–—]+\s+|\s+is\b|[ \t.]*$)`
}

// reads returns what reads replies in the form W: take makes the value of the form.
func reads[W, T any](take func(form W) (T, error), without ...string) func(string) (T, error) {
	return func(text string) (T, error) {
		var said W
		if err := formOf[W](without).read(text, &said); err != nil {
			return *new(T), err
		}
		return take(said)
	}
}

// formatOf returns the format of replies in the form W, whose words are in the file forms/key.txt.
func formatOf[W, T any](key, rule string, take func(W) (T, error), without ...string) Format[T] {
	return Format[T]{Rule: rule, Parse: reads(take, without...), Form: words(key),
		Schema: &llm.Schema{Name: key, JSON: formOf[W](without).schema}}
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
