package configs

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// check reports an unknown key, or a value that is not of the key's type.
func check(key string, set setting, known map[string]bool) error {
	if !known[key] && !isTableKey(key) {
		if below(key, known) {
			if set.value == nil {
				return nil
			}
			return fmt.Errorf("%s: %s: is a table of keys, not %s", set.source, display(key),
				show(set.value))
		}
		return fmt.Errorf("%s: unknown key %s%s", set.source, display(key),
			didYouMean(display(key), keyNames(known)))
	}
	if set.value == nil {
		return nil
	}
	if err := decode(map[string]setting{key: set}, &Settings{}, set.text); err != nil {
		return fmt.Errorf("%s: %s: %v", set.source, display(key), plain(err))
	}
	return nil
}

// tables holds the keys below which users choose names, with the type of each entry.
var tables = map[string]reflect.Type{
	"providers": reflect.TypeFor[Provider](),
	"prices":    reflect.TypeFor[Price](),
}

// isTableKey accepts every field of a table whose name the user chooses.
func isTableKey(key string) bool {
	part := strings.Split(key, separator)
	return len(part) == 3 && tables[part[0]] != nil &&
		slices.Contains(fieldsOf(tables[part[0]]), part[2])
}

func fieldsOf(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if tag := f.Tag.Get("key"); tag != "-" {
			names = append(names, tag)
		}
	}
	return names
}

// below reports whether key is a prefix of a known key, or a table named by the user.
func below(key string, known map[string]bool) bool {
	head, rest, ok := strings.Cut(key, separator)
	if tables[head] != nil && (!ok || !strings.Contains(rest, separator)) {
		return true
	}
	for k := range known {
		if strings.HasPrefix(k, key+separator) {
			return true
		}
	}
	return false
}

func keyNames(known map[string]bool) []string {
	var names []string
	for key := range known {
		names = append(names, display(key))
	}
	slices.Sort(names)
	return names
}

// show formats a value for a message, with logins and keys hidden.
func show(value any) string {
	if text, ok := redact(value).(string); ok {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprint(value)
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

// validate returns an error for the first value out of range.
func (s *Settings) validate(won map[string]setting) error {
	bad := func(key, should string) error {
		set := won[strings.ReplaceAll(key, ".", separator)]
		return fmt.Errorf("%s: %s: is %s, should be %s", set.source, key, show(set.value), should)
	}
	for _, f := range fields() {
		if is := f.Tag.Get("is"); is != "" && !fits(f.of(s), is) {
			return bad(f.key, inWords(is))
		}
	}
	for name, p := range s.Prices {
		if p.Input == nil || p.Output == nil || !isAmount(*p.Input) || !isAmount(*p.Output) ||
			p.Cached != nil && !isAmount(*p.Cached) {
			return fmt.Errorf("%s: prices.%s: needs input and output, and all prices must be 0 or more",
				sourceBelow("prices"+separator+name, won), name)
		}
	}
	return s.validateProviders(won, bad)
}

// isAmount reports whether dollars are a number that is not negative.
func isAmount(dollars float64) bool { return dollars >= 0 && dollars < math.Inf(1) }

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func isNoVariable(name string) bool { return !variableName.MatchString(name) }

func (s *Settings) validateProviders(won map[string]setting,
	bad func(key, should string) error) error {
	if s.APIKeyEnv != "" && isNoVariable(s.APIKeyEnv) {
		return notAName("api_key_env", won["api_key_env"])
	}
	for _, name := range slices.Sorted(maps.Keys(s.Providers)) {
		below := "providers" + separator + name
		if slices.ContainsFunc(s.Providers[name].KeyEnv, isNoVariable) {
			key := below + separator + "key_env"
			return notAName(display(key), won[key])
		}
		if isWebURL(s.Providers[name].BaseURL) {
			continue
		}
		if _, ok := won[below+separator+"base_url"]; !ok {
			return fmt.Errorf("%s: provider %s has no base_url", sourceBelow(below, won), name)
		}
		return bad("providers."+name+".base_url", "a URL that begins with http:// or https://")
	}
	return nil
}

// sourceBelow returns the source of one of the keys below head; "" if there is none.
func sourceBelow(head string, won map[string]setting) string {
	for _, key := range slices.Sorted(maps.Keys(won)) {
		if strings.HasPrefix(key, head+separator) {
			return won[key].source
		}
	}
	return ""
}

// notAName returns an error that does not repeat the value, which may be an API key.
func notAName(key string, set setting) error {
	return fmt.Errorf("%s: %s: should be the name of an environment variable; never put a key "+
		"here", set.source, key)
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// didYouMean returns the end of a message that suggests the known name closest to name; "" if
// none is close.
func didYouMean(name string, known []string) string {
	best, least := "", len(name)/2+1
	for _, k := range known {
		d := distance(name, k)
		// Part of a longer name is a likely slip, too: rounds for max_rounds.
		if strings.HasSuffix(k, "_"+name) || strings.HasSuffix(k, "."+name) ||
			strings.HasPrefix(k, name+"_") {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance returns the Levenshtein distance of a and b, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
