package mask

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A look is how a value must look to be a secret.
type look int

const (
	certain  look = iota // by its form it is nothing else
	prefixed             // it begins with the word, and goes on by chance
	drawn                // by a machine: letters and digits by chance
	chosen               // by a person, such as a password in quotes: nothing is a name there
	bare                 // the same without quotes around: no word of prose or code
)

// What may stand between the lines of a key, in the place of what is cut off, and after a name.
const (
	apart  = `(?:\\+[nr]|[\s"',])`
	cutOff = `(?:…|\.\.\.)`
	suffix = `(?:_[A-Za-z0-9]{1,12})?`
	is     = suffix + `\\*["']?\]?\s{0,8}(?::=|=>|<-|[=:])\s{0,8}[bru]?`
)

// named is what follows the name of a secret: its value in quotes, which may be escaped as in
// notebooks, in a tag, or, as group bareGroup, without.
const (
	named = is + `\\*"{1,2}([^"\\\s…][^"\\\n…]{2,198}[^"\\\s…])(?:\\*"|` + cutOff + `)|` +
		is + `\\*'([^'\\\s…][^'\\\n…]{2,198}[^'\\\s…])(?:\\*'|` + cutOff + `)|` +
		`[^<>\n]{0,20}>([^<\s…]{4,200})(?:</|…)|` +
		suffix + `\s{0,8}[=:]\s{0,8}([^\s"'\\,;<>…=(){}\[\]][^\s"'\\<>…]{3,200}?)` +
		`(?:[,;]*(?:$|[\s"'\\<>…])|[&,;]\w+(?: \w+)?[=:])`
	bareGroup = 4
)

// rules say what follows a word in a text with a credential. The first group that takes part is the
// secret. Words stand in any case, but those of prefixed ones as they are, and their form is that of
// a character.
var rules = []struct {
	look              look
	kind, words, form string
}{
	{prefixed, "an AWS access key", "AKIA ASIA", `[A-Z2-7]`},
	{prefixed, "a service's key", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- xoxa- xoxb- " +
		"xoxe- xoxp- xoxr- xoxs- xapp- dckr_pat_ pypi-AgE AIza ya29. GOCSPX- shpat_ glsa_", `[\w-]`},
	{prefixed, "a service's key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_ npm_", `[A-Za-z0-9]`},
	{prefixed, "a service's key", "dapi dop_v1_", `[0-9a-f]`},
	{prefixed, "a model provider's key", "sk-ant- sk-proj- sk-or- sk-svcacct-", `[\w-]`},
	{prefixed, "a model provider's key", "sk- gsk_ hf_ r8_ xai- pplx-", `[A-Za-z0-9]`},
	{prefixed, "a signed token", "eyJ SG. hvs. hvb.", `[\w.-]`},
	{certain, "a private key", "private", ` KEY(?: BLOCK)?-----` + apart + `*` +
		`(?:[A-Z][\w-]*: [^\n\\]*` + apart + `+)*((?:[A-Za-z0-9+/=]{16,}` + apart + `+)*` +
		`[A-Za-z0-9+/=]{16,}(?:` + apart + `+[A-Za-z0-9+/=]{1,15})?)`},
	{certain, "a key in an address", "?sig= &sig=", `([\w+/%=]{30,})`},
	{chosen, "a password in an address", "://",
		`[^\s:/@"'<>?#]{0,80}:([^\s/"'<>\\…]{3,200})@[\w.\[%-]|[^\s:/@"'<>?#.]{1,80}:` +
			`([^\s/"'<>\\…]*[^\s/"'<>\\….\d][^\s/"'<>\\…]*?)` + cutOff},
	{chosen, "a login", "authorization",
		`\\*["']{0,2}\s*[:=,]\s*\\*["']{0,2}(?i:basic|bearer|token)\s+([\w+/=.~-]{12,})`},
	{drawn, "a login", "bearer", `\s+([\w+/=.~-]{12,})`},
	{chosen, "a password", "password passwd passphrase passwort kennwort pwd db_pass user_pass", named},
	{drawn, "a key or token", "token secret credential credentials api_key api-key apikey access_key " +
		"access-key accesskey auth_key account_key accountkey private_key signing_key", named},
}

// A start is a word of a rule, and what may follow it.
type start struct {
	word, kind string
	look       look
	rest       *regexp.Regexp
}

