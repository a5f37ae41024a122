package configs

import (
	"fmt"
	"regexp"
)

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
