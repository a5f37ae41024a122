package ask

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/llm"
	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
	"dsstar/prompts"
)

// The form of a reply is a struct, whose tags are the labels of its fields. A field whose elements are
// structs has the parts of the reply, each of which begins with its first field.

// labels match labels as models write them, where that is not the words alone.
var labels = map[string]string{
	"code":       `(?:(?:last|corrected|python)\s+)?(?:code|cell|python)`,
	"options":    `options?`,
	"point":      `readings?|(?:open\s+)?points?|ambiguity`,
	"reading":    `branch(?:es)?|readings?|(?:open\s+)?points?|ambiguity`,
	"verdict":    `verdict|answer|judge?ment`,
	"warnings":   `warnings?`,
	"wrong step": `(?:wrong|incorrect|faulty|mistaken)\s+step|wrong`,
}

// marks may surround a label: Markdown, quotes, a number, emoji. The others stand around a choice.
const (
	marks  = "(?:[\\s#>*_`\"'({|•✔✗✘\\p{So}\\x{FE0F}\\x{200D}]|[-–—]+\\s|\\d{1,2}[.)]\\s)*"
	before = `(?im)^` + marks +
		`(?:(?:so|thus|overall),?\s+)?(?:(?:it|(?:the|this)\s+plan)\s+is\s+)?(?:the\s+)?`
	behind = "[*_\"'`|)}]*(?:\\s*$|\\s*[.,:;!(。，：；！（]|\\s+[-–—]|\\s+(?:because|since|as|to)\\b)"
)