// starts returns the words of all rules by their first two bytes.
var starts = sync.OnceValue(func() [][]start {
	all := make([][]start, 1<<16)
	for _, r := range rules {
		if r.look == prefixed {
			r.form = fmt.Sprintf(`(%[1]s{16,})|(%[1]s{4,200})%s`, r.form, cutOff)
		}
		rest := regexp.MustCompile(`^(?:` + r.form + `)`)
		for word := range strings.FieldsSeq(r.words) {
			all[twoBytes(word)] = append(all[twoBytes(word)], start{word, r.kind, r.look, rest})
		}
	}
	return all
})

// twoBytes returns a number that is the same for the first two bytes of a text in any case.
func twoBytes(text string) int { return int(text[0]|0x20)<<8 | int(text[1]|0x20) }

var (
	// placeholder matches what stands in place of a secret, or names where it is.
	placeholder = regexp.MustCompile(`^(?:[$%]?\{.*|.*\{\w*\}.*|\$\(.*|\$[A-Z_][A-Z0-9_]*|` +
		`%\(\w*\)[sd]|(?i:env[.:][\w.]*|\W{0,2}(?:(?:your|my|the|an?|insert|enter|put|change|me|here|` +
		`example|placeholder|dummy|fake|sample|test|none|null|true|false|string|text|hidden|redacted|` +
		`required|optional|db|user|name|pass|passw(?:or)?d|pwd|pw|secret|token|api|access|key|value)` +
		`[_.\- ]?)+\W{0,2}))$`)
	// name matches a path of names, what code does with one, and short values in a row.
	name = regexp.MustCompile(`^(?:[./~]*[A-Za-z_]+(?:[._/-][A-Za-z_]+)*|[$&*@#]\w*|` +
		`[A-Za-z_][\w.]*(?:[)\]}]*[(\[{.][\w.=*+-]*)+|[\w.+-]{1,3}(?:[,;][\w.+)\]}-]*)+)$`)
)

// suits reports whether a value that a rule has found is a secret.
func (l look) suits(value string) bool {
	has := func(any string) bool { return strings.ContainsAny(value, any) }
	different := len(slices.Compact(slices.Sorted(slices.Values([]byte(value)))))
	chance := has("0123456789") && different >= 8 && strings.ContainsFunc(value, unicode.IsLetter)
	switch {
	case l == certain || l == prefixed || masked.MatchString(value):
		return !masked.MatchString(value) && (chance || l == certain)
	case placeholder.MatchString(value) || different < 3:
		return false
	case has(" \t\r\n"): // prose, unless it has everything
		return l == chosen && chance && has("!#$%&*=?@^_|~")
	case l == chosen:
		return true
	}
	first := value
	if at := strings.IndexAny(value, ",;"); l == bare && at > 0 {
		first = value[:at]
	}
	if name.MatchString(value) || name.MatchString(strings.TrimRight(first, ")]}")) {
		return false
	}
	return l == bare || chance && len(value) >= 12 && !strings.Contains(value, "://") &&
		!strings.HasPrefix(value, "0x")
}

// A span is a part of a text: a credential, if it has a kind.
type span struct {
	from, to int
	kind     string
}

// credentials finds what looks like credentials, in order and apart.
func credentials(text string) (all []span) {
	for at := range max(0, len(text)-1) {
		for _, s := range starts()[twoBytes(text[at:])] {
			if found, ok := s.find(text, at); ok {
				all = append(all, found)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	end := 0
	return slices.DeleteFunc(all, func(s span) bool {
		if s.from < end {
			return true
		}
		end = s.to
		return false
	})
}

// find finds the secret behind the word, if this stands at a place of a text.
func (s start) find(text string, at int) (found span, ok bool) {
	end := at + len(s.word)
	if end > len(text) || !strings.EqualFold(text[at:end], s.word) || s.look == prefixed &&
		(text[at:end] != s.word || at > 0 && isWord(rune(text[at-1]))) {
		return found, false
	}
	groups := s.rest.FindStringSubmatchIndex(text[end:])
	if groups == nil {
		return found, false
	}
	n := 1
	for groups[2*n] < 0 {
		n++
	}
	found = span{end + groups[2*n], end + groups[2*n+1], s.kind}
	switch {
	case s.look == prefixed:
		found.from = at
	case s.look == chosen && n == bareGroup:
		s.look = bare
	}
	return found, s.look.suits(text[found.from:found.to])
}
