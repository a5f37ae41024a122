package ask

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"dsstar/notebook/lazy"
)

var (
	objectStart = lazy.Regexp(`(?m)^[ \t>]*(\{)`) // in its line
	jsonToken   = lazy.Regexp(`(?s)"(?:[^"\\]|\\.|"\s*[^,:}\]\s"\\])*"|,\s*[}\]]`)
	jsonEscape  = lazy.Regexp(`(?s)\\.|"`)
)

// startOf returns where the first JSON object of a text begins, outside of other code; -1 if there is
// none.
func startOf(text string) int {
	begin := 0
	for _, p := range pieces(text) {
		m := objectStart().FindStringSubmatchIndex(p.text)
		if m != nil && (!p.isCode || p.Language == "json" || p.Language == "" && p.Code[0] == '{') {
			return begin + m[2]
		}
		begin += len(p.text)
	}
	return -1
}

// fromJSON sets the fields of a form by the JSON object in a text, and reports whether there is one.
func fromJSON(text string, form any) (is bool, err error) {
	at := startOf(text)
	if at < 0 {
		return false, nil
	}
	object := repaired(text[at:])
	decoder := json.NewDecoder(strings.NewReader(object))
	err = decoder.Decode(form)
	switch {
	case reflect.ValueOf(form).Elem().IsZero() && strings.Trim(text[:at], "`~json \t\n") != "":
		return false, nil
	case err != nil:
		return false, errors.New("its JSON cannot be read")
	case objectStart().MatchString(Prose(object[decoder.InputOffset():])):
		return false, errors.New("it has two JSON objects")
	}
	return true, nil
}

// repaired returns JSON without faults of small models: line breaks, quotes and backslashes as they
// are in strings, and commas before brackets. General repairers do not serve for code: they
// complete what was cut off, and drop backslashes.
func repaired(text string) string {
	return jsonToken().ReplaceAllStringFunc(text, func(token string) string {
		if token[0] == ',' {
			return token[len(token)-1:]
		}
		text := jsonEscape().ReplaceAllStringFunc(token[1:len(token)-1], func(pair string) string {
			if pair != `"` && strings.Contains(`"\/bfnrtu`, pair[1:]) {
				return pair
			}
			return `\` + pair
		})
		return `"` + strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text) + `"`
	})
}

var lastText = lazy.Regexp(`(?s)^.*:\s*"((?:[^"\\]|\\.)*)`)

// SoFar returns what is worth showing of a reply that is still coming: of a JSON object the text
// that came last, of any other all of it.
func SoFar(text string) string {
	if !strings.HasPrefix(strings.TrimLeft(text, "`json \t\n"), "{") {
		return text
	}
	m, shown := lastText().FindStringSubmatch(text), ""
	if m != nil && json.Unmarshal([]byte(`"`+m[1]+`"`), &shown) != nil {
		return m[1]
	}
	return shown
}
