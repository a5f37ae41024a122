package mask

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A rule finds credentials of one kind. The secret is the first group that takes part, or all.
type rule struct {
	kind  string
	words []string // in lower case; a text without any of them has no match
	form  *regexp.Regexp
	look  look
}

// A look is how a value must look to be a secret.
type look int

const (
	certain look = iota // by its form it is nothing else
	chosen              // a person's choice, such as a password: any one word
	bare                // the same without quotes around: no word of prose or code
	drawn               // drawn by a machine: letters and digits by chance
)

const privateKey = "a private key"

func token(kind, words, form string) rule {
	return rule{kind, strings.Fields(words), regexp.MustCompile(form), certain}
}

// The names of what is a secret, and what may stand between a name and its value: quotes may be
// escaped, as in notebooks.
const (
	wordName = `(?i:passw(?:or)?d|passphrase|passwort|kennwort|pwd|(?:db|user|ftp|smtp|mail|pg|root)_?pass)`
	keyName  = `(?i:secret|token|(?:api|access|auth|account|shared|private|secret|encryption|signing)` +
		`[_\- ]?(?:access)?[_\-]?key|credentials?)`
	// a name has one of the rule's words at most so many bytes behind its beginning: looking no further
	// is what makes the search fast
	near = `\A(?s:.{0,16}?)`
	// what may stand between the lines of a key
	apart = `(?:\\+[nr]|[\s"',])`
	is    = `(?:_[A-Za-z0-9]{1,12})?\\*["']?\]?\s{0,8}(?::=|=>|<-|[=:])\s{0,8}[bru]?`
)

// assigned are the ways to give a name its value. Values without quotes have a look of their own.
func assigned(kind, words, name string, quoted, plain look) []rule {
	var all []rule
	for _, form := range []string{is + `\\*"{1,2}([^"\\\r\n]{4,200})\\*"`, is + `\\*'([^'\\\r\n]{4,200})\\*'`,
		`[^<>\n]{0,20}>([^<\s]{4,200})</`} {
		all = append(all, rule{kind, strings.Fields(words), regexp.MustCompile(near + name + form), quoted})
	}
	return append(all, rule{kind, strings.Fields(words), regexp.MustCompile(`(?m)` + near + name +
		`(?:_[A-Za-z0-9]{1,12})?\s{0,8}[=:]\s{0,8}([^\s"'\\,;#&<>(){}\[\]$]{4,200})(?:$|[\s,;#&"'\\])`), plain})
}

var rules = slices.Concat([]rule{
	token(privateKey, "private key", `-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----`+apart+`*`+
		`(?:[A-Z][\w-]*: [^\n\\]*`+apart+`+)*`+
		`((?:[A-Za-z0-9+/=]{16,}`+apart+`+)*[A-Za-z0-9+/=]{16,}(?:`+apart+`+[A-Za-z0-9+/=]{1,15})?)`),
	token("an AWS access key", "akia asia abia acca", `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`),
	token("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
		`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,})\b`),
	token("a GitLab token", "glpat- gldt- glrt- glptt- glcbt- glsoat- glft-",
		`\bgl(?:pat|dt|rt|ptt|cbt|soat|ft)-[\w-]{20,}`),
	token("a Slack token", "xox xapp- hooks.slack.com",
		`\b(?:xox[abeoprs]-[\w-]{10,}|xapp-\d-[\w-]{10,}|hooks\.slack\.com/services/([\w/]{20,}))`),
	token("a Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ whsec_",
		`\b(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,})`),
	token("a model provider's key", "sk-ant- sk-proj- sk-or- sk-svcacct- sk-admin- gsk_ xai- hf_ r8_ pplx-",
		`\b(?:sk-(?:ant|proj|or|svcacct|admin)-[\w-]{20,}|(?:gsk|hf|r8)_[A-Za-z0-9]{30,}|`+
			`(?:xai|pplx)-[A-Za-z0-9]{40,})`),
	{"an OpenAI key", []string{"sk-"}, regexp.MustCompile(`\bsk-([A-Za-z0-9]{32,})\b`), drawn},
	token("a Google key", "aiza ya29. gocspx-", `\b(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,})`),
	token("a JSON web token", "eyj", `\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}`),
	token("a package registry's token", "npm_ pypi- dckr_pat_", `\b(?:npm_[A-Za-z0-9]{36}|`+
		`pypi-[\w-]{50,}|dckr_pat_[\w-]{20,})`),
	token("a service's token", "sg. shpat_ shpss_ shpca_ shppa_ dapi dop_v1_ doo_v1_ dor_v1_ hvs. hvb. "+
		"age-secret-key- nrak- glsa_ pmak- atatt3 lin_api_ ntn_ pscale_ sq0",
		`\b(?:SG\.[\w-]{20,24}\.[\w-]{39,50}|shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}|dapi[0-9a-f]{32}|`+
			`do[opr]_v1_[0-9a-f]{64}|hv[sb]\.[\w-]{24,}|AGE-SECRET-KEY-1[0-9A-Z]{50,}|NRAK-[A-Z0-9]{27}|`+
			`glsa_\w{32,}|PMAK-[0-9a-f-]{50,}|ATATT3[\w=-]{60,}|lin_api_\w{40}|ntn_[A-Za-z0-9]{40,}|`+
			`pscale_(?:tkn|pw|oauth)_[\w.-]{32,}|sq0(?:atp|csp)-[\w-]{22,})`),
	token("a Telegram token", ":aa", `\b\d{8,10}:(AA[\w-]{33})\b`),
	{"a key", []string{"account", "sig=", "sharedaccesskey"},
		regexp.MustCompile(`(?:AccountKey|SharedAccessKey|[?&]sig)=([A-Za-z0-9+/%=]{30,})`), certain},
	{"a Kaggle key", []string{"username"},
		regexp.MustCompile(`"username"\s*:\s*"[^"]*"\s*,\s*"key"\s*:\s*"([0-9a-f]{32})"`), certain},
	{"a password in an address", []string{"://"},
		regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@"'<>?#]{0,80}:([^\s@/"'<>\\]{3,200})@`),
		chosen},
	{"a login", []string{"authorization"}, regexp.MustCompile(`(?i)\bauthorization\\*["']{0,2}\s*[:=,]\s*` +
		`\\*["']{0,2}(?:basic|bearer|token)\s+([\w+/=.~-]{12,})`), chosen},
	{"a login", []string{"bearer"}, regexp.MustCompile(`(?i)\bbearer\s+([\w+/=.~-]{12,})`), drawn},
	{"a login", []string{"curl", "wget"}, regexp.MustCompile(
		`\b(?:curl|wget)\b[^\n]*?\s(?:-u\s*|--user[ =]|--(?:http-)?password[ =])["']?(?:[^\s:"']+:)?([^\s"']{4,})`),
		chosen},
}, assigned("a password", "passw passphrase _pass pwd kennwort", wordName, chosen, bare),
	assigned("a key or token", "_key -key apikey accesskey sharedkey accountkey authkey secret token credential", keyName, drawn, drawn))

