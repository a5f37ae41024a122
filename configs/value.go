package configs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"dsstar/notebook/lists"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// decode returns the settings that a layer has, whose values are checked.
func decode(won layer) (*Settings, error) {
	v := viper.NewWithOptions(viper.KeyDelimiter(separator))
	for key, set := range won {
		v.Set(key, set.Value)
	}
	s := &Settings{}
	err := v.Unmarshal(s, viper.DecodeHook(convert),
		func(c *mapstructure.DecoderConfig) { c.TagName = "key" })
	for name, p := range s.Prices {
		if _, ok := won["prices"+separator+name+separator+"cached"]; !ok {
			p.Cached = p.Input
			s.Prices[name] = p
		}
	}
	return s, err
}

// check reports a value that is not of the field's type, or not what its tag is allows.
func (f field) check(set Entry) error {
	v := reflect.New(f.Type)
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: v.Interface(),
		DecodeHook: convert})
	if err == nil {
		err = d.Decode(set.Value)
	}
	is := f.Tag.Get("is")
	should := cmp.Or(forms[is], is)
	switch {
	case err == nil && (is == "" || fits(v.Elem(), is)):
		return nil
	case is == "NAMES": // the value may be a key
		return fmt.Errorf("%s: %s: should be %s", set.Source, set.Key, should)
	case err != nil:
		should = kindName(f.Type)
	}
	return fmt.Errorf("%s: %s: is %s, should be %s", set.Source, set.Key, show(set.Value), should)
}

// convert converts what a file, a variable or a flag has to a type. A duration and an amount need
// their units.
func convert(_, to reflect.Type, value any) (any, error) {
	text := fmt.Sprint(value)
	switch {
	case to == reflect.TypeFor[time.Duration]():
		return time.ParseDuration(text)
	case to == reflect.TypeFor[Bytes]():
		return amount(text)
	case to.Kind() == reflect.Int:
		return strconv.Atoi(text)
	case to.Kind() == reflect.Float64:
		return strconv.ParseFloat(text, 64)
	case to.Kind() == reflect.Bool:
		return strconv.ParseBool(text)
	}
	if _, isText := value.(string); isText && to.Kind() == reflect.Slice {
		items := lists.Map(strings.Split(text, ","), strings.TrimSpace)
		return slices.DeleteFunc(items, func(item string) bool { return item == "" }), nil
	}
	return value, nil
}

var amountOf = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)?) *([kmgt])(i?)b?$`)

func amount(text string) (Bytes, error) {
	if text == "0" {
		return 0, nil
	}
	m := amountOf.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, errors.New("no amount")
	}
	n, err := strconv.ParseFloat(m[1], 64)
	base := 1000.0
	if m[3] != "" {
		base = 1024
	}
	n *= math.Pow(base, float64(1+strings.Index("kmgt", strings.ToLower(m[2]))))
	if n >= math.MaxInt64 {
		return 0, errors.New("too much")
	}
	return Bytes(n), err
}

// kindName says in words what values of a type are.
func kindName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "a duration with its unit: 90s, 5m or 1h30m"
	case reflect.TypeFor[Bytes]():
		return "an amount of memory with its unit: 500MB, 4GB or 4GiB"
	}
	return map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Float64: "a number",
		reflect.Bool: "true or false", reflect.Slice: "a list", reflect.String: "text",
		reflect.Map: "a table of keys", reflect.Struct: "a table of keys"}[t.Kind()]
}

var (
	variableNames = regexp.MustCompile(`^\[?([A-Za-z_]\w* ?)*\]?$`)
	alternatives  = regexp.MustCompile(`, | or `)
)

// forms are the tags is that name a form of text, and what that is.
var forms = map[string]string{"URL": "a URL that begins with http:// or https://",
	"NAMES": "the name of an environment variable; never put a key here"}

// fits reports whether a value is as the tag is of its field says.
func fits(v reflect.Value, is string) bool {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return true
		}
		v = v.Elem()
	}
	text := fmt.Sprint(v)
	switch is {
	case "URL":
		return text == "" || isWebURL(text)
	case "NAMES":
		return variableNames.MatchString(text)
	}
	return slices.ContainsFunc(alternatives.Split(is, -1), func(one string) bool {
		low, high, isRange := strings.Cut(one, " to ")
		least, isOpen := strings.CutPrefix(one, "at least ")
		return one == text || isOpen && number(v) >= bound(least, v.Type()) ||
			isRange && number(v) >= bound(low, v.Type()) && number(v) <= bound(high, v.Type())
	})
}

// bound is a number in a tag is, as the setting has it.
func bound(text string, t reflect.Type) float64 {
	n, err := convert(nil, t, text)
	if err != nil {
		panic(err) // the tags are of this package
	}
	return number(reflect.ValueOf(n))
}

func number(v reflect.Value) float64 { return v.Convert(reflect.TypeFor[float64]()).Float() }

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

var (
	loginInURL = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)[^\s/?#'"<>]*@`)
	// oddLoginInURL matches a login whose password contains unescaped characters that would end the
	// host. It does not match a port.
	oddLoginInURL = regexp.MustCompile(
		`(?i)\b([a-z][a-z0-9+.-]*://)[^\s/?#:@\['"<>]*:(?:\d{6}|\d*[^\s\d/?#'"<>]|[/?#])[^\s'"<>]*@`,
	)
	keyInURL = regexp.MustCompile(
		`(?i)([?&](?:[a-z0-9_-]*(?:token|key|secret|signature|credential)|passw[a-z]*|pwd|sig)=)[^\s&#'"<>]*`,
	)
)

// Redact hides logins, and what looks like a key, in all URLs in text, even malformed ones. It
// misses only a password that begins like a port (u:80/w@h).
func Redact(text string) string {
	text = oddLoginInURL.ReplaceAllString(text, "${1}xxxxx@")
	return keyInURL.ReplaceAllString(loginInURL.ReplaceAllString(text, "${1}xxxxx@"), "${1}xxxxx")
}

// redact applies Redact to a value if it is a string.
func redact(value any) any {
	if text, ok := value.(string); ok {
		return Redact(text)
	}
	return value
}

// show formats a value for a message, with logins and keys hidden.
func show(value any) string {
	if text, ok := redact(value).(string); ok {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprint(value)
}

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
