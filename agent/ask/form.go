package ask

import (
	"cmp"
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
	"dsstar/prompts"
)

// The form of a reply is a struct. Its tags name and describe the fields; one with omitempty may be
// null. The JSON schema for endpoints and the labels of replies in text come from it. A field whose
// elements are structs has the parts of the reply, each of which begins with its first field.

// labels match the names of fields as models write them, where that is not the name alone.
var labels = map[string]string{
	"code":       `(?:(?:last|corrected|python)\s+)?(?:code|cell|python)`,
	"options":    `options?`,
	"point":      `readings?|(?:open\s+)?points?|ambiguity`,
	"reading":    `branch(?:es)?|readings?|(?:open\s+)?points?|ambiguity`,
	"verdict":    `verdict|answer|judge?ment`,
	"wrong_step": `(?:wrong|incorrect|faulty|mistaken)\s+step|wrong`,
}

// marks may surround a label: Markdown, quotes, a number, emoji. The others stand around a choice.
const (
	marks  = "(?:[\\s#>*_`\"'({|•✔✗✘\\p{So}\\x{FE0F}\\x{200D}]|[-–—]+\\s|\\d{1,2}[.)]\\s)*"
	before = `(?im)^` + marks +
		`(?:(?:so|thus|overall),?\s+)?(?:(?:it|(?:the|this)\s+plan)\s+is\s+)?(?:the\s+)?`
	behind = "[*_\"'`|)}]*(?:\\s*$|\\s*[.,:;!(]|\\s+[-–—]|\\s+(?:because|since|as|to)\\b)"
)

// choices match the values of fields that have no others. Their groups have the names of the values.
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
			value, err = choice, nil
			rest = strings.TrimLeft(text[m[2*n+1]:], " .,:;!-–—*_`\"')}\n")
		case value != choice:
			return "", "", fmt.Errorf("it gives two %ss", name)
		}
	}
	return value, paragraph(rest), err
}

// A form is what a struct says to endpoints and to the reader of replies.
type form struct {
	schema  json.RawMessage
	own     []string          // the names of fields
	partsOf string            // of the field that has the parts; "": there are none
	inPart  []string          // of the fields of a part
	types   map[string]string // of the fields, as the schema names them
	label   *regexp.Regexp    // a group for each name, then the number and the end
}

// known has the forms so far: to make one takes a millisecond.
var known sync.Map

// formOf returns the form of a struct without some of its fields.
func formOf[W any](without []string) *form {
	key := fmt.Sprint(reflect.TypeFor[W](), without)
	if f, ok := known.Load(key); ok {
		return f.(*form)
	}
	f := &form{types: map[string]string{}}
	schema, err := jsonschema.For[W](nil)
	if err != nil {
		panic(err) // the form is one of this package
	}
	for _, name := range without {
		delete(schema.Properties, name)
	}
	f.own = f.strict(schema)
	f.schema, _ = json.Marshal(schema)
	var names []string
	for _, name := range slices.Concat(f.own, f.inPart) {
		names = append(names, "("+cmp.Or(labels[name], strings.ReplaceAll(name, "_", `\s+`))+")")
	}
	f.label = regexp.MustCompile(`(?i)^` + marks +
		`(?:(?:here\s+is|my|the|final|overall|next|new)[\s_]+)*(?:` + strings.Join(names, "|") +
		`)(?:[\s_#(*-]*(\d{1,2}(?:\.\d{1,2})?)\b)?[*_"'|)\]` + "`" +
		`]*(\s*[:=|]+|\s+[-–—]+\s+|\s+is\b|[ \t.]*$)`)
	known.Store(key, f)
	return f
}

// strict makes a schema one that strict endpoints take, where every property is required, and there
// are no others. It returns the names of its fields, and notes their types and those of the parts.
func (f *form) strict(s *jsonschema.Schema) (names []string) {
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool {
		return s.Properties[name] == nil
	})
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		if choices[name] != nil {
			for _, value := range choices[name]().SubexpNames()[1:] {
				p.Enum = append(p.Enum, value)
			}
		}
		if p.Items != nil {
			p.Type, p.Types = "array", nil // not null
		}
		if p.Items != nil && p.Items.Type == "object" {
			f.partsOf, f.inPart = name, f.strict(p.Items)
		} else {
			names, f.types[name] = append(names, name), p.Type
		}
		if !slices.Contains(s.Required, name) {
			p.Type, p.Types = "", []string{p.Type, "null"}
		}
	}
	s.Required = s.PropertyOrder // models write them in this order
	return names
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

// formatOf returns the format of replies in the form W, in words for endpoints without schemas.
func formatOf[W, T any](name string, words prompts.Part, take func(W) (T, error),
	without ...string) Format[T] {
	return Format[T]{Rule: "Reply in the form asked for.", Parse: reads(take, without...),
		Form:   prompts.Text(words),
		Schema: &llm.Schema{Name: name, JSON: formOf[W](without).schema}}
}
