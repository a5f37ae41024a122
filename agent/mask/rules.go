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

// A rule finds credentials of one kind. The secret is the first group that takes part, or all.
type rule struct {
	kind   string
	form   *regexp.Regexp
	look   look
	before int // how far before one of the words a match may begin
	order  int // of rules that find the same, the first counts
}

// A look is how a value must look to be a secret.
type look int

const (
	certain look = iota // by its form it is nothing else
	chosen              // a person's choice, such as a password: any one word
	quoted              // the same in quotes: nothing is a name there, and it may have blanks
	bare                // the same without quotes around: no word of prose or code
	drawn               // drawn by a machine: letters and digits by chance
)

// What may stand between the lines of a key, and in the place of what is cut off.
const (
	apart  = `(?:\\+[nr]|[\s"',])`
	cutOff = `(?:…|\.\.\.)`
)

const (
	privateKey = "a private key"
	service    = "a service's token"
	model      = "a model provider's key"
	registry   = "a package registry's token"
)

// prefixed are what begins with one of some prefixes, and certain by that.
var prefixed = []struct{ kind, prefixes, rest string }{
	{"an AWS access key", "AKIA ASIA ABIA ACCA", `[A-Z2-7]{16}\b`},
	{"a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", `[A-Za-z0-9]{36,}`},
	{"a GitHub token", "github_pat_", `\w{40,}`},
	{"a GitLab token", "glpat- gldt- glrt- glptt- glcbt- glsoat- glft-", `[\w-]{20,}`},
	{"a Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", `[\w-]{10,}`},
	{"a Slack token", "xapp-", `\d-[\w-]{10,}`},
	{"a Slack token", "hooks.slack.com/services/", `([\w/]{20,})`},
	{"a Stripe key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", `[A-Za-z0-9]{16,}`},
	{"a Stripe key", "whsec_", `[A-Za-z0-9+/]{24,}`},
	{model, "sk-ant- sk-proj- sk-or- sk-svcacct- sk-admin-", `[\w-]{20,}`},
	{model, "gsk_ hf_ r8_", `[A-Za-z0-9]{30,}`},
	{model, "xai- pplx-", `[A-Za-z0-9]{40,}`},
	{"a Google key", "AIza", `[\w-]{35}`},
	{"a Google key", "ya29. GOCSPX-", `[\w-]{20,}`},
	{"a JSON web token", "eyJ", `[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}`},
	{registry, "npm_", `[A-Za-z0-9]{36}`},
	{registry, "pypi-", `[\w-]{50,}`},
	{registry, "dckr_pat_", `[\w-]{20,}`},
	{service, "SG.", `[\w-]{20,24}\.[\w-]{39,50}`},
	{service, "shpat_ shpss_ shpca_ shppa_", `[0-9a-fA-F]{32}`},
	{service, "dapi", `[0-9a-f]{32}`},
	{service, "dop_v1_ doo_v1_ dor_v1_", `[0-9a-f]{64}`},
	{service, "hvs. hvb.", `[\w-]{24,}`},
	{service, "AGE-SECRET-KEY-", `1[0-9A-Z]{50,}`},
	{service, "NRAK-", `[A-Z0-9]{27}`},
	{service, "glsa_", `\w{32,}`},
	{service, "PMAK-", `[0-9a-f-]{50,}`},
	{service, "ATATT3", `[\w=-]{60,}`},
	{service, "lin_api_ ntn_", `\w{40,}`},
	{service, "pscale_tkn_ pscale_pw_ pscale_oauth_", `[\w.-]{32,}`},
	{service, "sq0atp- sq0csp-", `[\w-]{22,}`},
}

