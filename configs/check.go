package configs

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"dsstar/notebook/human"
)

// check reports an unknown key, or a value that is not of the key's type.
func check(key string, set setting, known map[string]bool) error {
	unused, err := decode(map[string]setting{key: set}, &Settings{}, set.text)
	if unused || strings.HasPrefix(key, "models"+separator) && !known[key] {
		var names []string
		for key := range known {
			names = append(names, display(key))
		}
		return fmt.Errorf("%s: unknown key %s%s", set.source, display(key),
			didYouMean(display(key), names))
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %v", set.source, display(key), plain(err))
	}
	return nil
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

// didYouMean returns the end of a message that suggests the known name most similar to a name; "" if
// none is similar.
func didYouMean(name string, known []string) string {
	if near := human.Near(name, known); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	return ""
}
