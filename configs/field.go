package configs

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-viper/mapstructure/v2"
)

// A field is a setting, as a field of [Settings] or of its Method.
type field struct {
	reflect.StructField
	key string // for instance method.paper
}

// fields are all settings, in the order of the structs.
var fields = sync.OnceValue(func() (all []field) {
	for f := range reflect.TypeFor[Settings]().Fields() {
		switch key := f.Tag.Get("key"); {
		case f.Type == reflect.TypeFor[Method]():
			for inner := range f.Type.Fields() {
				inner.Index = slices.Concat(f.Index, inner.Index)
				all = append(all, field{inner, key + "." + inner.Tag.Get("key")})
			}
		case key != "" && key != "-":
			all = append(all, field{f, key})
		}
	}
	return all
})

// fieldOf returns the setting with a key; the zero field if it is in a table, such as models.coder.
func fieldOf(key string) field {
	for _, f := range fields() {
		if f.key == key {
			return f
		}
	}
	return field{}
}

// of returns the value of a setting.
func (f field) of(s *Settings) reflect.Value {
	return reflect.ValueOf(s).Elem().FieldByIndex(f.Index)
}

// A FlagInfo describes the flag of a setting.
type FlagInfo struct {
	Key, Name, Letter, Help string

	Group string   // the title under which help lists it
	Off   bool     // it sets the key to false
	Words []string // what it may be; nil: not one of some words
	Type  reflect.Type
}

// Flags describes the flags of all settings. Their help is what default.yaml says first of the key.
var Flags = sync.OnceValue(func() (all []FlagInfo) {
	help := firstSentences(string(DefaultYAML))
	for _, f := range fields() {
		name := strings.ReplaceAll(strings.TrimPrefix(f.key, "method."), "_", "-")
		flag := FlagInfo{Key: f.key, Name: name, Letter: f.Tag.Get("letter"), Help: help[f.key],
			Group: f.Tag.Get("flag"), Type: f.Type}
		if is := f.Tag.Get("is"); f.Type.Kind() == reflect.String && strings.Contains(is, "|") {
			flag.Words = strings.Split(is, "|")
		}
		value := Entry{Value: defaults()[strings.ReplaceAll(f.key, ".", separator)].value}.Text()
		switch off := f.Tag.Get("off"); {
		case off != "":
			flag.Name, flag.Help, flag.Group, flag.Off = "no-"+name, "do not "+help[f.key], off, true
		case f.key == "models":
			flag.Name = "role-model"
		case !slices.Contains([]string{"null", `""`, "0", "0s", "[]", "false"}, value):
			flag.Help += " (default " + value + ")"
		}
		if flag.Group != "" {
			all = append(all, flag)
		}
	}
	return append(all, FlagInfo{Key: "models.second", Name: "second", Group: "Model",
		Help: "another model for the second derivation: model=provider/name",
		Type: reflect.TypeFor[string]()})
})

// Excludes are the flags of settings of which only one can be given.
var Excludes = [][]string{{"second", "no-second"}}

// firstSentences returns the first sentence of the comment above each key of a YAML file, without its
// capital and full stop.
func firstSentences(yaml string) map[string]string {
	all, above, table := map[string]string{}, "", ""
	for line := range strings.Lines(yaml) {
		text := strings.TrimSpace(line)
		if comment, ok := strings.CutPrefix(text, "#"); ok {
			above += comment
			continue
		}
		if key, _, ok := strings.Cut(text, ":"); ok {
			if line[0] != ' ' {
				table = ""
			}
			sentence, _, _ := strings.Cut(strings.TrimSpace(above)+" ", ". ")
			sentence = strings.TrimRight(strings.ReplaceAll(sentence, " (yours)", ""), ". ")
			if len(sentence) > 1 && !unicode.IsUpper(rune(sentence[1])) {
				sentence = strings.ToLower(sentence[:1]) + sentence[1:]
			}
			if all[table+key] = sentence; line[0] != ' ' {
				table = key + "."
			}
		}
		above = ""
	}
	return all
}

// fits reports whether a value is as the tag is of its field says: alternatives, between bars, which
// are words, ranges, or names of a form of text. What has no value fits.
func fits(v reflect.Value, is string) bool {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return true
		}
		v = v.Elem()
	}
	switch is {
	case "URL":
		return v.String() == "" || isWebURL(v.String())
	case "NAMES":
		return !slices.ContainsFunc(v.Interface().([]string), isNoVariable)
	}
	for one := range strings.SplitSeq(is, "|") {
		low, high, isRange := strings.Cut(one, "..")
		if v.Kind() == reflect.String || one == "null" {
			if one == v.String() {
				return true
			}
			continue
		}
		least := bound(low, v.Type())
		most := least
		if isRange {
			most = math.MaxFloat64
		}
		if high != "" {
			most = bound(high, v.Type())
		}
		if n := number(v); n >= least && n <= most {
			return true
		}
	}
	return false
}

// bound is a number in a tag is, as the setting has it.
func bound(text string, t reflect.Type) float64 {
	v := reflect.New(t)
	config := mapstructure.DecoderConfig{Result: v.Interface()}
	decoder(true)(&config)
	d, err := mapstructure.NewDecoder(&config)
	if err == nil {
		err = d.Decode(text)
	}
	if err != nil {
		panic(err) // the tags are of this package
	}
	return number(v.Elem())
}

func number(v reflect.Value) float64 { return v.Convert(reflect.TypeFor[float64]()).Float() }

// inWords says what a tag is allows.
func inWords(is string) string {
	switch is {
	case "URL":
		return "a URL that begins with http:// or https://"
	case "NAMES":
		return "names of variables"
	}
	parts := strings.Split(strings.ReplaceAll(is, "..", " to "), "|")
	last := len(parts) - 1
	if low, ok := strings.CutSuffix(parts[last], " to "); ok {
		parts[last] = low + " or more"
	}
	return strings.TrimPrefix(strings.Join(parts[:last], ", ")+" or "+parts[last], " or ")
}