// forms are what has another form, or stands in a context. A text without any of the words, in any
// case, has no match.
var forms = []struct {
	kind, words string
	look        look
	form        string
}{
	{privateKey, "private key", certain, `-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----` + apart + `*` +
		`(?:[A-Z][\w-]*: [^\n\\]*` + apart + `+)*((?:[A-Za-z0-9+/=]{16,}` + apart + `+)*` +
		`[A-Za-z0-9+/=]{16,}(?:` + apart + `+[A-Za-z0-9+/=]{1,15})?)`},
	{model, "sk-", drawn, `\bsk-([A-Za-z0-9]{32,})\b`},
	{"a Telegram token", ":aa", certain, `\b\d{8,10}:(AA[\w-]{33})\b`},
	{"a key", "account sharedaccesskey sig=", certain,
		`(?:AccountKey|SharedAccessKey|[?&]sig)=([A-Za-z0-9+/%=]{30,})`},
	{"a key that is cut", "akia asia gh glpat- xox sk_ sk- hf_ gsk_ aiza ya29. npm_ pypi- eyj", drawn,
		`\b((?:AKIA|ASIA)[A-Z2-7]{4,15}|(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk_live_|` +
			`sk_test_|sk-|hf_|gsk_|AIza|ya29\.|npm_|pypi-|eyJ)[\w/+=-]{4,200})` + cutOff},
	{"a Kaggle key", "username", certain,
		`"username"\s*:\s*"[^"]*"\s*,\s*"key"\s*:\s*"([0-9a-f]{32})"`},
	{"a password in an address", "://", chosen, `\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@"'<>?#]{0,80}:` +
		`([^\s/"'<>\\…]{3,200})@[\w.\[%-]`},
	{"a password in an address", "://", bare, `\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@"'<>?#.]{1,80}:` +
		`([^\s/"'<>\\…]*[^\s/"'<>\\….\d][^\s/"'<>\\…]*?)` + cutOff},
	{"a login", "authorization", chosen, `(?i)\bauthorization\\*["']{0,2}\s*[:=,]\s*\\*["']{0,2}` +
		`(?:basic|bearer|token)\s+([\w+/=.~-]{12,})`},
	{"a login", "bearer", drawn, `(?i)\bbearer\s+([\w+/=.~-]{12,})`},
	{"a login", "curl wget", chosen, `\b(?:curl|wget)\b[^\n]*?\s(?:-u\s*|--user[ =]|` +
		`--(?:http-)?password[ =])["']?(?:[^\s:"']+:)?([^\s"']{4,})`},
}

// named are the names whose values are secrets, and how those look in quotes and without.
var named = []struct {
	kind, words   string
	quoted, plain look
	name          string
}{
	{"a password", "passw passphrase _pass pwd kennwort", quoted, bare, `(?i:passw(?:or)?d|passphrase|` +
		`passwort|kennwort|pwd|(?:db|user|ftp|smtp|mail|pg|root)_?pass)`},
	{"a key or token", "_key -key apikey accesskey sharedkey accountkey authkey secret token credential",
		drawn, drawn, `(?i:secret|token|(?:api|access|auth|account|shared|private|secret|encryption|` +
			`signing)[_\- ]?(?:access)?[_\-]?key|credentials?)`},
}

// What stands between a name and its value, which may be cut off, and after a value: quotes may be
// escaped, as in notebooks.
const (
	is     = `(?:_[A-Za-z0-9]{1,12})?\\*["']?\]?\s{0,8}(?::=|=>|<-|[=:])\s{0,8}[bru]?`
	plain  = `([^\s"'\\,;<>…=(){}\[\]][^\s"'\\,;<>…]{3,200}?)(?:$|[\s,;"'\\<>…]|&\w+=)`
	commas = `([^\s"'\\,;<>…=(){}\[\]][^\s"'\\<>…]{3,200}?)(?:[,;]*(?:$|[\s"'\\<>…])|&\w+=|` +
		`[,;](?:\w+[=:]|[A-Z][a-z]+ [A-Z][a-z]+=))` // the same where it may have commas
	double = `\\*"{1,2}([^"\\\s…][^"\\\n…]{2,198}[^"\\\s…])(?:\\*"|` + cutOff + `)`
	single = `\\*'([^'\\\s…][^'\\\n…]{2,198}[^'\\\s…])(?:\\*'|` + cutOff + `)`
	inTag  = `[^<>\n]{0,20}>([^<\s…]{4,200})(?:</|…)`
)

