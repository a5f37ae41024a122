package ask

import (
	"cmp"
	"embed"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"dsstar/agent/llm"
	"dsstar/notebook/lazy"
)

// The form of a reply is a struct. Its tags json and jsonschema name and describe what the reply has;
// a field with omitempty may be null. The JSON schema that endpoints are given and the labels of
// replies in text come from it. A field whose elements are structs has the parts of the reply; the
// first field of one begins it.

// labels are regular expressions for the names of fields as models write them, where that is not the
// name alone.
var labels = map[string]string{
	"code":       `(?:(?:last|corrected|python)\s+)?(?:code|cell|python)`,
	"keeps":      `keeps?|kept|steps`,
	"missing":    `missing|problem`,
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

// numbers are those of a line, such as 1, 2.
type numbers []int

// A shape is what a form says to the reader.
type shape struct {
	schema      json.RawMessage
	own, inPart []string              // the names of fields, and of those of parts
	opens       string                // the name that begins a part; "": there are none
	names       []string              // both, each once
	match       func() *regexp.Regexp // a label: a group for each name, then the number and the end
	cells       bool                  // parts have code: blocks are theirs
}

var shapes sync.Map // by key

// shapeOf returns the shape of a form without some of its fields. Shapes are kept by their key.
func shapeOf[W any](key string, without []string) *shape {
	if s, ok := shapes.Load(key); ok {
		return s.(*shape)
	}
	schema, err := jsonschema.For[W](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[numbers](): {Type: "string"}}})
	if err != nil {
		panic(err) // the form is one of this package
	}
	s := &shape{}
	for _, name := range without {
		delete(schema.Properties, name)
	}
	schema.PropertyOrder = slices.DeleteFunc(schema.PropertyOrder, func(name string) bool {
		return schema.Properties[name] == nil
	})
	for _, name := range schema.PropertyOrder {
		if items := schema.Properties[name].Items; items == nil || items.Properties == nil {
			s.own = append(s.own, name)
		} else {
			s.inPart, s.opens = items.PropertyOrder, items.PropertyOrder[0]
			s.cells = items.Properties["code"] != nil
		}
	}
	if slices.Contains(s.own, "verdict") {
		s.own = append(s.own, "missing") // so some name the reason
	}
	s.names = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.inPart, s.own))))
	makeStrict(schema)
	if s.schema, err = json.Marshal(schema); err != nil {
		panic(err)
	}
	s.match = lazy.Regexp(s.expression())
	shapes.Store(key, s)
	return s
}

// makeStrict makes a schema one that strict endpoints take: every property is required, and there are
// no others. Models write the properties in their order.
func makeStrict(s *jsonschema.Schema) {
	for name, property := range s.Properties {
		property.Enum = choices[name]
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

func (s *shape) expression() string {
	var all []string
	for _, name := range s.names {
		all = append(all, "("+cmp.Or(labels[name], strings.ReplaceAll(name, "_", `\s+`))+")")
	}
	return `(?i)^` + marks + `(?:(?:here\s+is|my|the|final|overall|next|new)[\s_]+)*(?:` +
		strings.Join(all, "|") + `)(?:[\s_#(*-]*(\d{1,2}(?:\.\d{1,2})?|[a-d])\b)?[*_"'|)\]` + "`" +
		`]*(\s*[:=|]+|\s+[-–—]+\s+|\s+is\b|[ \t.]*$)`
}

// find returns the name of the label that a line begins with, its number and its value.
func (s *shape) find(line string) (name, number, value string) {
	m := s.match().FindStringSubmatch(line)
	if m == nil {
		return "", "", ""
	}
	for n, one := range s.names {
		if m[n+1] != "" {
			name = one
		}
	}
	number, value = m[len(s.names)+1], strings.TrimSpace(line[len(m[0]):])
	for _, bold := range []string{"**", "__"} {
		if strings.Count(value, bold)%2 == 1 { // the label has the other half
			value = strings.ReplaceAll(value, bold, "")
		}
	}
	return name, number, strings.TrimSpace(strings.Trim(value, "|"))
}

// reads returns what reads replies in the form W: take makes the value of the form, whose texts and
// numbers are set, and of what else the reply says.
func reads[W, T any](key string, take func(W, *said) (T, error), without ...string) func(string) (T, error) {
	return func(text string) (T, error) {
		f, err := shapeOf[W](key, without).read(text)
		if err != nil {
			return *new(T), err
		}
		var form W
		f.into(&form)
		return take(form, f)
	}
}

// formatOf returns the format of replies in the form W. Its words are in the file forms/key.txt, and
// name is that of its schema.
func formatOf[W, T any](name, key, rule string, take func(W, *said) (T, error), without ...string) Format[T] {
	return Format[T]{
		Rule: rule, Parse: reads(key, take, without...), Form: words(key),
		Schema: &llm.Schema{Name: name, JSON: shapeOf[W](key, without).schema},
	}
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
