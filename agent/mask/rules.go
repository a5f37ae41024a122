package mask

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dsstar/notebook/lazy"
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
	between = `(?:\\+[nr]|[\s"',])`
	cutOff  = `(?:…|\.\.\.)`
	suffix  = `(?:_[A-Za-z0-9]{1,12})?`
	is      = suffix + `\\*["']?\]?\s{0,8}(?::=|=>|<-|[=:])\s{0,8}[bru]?`
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

// afterPrefix returns what a key is made of that goes on by chance after its prefix.
func afterPrefix(character string) func() *regexp.Regexp {
	return after(`(` + character + `{16,})|(` + character + `{4,200})` + cutOff)
}

func after(form string) func() *regexp.Regexp { return lazy.Regexp(`^(?:` + form + `)`) }

// A rule says what follows a word in a text with a credential. The first group that takes part is the
// secret. Words stand in any case, but those of prefixed ones as they are.
type rule struct {
	look  look
	words string
	rest  func() *regexp.Regexp
}

var rules = []rule{
	{prefixed, "AKIA ASIA", afterPrefix(`[A-Z2-7]`)},
	{prefixed, "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- xoxa- xoxb- xoxe- xoxp- xoxr- " +
		"xoxs- xapp- dckr_pat_ pypi-AgE AIza ya29. GOCSPX- shpat_ glsa_ sk-ant- sk-proj- sk-or- " +
		"sk-svcacct-", afterPrefix(`[\w-]`)},
	{prefixed, "sk_live_ sk_test_ rk_live_ rk_test_ whsec_ npm_ sk- gsk_ hf_ r8_ xai- pplx-",
		afterPrefix(`[A-Za-z0-9]`)},
	{prefixed, "dapi dop_v1_", afterPrefix(`[0-9a-f]`)},
	{prefixed, "eyJ SG. hvs. hvb.", afterPrefix(`[\w.-]`)},
	{certain, "private", after(` KEY(?: BLOCK)?-----` + between + `*` +
		`(?:[A-Z][\w-]*: [^\n\\]*` + between + `+)*((?:[A-Za-z0-9+/=]{16,}` + between + `+)*` +
		`[A-Za-z0-9+/=]{16,}(?:` + between + `+[A-Za-z0-9+/=]{1,15})?)`)},
	{certain, "?sig= &sig=", after(`([\w+/%=]{30,})`)},
	{chosen, "://",
		after(`[^\s:/@"'<>?#]{0,80}:([^\s/"'<>\\…]{3,200})@[\w.\[%-]|[^\s:/@"'<>?#.]{1,80}:` +
			`([^\s/"'<>\\…]*[^\s/"'<>\\….\d][^\s/"'<>\\…]*?)` + cutOff)},
	{chosen, "authorization",
		after(`\\*["']{0,2}\s*[:=,]\s*\\*["']{0,2}(?i:basic|bearer|token)\s+([\w+/=.~-]{12,})`)},
	{drawn, "bearer", after(`\s+([\w+/=.~-]{12,})`)},
	{chosen, "password passwd passphrase passwort kennwort pwd db_pass user_pass", after(named)},
	{drawn, "token secret credential credentials api_key api-key apikey access_key " +
		"access-key accesskey auth_key account_key accountkey private_key signing_key", after(named)},
}

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

// A span is a part of a text: a number, if it has digits.
type span struct {
	from, to int
	digits   string
}

// credentials finds what looks like credentials, in order and apart.
func credentials(text string) (all []span) {
	small := lower(text)
	for _, r := range rules {
		in := small
		if r.look == prefixed {
			in = text
		}
		for word := range strings.FieldsSeq(r.words) {
			for end := 0; ; {
				before, _, found := strings.Cut(in[end:], word)
				if !found {
					break
				}
				at := end + len(before)
				end = at + len(word)
				if s, ok := r.find(text, at, end); ok {
					all = append(all, s)
				}
			}
		}
	}
	return apart(all)
}

// find finds the secret behind a word of the rule.
func (r rule) find(text string, at, end int) (s span, ok bool) {
	groups := r.rest().FindStringSubmatchIndex(text[end:])
	if groups == nil || r.look == prefixed && at > 0 && isWord(rune(text[at-1])) {
		return s, false
	}
	n := 1
	for groups[2*n] < 0 {
		n++
	}
	s, look := span{from: end + groups[2*n], to: end + groups[2*n+1]}, r.look
	switch {
	case look == prefixed:
		s.from = at
	case look == chosen && n == bareGroup:
		look = bare
	}
	return s, look.suits(text[s.from:s.to])
}