// How much of a text before and after one of a rule's words is looked at. A name has one of the
// words at most beforeName bytes behind its beginning: looking no further is what makes the search
// fast.
const before, beforeName, after, afterKey = 100, 16, 300, 16 << 10

// A start is a word of a rule.
type start struct {
	rule *rule
	word string
}

// starts returns the words of all rules by their first two bytes.
var starts = sync.OnceValue(func() [][]*start {
	all, order := make([][]*start, 1<<16), 0
	add := func(kind, words, form string, look look, before int) {
		r := &rule{kind, regexp.MustCompile(form), look, before, order}
		order++
		for word := range strings.FieldsSeq(words) {
			at := twoBytes(word, 0)
			all[at] = append(all[at], &start{r, word})
		}
	}
	for _, p := range prefixed {
		either := strings.ReplaceAll(regexp.QuoteMeta(p.prefixes), " ", "|")
		add(p.kind, p.prefixes, `\b(?:`+either+`)`+p.rest, certain, before)
	}
	for _, f := range forms {
		add(f.kind, f.words, f.form, f.look, before)
	}
	for _, n := range named {
		name := fmt.Sprintf(`(?m)\A(?s:.{0,%d}?)%s`, beforeName, n.name)
		for _, quoted := range []string{is + double, is + single, inTag} {
			add(n.kind, n.words, name+quoted, n.quoted, beforeName)
		}
		form := plain
		if n.plain == bare {
			form = commas
		}
		add(n.kind, n.words, name+`(?:_[A-Za-z0-9]{1,12})?\s{0,8}[=:]\s{0,8}`+form, n.plain, beforeName)
	}
	return all
})

// twoBytes returns a number that is the same for two bytes of a text in any case.
func twoBytes(text string, at int) int { return int(text[at]|0x20)<<8 | int(text[at+1]|0x20) }

// noSecret matches what stands in place of a secret, or names where it is: of no use to anybody.
var noSecret = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`<[^<>]*>?`, `[$%]?\{.*\}*`, `.*\{\w*\}.*`, `\$\(.*`, `\$[A-Z_][A-Z0-9_]*`, // templates
	`[$&*@#](?i:[a-z]+_)*(?i:password|passwd|pass|pwd|pw|secret|token|key)\d?`,
	`%\(\w*\)[sd]`, `%[sdr]`, `%[A-Z_]+%`, `(?i:[*x.\-_#?]+)`, // also fillers
	`.*EXAMPLE(?:KEY)?`, `\W*(?i:redacted|masked|hidden)\W*`,
	`(?i:(?:` + filler + `[_.\- ])*(?:` + standing + `)(?:[_.\-]` + filler + `)*)\d{0,3}`,
	`(?i:your|my)[_.\-][A-Za-z_.\-]*`, `(?i:your|my)[a-z]*(?i:key|token|secret|passw(?:or)?d)`,
	`(?i:change.?(?:me|this|it))\W?\d{0,3}`,
	`(?i:(?:insert|enter|put|todo)[_.\-](?:your|the|an?|key|token|pass|secret|here)[a-z_.\-]*)`,
	`(?i:test|dummy|fake|sample|none|null|nan|true|false|str|string|text|hidden|required|optional|empty|todo|` +
		`user(?:name)?|pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|key|login|credentials?)`,
	`(?i:env)[.:][\w.]*`,
	`(?:os|sys|self|args|config|settings|process|request|kwargs|secrets|st|getpass)\.[A-Za-z_.]*`,
}, "|") + `)$`)

// standing are the words that mark a value as one that only stands for a secret.
const standing = `example|placeholder|here|dummy|fake|sample`