// choices match the values of fields that have no others. Their groups have the names of the values.
var choices = map[string]func() *regexp.Regexp{
	"verdict": lazy.Regexp(before + `(?:(?<sufficient>enough|sufficient|yes)|(?<unfinished>go\s+on|unfinished)|` +
		`(?<insufficient>(?:step\W{0,4}\d+\W{1,4}is\W{1,4})?wrong|insufficient|` +
		`(?:not|isn['’]t)\s+(?:\w+\s+)?(?:enough|sufficient)|no)|` +
		`(?<inconclusive>no\s+answer|inconclusive|not\s+applicable))` + behind),
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

// A form is what a struct says to the reader of replies.
type form struct {
	own     []string                // the names of fields
	partsOf string                  // of the field that has the parts; "": there are none
	inPart  []string                // of the fields of a part
	types   map[string]reflect.Kind // of the fields
	label   *regexp.Regexp          // a group for each name, then the number and the end
}

// formOf returns the form of a struct without some of its fields.
func formOf[W any](without []string) *form {
	f := &form{types: map[string]reflect.Kind{}}
	f.own = f.fields(reflect.TypeFor[W](), without)
	names := lists.Map(slices.Concat(f.own, f.inPart), func(name string) string {
		return "(" + cmp.Or(labels[name], strings.ReplaceAll(name, " ", `\s+`)) + ")"
	})
	f.label = regexp.MustCompile(`(?i)^` + marks +
		`(?:(?:here\s+is|my|the|final|overall|next|new)[\s_]+)*(?:` + strings.Join(names, "|") +
		`)(?:[\s_#(*-]*(\d{1,2}(?:\.\d{1,2})?)\b)?[*_"'|)\]` + "`" +
		`]*(\s*[:：=|]+|\s+[-–—]+\s+|\s+is\b|[ \t.]*$)`)
	return f
}

// fields returns the names of the fields of a struct, and notes their types and those of the parts.
func (f *form) fields(s reflect.Type, without []string) (names []string) {
	for of := range s.Fields() {
		name := of.Tag.Get("form")
		switch {
		case slices.Contains(without, name):
		case of.Type.Kind() == reflect.Slice && of.Type.Elem().Kind() == reflect.Struct:
			f.partsOf, f.inPart = name, f.fields(of.Type.Elem(), nil)
		default:
			names, f.types[name] = append(names, name), of.Type.Kind()
		}
	}
	return names
}

// reads returns what reads replies in the form W: take makes the value of the form.
func reads[W, T any](take func(form W) (T, error), without ...string) func(string) (T, error) {
	return func(text string) (T, error) {
		var said W
		formOf[W](without).read(text, &said)
		return take(said)
	}
}

// formatOf returns the format of replies in the form W, which words describe.
func formatOf[W, T any](words prompts.Part, take func(W) (T, error), without ...string) Format[T] {
	return Format[T]{Rule: "Reply in the form asked for.", Parse: reads(take, without...),
		Form: prompts.Text(words)}
}

// An Error says that a model's reply could not be read even after the rule was quoted to it. The
// role decides what follows.
type Error struct {
	Role, Subject, Problem string
	Reply                  string // without thoughts
	on                     []any  // what it rests on
}

func (e *Error) Error() string {
	return fmt.Sprintf("the %s's reply for %s could not be used: %s", e.Role, e.Subject, e.Problem)
}

var (
	errNoStep  = errors.New("it gives no step")
	errEmpty   = errors.New("it is empty")
	errCut     = errors.New("it was cut off by the limit on its length")
	errRefusal = errors.New("it is a refusal")
)

// A Format reads the replies of one kind.
type Format[T any] struct {
	Rule  string                       // quoted to the model when its reply cannot be read
	Parse func(text string) (T, error) // reads a reply without its thoughts
	Form  string                       // asked for at the end of the request; "": none
	Lacks func(value T) error          // what is asked for once more, but not insisted on; nil: nothing
}

// Read reads a reply. One that was cut off is not read, however well its beginning reads.
func (f Format[T]) Read(reply llm.Reply) (value T, err error) {
	text := visible(reply.Text)
	switch {
	case reply.Finish == "length":
		return value, errCut
	case reply.Finish == "content_filter":
		return value, errRefusal
	case text == "":
		return value, errEmpty
	}
	if value, err = f.Parse(text); err != nil {
		return *new(T), err
	}
	return value, nil
}

// problem returns why a reply is to be asked for once more, and whether it serves all the same.
func (f Format[T]) problem(reply llm.Reply) (serves bool, why error) {
	value, err := f.Read(reply)
	if err == nil && f.Lacks != nil {
		return true, f.Lacks(value)
	}
	return err == nil, err
}

// AnyText is any text that is whole.
var AnyText = Format[string]{Rule: "Reply again, whole and shorter.",
	Parse: func(text string) (string, error) { return text, nil }}

// visible returns a reply without the thoughts that some models send in tags before it; "" if nothing
// is left but an empty fence.
func visible(reply string) string {
	text := strings.ReplaceAll(strings.TrimPrefix(reply, "\ufeff"), "\r\n", "\n")
	text = ends().ReplaceAllString(withoutThoughts(begins().ReplaceAllString(text, "")), "")
	if strings.Trim(text, "`~ \t\r\n") == "" {
		return ""
	}
	return strings.Trim(strings.TrimRight(text, " \t\n"), "\n")
}

var (
	thinks = lazy.Regexp(`(?i)[<◁](?:seed:)?(?:think|thinking|thoughts?|reasoning|analysis)[>▷]|\[THINK\]|` +
		`<\|(?:begin_of_thought|channel\|>analysis<\|message)\|>`)
	thoughts = lazy.Regexp(`(?i)[<◁]/(?:seed:)?(?:think|thinking|thoughts?|reasoning|analysis)[>▷]|\[/THINK\]|` +
		`<\|(?:end_of_thought|channel\|>final<\|message)\|>`)

	// begins and ends match marks that a server has left in.
	begins = lazy.Regexp(`^(?:\s*(?:<\|(?:im_start|assistant)\|>(?:assistant\b)?|\[/INST\]|` +
		`(?:#+ *)?(?:Response|Assistant|ASSISTANT):))+\s*`)
	ends = lazy.Regexp(`(?:\s*(?:<\|[\w▁]+\|>|<｜[^｜\n]+｜>|</s>|<end_of_turn>|<eos>))+\s*$`)
)

// withoutThoughts removes thoughts at the beginning, also those whose opening tag was not sent.
// Tags after the first words of the reply belong to it.
func withoutThoughts(text string) string {
	open, end := thinks().FindStringIndex(text), thoughts().FindStringIndex(text)
	begins := open != nil && strings.TrimSpace(text[:open[0]]) == ""
	switch {
	case end != nil && (open == nil || begins || end[0] < open[0]):
		return text[end[1]:]
	case begins:
		return "" // nothing but thoughts
	}
	return text
}