// noSecret matches what stands in place of a secret, or names where it is: of no use to anybody.
var noSecret = regexp.MustCompile(`(?i)^(?:[<${%@&].*|[*x.\-_#?]+|your.*|my[_-].*|change.?me.*|.*example.*|` +
	`(?:test|dummy|fake|sample|none|null|nan|true|false|str|string|text|hidden|required|optional|empty|` +
	`user(?:name)?|pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|key|login|credentials?)|` +
	`.*(?:_here|placeholder|redacted|masked).*|insert.*|enter.*|todo.*|env[.:].*|` +
	`(?:os|sys|self|args|config|settings|process|request|kwargs|secrets|st|getpass)\..*)$`)

// A path of names (config.password, /home/ada), or a word.
var namePath = regexp.MustCompile(`^[./~]*[A-Za-z_]+(?:[._/-][A-Za-z_]+)*$`)

// suits reports whether a value that a rule has found is a secret.
func (l look) suits(value string) bool {
	switch {
	case standIns.MatchString(value):
		return false
	case l == certain:
		return true
	case noSecret.MatchString(value) || strings.ContainsAny(value, " \t\r\n") || entropy(value) < 1.5:
		return false
	case l == chosen:
		return true
	case l == bare:
		return !namePath.MatchString(value)
	}
	return len(value) >= 12 && entropy(value) >= 3 && !namePath.MatchString(value) &&
		strings.ContainsAny(value, "0123456789") && strings.ContainsFunc(value, unicode.IsLetter) &&
		!strings.Contains(value, "://") && !address.MatchString(value)
}

// address matches what is public on a chain of blocks.
var address = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)

// entropy returns the bits per byte of a text by its own frequencies.
func entropy(text string) (bits float64) {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// A span is a credential in a text.
type span struct {
	from, to int
	rule     *rule
}

// How much of a text before and after one of a rule's words is looked at.
const before, beforeNear, after, afterKey = 100, 16, 300, 16 << 10

func (r *rule) before() int {
	if strings.HasPrefix(strings.TrimPrefix(r.form.String(), "(?m)"), near) {
		return beforeNear
	}
	return before
}

// credentials finds what looks like credentials, in order and apart.
func credentials(text string) []span {
	var all []span
	lower := asciiLower(text)
	for i := range rules {
		r := &rules[i]
		for _, w := range r.words {
			for end := 0; ; {
				n := strings.Index(lower[end:], w)
				if n < 0 {
					break
				}
				if s, ok := r.find(text, max(end, end+n-r.before()), end+n); ok {
					all = append(all, s)
				}
				end += n + len(w)
			}
		}
	}
	slices.SortFunc(all, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	end := 0
	return slices.DeleteFunc(all, func(s span) bool {
		if s.from < end {
			return true
		}
		end = s.to
		return false
	})
}

// find finds the secret of a rule beside the word at a place of a text.
func (r *rule) find(text string, from, word int) (s span, ok bool) {
	far := after
	if r.kind == privateKey {
		far = afterKey
	}
	to := min(len(text), word+far)
	from = max(from, strings.LastIndexByte(text[from:word], '\n')+1+from)
	at := r.form.FindStringSubmatchIndex(text[from:to])
	if at == nil || at[0] > word-from { // the next word's
		return s, false
	}
	if len(at) > 2 && at[2] >= 0 {
		at = at[2:]
	}
	s = span{from + at[0], from + at[1], r}
	return s, r.look.suits(text[s.from:s.to])
}

func asciiLower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
