package configs

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A field is a setting, as a field of [Settings], of its Method or of a table.
type field struct {
	reflect.StructField
	key   string // for instance method::paper
	class string // what a project's file may do with it: see cannot
}

// fields are all settings, in the order of the structs.
var fields = sync.OnceValue(func() (all []field) {
	for f := range reflect.TypeFor[Settings]().Fields() {
		switch key := f.Tag.Get("key"); {
		case f.Type == reflect.TypeFor[Method]():
			for inner := range f.Type.Fields() {
				inner.Index = slices.Concat(f.Index, inner.Index)
				all = append(all, field{inner, key + separator + inner.Tag.Get("key"), inner.Tag.Get("project")})
			}
		case key != "" && key != "-":
			all = append(all, field{f, key, f.Tag.Get("project")})
		}
	}
	return all
})

// fieldOf returns the setting with a key, which may be in a table, and whether there is one.
func fieldOf(key string) (field, bool) {
	part := strings.Split(key, separator)
	for _, f := range fields() {
		switch {
		case f.key == key:
			return f, true
		case f.key != part[0] || f.Type.Kind() != reflect.Map:
		case len(part) == 2: // a model of a role, or what should be a table
			f.Type, f.key = f.Type.Elem(), key
			_, known := defaults()[key]
			return f, known || f.Type.Kind() == reflect.Struct
		case len(part) == 3 && f.Type.Elem().Kind() == reflect.Struct:
			for inner := range f.Type.Elem().Fields() {
				if inner.Tag.Get("key") == part[2] {
					return field{inner, key, f.class}, true
				}
			}
		}
	}
	return field{}, false
}

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
		key := display(f.key)
		name := strings.ReplaceAll(strings.TrimPrefix(key, "method."), "_", "-")
		flag := FlagInfo{Key: key, Name: name, Letter: f.Tag.Get("letter"), Help: help[key],
			Group: f.Tag.Get("flag"), Type: f.Type}
		if is := f.Tag.Get("is"); f.Type.Kind() == reflect.String && strings.Contains(is, " or ") {
			flag.Words = alternatives.Split(is, -1)
		}
		value := defaults()[f.key].Text()
		switch off := f.Tag.Get("off"); {
		case off != "":
			flag.Name, flag.Help, flag.Group, flag.Off = "no-"+name, "do not "+help[key], off, true
		case f.key == "models":
			flag.Name = "role-model"
		case !slices.Contains([]string{"null", `""`, "0", "0s", "[]", "false"}, value):
			flag.Help += " (default " + value + ")"
		}
		if flag.Group != "" {
			all = append(all, flag)
		}
	}
	return all
})

var documented = regexp.MustCompile(`((?:(?m:^) *#.*\n)*)(?m:^)( *)([a-z_]+):`)

// firstSentences returns the first sentence of the comment above each key of a YAML file, without its
// capital and full stop.
func firstSentences(yaml string) map[string]string {
	all, table := map[string]string{}, ""
	for _, m := range documented.FindAllStringSubmatch(yaml, -1) {
		key := table + m[3]
		if m[2] == "" {
			key, table = m[3], m[3]+"."
		}
		words := strings.Join(strings.Fields(strings.ReplaceAll(m[1], "#", "")), " ")
		sentence, _, _ := strings.Cut(words+" ", ". ")
		sentence = strings.TrimRight(strings.ReplaceAll(sentence, " (yours)", ""), ". ")
		if len(sentence) > 1 && !unicode.IsUpper(rune(sentence[1])) {
			sentence = strings.ToLower(sentence[:1]) + sentence[1:]
		}
		all[key] = sentence
	}
	return all
}