// filler matches a word that may stand beside one of those.
const filler = `(?:an?|the|your|my|our|this|is|just|only|for|use|insert|enter|put|` +
	`paste|goes|value|string|text|key|api|access|auth|secret|token|pass|passwd|password|passphrase|` +
	`pwd|user|login|db|test|admin|root|` + standing + `)`

// noName matches what also stands in place of a secret, but not in quotes: a variable of a shell,
// an anchor of YAML, and any name with "example" or the like in it.
var noName = regexp.MustCompile(`^(?:\$[a-z_]+\d?|[&*@#]\w*|` +
	`(?i:(?:.*[_.\- ])?(?:` + standing + `)(?:[_.\-][a-z]+)*)\d{0,3})$`)

// prose matches a word of a text, and a number with its unit; list matches short values in a row.
var (
	prose = regexp.MustCompile(`^(?:[("'\[]*[A-Za-z'/-]+[)"'\].,:;!?]*|[^A-Za-z]*|[\d.,:/+-]+[A-Za-z]{1,3}[.,;]?)$`)
	list  = regexp.MustCompile(`^[\w.+-]{1,3}(?:[,;][\w.+)\]}-]*)+$`)
)

// namePath matches a path of names (config.password, /home/ada), a word, and what code does with
// one.
var namePath = regexp.MustCompile(`^(?:[./~]*[A-Za-z_]+(?:[._/-][A-Za-z_]+)*|` +
	`[A-Za-z_][\w.]*(?:[)\]}]*[(\[{.][\w.=*+-]*)+)$`)

// address matches what is public on a chain of blocks.
var address = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)

// suits reports whether a value that a rule has found is a secret.
func (l look) suits(value string) bool {
	first, blanks := value, strings.ContainsAny(value, " \t\r\n")
	if at := strings.IndexAny(value, ",;"); l == bare && at > 0 {
		first = value[:at]
	}
	code := namePath.MatchString(strings.TrimRight(first, ")]}"))
	switch {
	case masked.MatchString(value):
		return false
	case l == certain:
		return true
	case noSecret.MatchString(value) || noSecret.MatchString(first) || distinct(value) < 3:
		return false
	case l == quoted:
		return !blanks || !isProse(value)
	case blanks || noName.MatchString(first):
		return false
	case l == chosen:
		return true
	case l == bare:
		return !code && !list.MatchString(value)
	}
	return len(value) >= 12 && distinct(value) >= 8 && !code &&
		strings.ContainsAny(value, "0123456789") && strings.ContainsFunc(value, unicode.IsLetter) &&
		!strings.Contains(value, "://") && !address.MatchString(value)
}

// isProse reports whether at least half of what stands between blanks is prose.
func isProse(text string) bool {
	all, plain := 0, 0
	for w := range strings.FieldsSeq(text) {
		all++
		if prose.MatchString(w) {
			plain++
		}
	}
	return 2*plain >= all
}

// distinct returns how many different bytes a text has.
func distinct(text string) int {
	return len(slices.Compact(slices.Sorted(slices.Values([]byte(text)))))
}

// A span is a credential in a text.
type span struct {
	from, to int
	rule     *rule
}

// credentials finds what looks like credentials, in order and apart, in one pass over the text.
func credentials(text string) (all []span) {
	starts := starts()
	ends := map[*start]int{} // where the words ended that were found last
	for at := range max(0, len(text)-1) {
		for _, s := range starts[twoBytes(text, at)] {
			to := at + len(s.word)
			if to > len(text) || !strings.EqualFold(text[at:to], s.word) || at < ends[s] {
				continue
			}
			if found, ok := s.rule.find(text, max(ends[s], at-s.rule.before), at); ok {
				all = append(all, found)
			}
			ends[s] = to
		}
	}
	slices.SortFunc(all, func(a, b span) int {
		return cmp.Or(a.from-b.from, b.to-a.to, a.rule.order-b.rule.order)
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
