package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/compare"
	"dsstar/notebook/lazy"
)

// A form is what question and guidelines say about an answer that a program can check.
type form struct {
	words    string   // the guidelines: what stands there may be the answer
	decimals int      // at most; -1: not said
	files    []string // each is written
}

// Parts of the patterns below.
const (
	numberKind = `(?:(?:single|whole|real|decimal|natural|positive)\s+)*(?:number|integer|float|percentage)`
	aFile      = `[\pL\d_.-]+\.(?:csv|tsv|tab|txt|md|jsonl?|geojson|xml|ya?ml|parquet|feather|xlsx?|ods|docx?|` +
		`pptx|png|jpe?g|svg|gif|webp|pdf|html?|npy|npz|pkl|pickle|joblib|h5|hdf5|sqlite|db|sql|py|ipynb|zip|gz)`
	isQuoted = `["'“‘][^"'“”‘’\n]{1,40}["'”’]`
)

// rules are what the first match of a pattern in the guidelines, said with its groups, asks of an answer.
var rules = []struct {
	says func() *regexp.Regexp
	fits func(said []string, guidelines, answer string) bool
}{
	{lazy.Regexp(`(?i)\b(?:as|a|valid|in)\s+JSON\b(?:\s+(list|array|object)\b)?`),
		func(said []string, _, answer string) bool {
			begins := map[string]string{"list": "[", "array": "[", "object": "{"}[strings.ToLower(said[1])]
			return json.Valid([]byte(answer)) && strings.HasPrefix(answer, begins)
		}},
	{lazy.Regexp(`(?s)@[A-Za-z_]\w*\[.*`), func(said []string, _, answer string) bool {
		lacks := func(label string) bool {
			_, value, has := strings.Cut(answer, label)
			return !has || strings.HasPrefix(strings.TrimSpace(value), "]")
		}
		return !slices.ContainsFunc(label().FindAllString(said[0], -1), lacks)
	}},
	{lazy.Regexp(`(?im)(?:\b(?:either|one\s+of|must\s+be|answer\s+with)\b[:\s]+|\A\W*?(?:(?:just|only)\s+)?)` +
		`((?:` + isQuoted + `[\s,]*(?:or\s+|and\s+)?){2,}|(?:yes|true)\s+or\s+(?:no|false))\s*(?:[.;]|$)`),
		func(said []string, _, answer string) bool {
			all := quoted().FindAllString(said[1], -1)
			if all == nil {
				all = strings.Split(said[1], " or ")
			}
			is := func(one string) bool { return strings.EqualFold(bare(answer), bare(one)) }
			return slices.ContainsFunc(all, is)
		}},
	{lazy.Regexp(`(?i)\b(?:an?|one)\s+` + numberKind + `\b(\s+of\b)?`),
		func(said []string, guidelines, answer string) bool {
			return said[1] != "" || strings.ContainsFunc(answer, unicode.IsDigit) || label().MatchString(guidelines)
		}},
	{lazy.Regexp(`(?i)\b(?:(?:just|only)\s+an?|exactly\s+one|a\s+single)\s+(?:` + numberKind + `|name)\b|\bone\s+name\b`),
		func(said []string, guidelines, answer string) bool { // perhaps with a unit
			_, isNumber := compare.Number(answer)
			isName := !strings.ContainsAny(answer, "\n;") && !strings.HasPrefix(answer, "[")
			return isNumber || isName && strings.HasSuffix(strings.ToLower(said[0]), "name") ||
				several().MatchString(guidelines)
		}},
	{lazy.Regexp(`(?i)\b(?:number|integer|float|percentage|fraction|share|proportion|` +
		`probability|value|score|decimal|correlation|coefficient)\s+(?:that\s+is\s+)?(?:between|from|(?:with)?in)\s+` +
		`(?:the\s+range\s+)?(?:(?:of|from)\s+)?\[?(-?\d+(?:\.\d+)?)%?\s*(?:and|to|,|-|–)\s*` +
		`(-?\d+(?:\.\d+)?)\b`), func(said []string, _, answer string) bool {
		value, isNumber := compare.Number(answer)
		least, _ := strconv.ParseFloat(said[1], 64)
		most, _ := strconv.ParseFloat(said[2], 64)
		return !isNumber || value >= least && value <= most
	}},
}

// What else question and guidelines say.
var (
	label         = lazy.Regexp(`@[A-Za-z_]\w*\[`)
	several       = lazy.Regexp(`(?i)\b(?:each|every|per|list|followed|and)\b|@[a-z_]\w*\[`)
	quoted        = lazy.Regexp(isQuoted)
	decimalPlaces = lazy.Regexp(`(?i)\b(\d{1,2}|one|two|three|four|five|six)\s+(?:decimals?|digits?\s+after)\b`)
	wholeNumber   = lazy.Regexp(`(?i)\b(?:whole\s+number|(?:an|one|single|nearest|only)\s+integer|integer\s+(?:value|only))\b`)
	asWholeNumber = lazy.Regexp(`(?i)\b(?:as|to)\s+(?:an?|the\s+nearest)\s+(?:whole\s+number|integer)\b`)
	fileName      = lazy.Regexp(`(?i)\b(?:saved?|write|written|stored?|export|named|called|output|as|als|into)\b` +
		`[^.\n]{0,60}?["'` + "`" + `]?(` + aFile + `)\b`)
)

// formOf reads the form from a task's question and guidelines. What it does not recognise is not
// checked.
func formOf(task record.Task) form {
	f := form{words: strings.ReplaceAll(task.Guidelines, "\u2212", "-")}
	if f.decimals = decimalsIn(f.words, wholeNumber()); f.decimals < 0 {
		f.decimals = decimalsIn(task.Question, asWholeNumber())
	}
	for _, m := range fileName().FindAllStringSubmatch(task.Question+"\n"+f.words, -1) {
		isData := func(d record.File) bool { return path.Base(d.Name) == m[1] } // "stored in sales.csv"
		if !slices.ContainsFunc(task.Files, isData) && !slices.Contains(f.files, m[1]) {
			f.files = append(f.files, m[1])
		}
	}
	return f
}

// decimalsIn returns how many decimals a text asks for at most, or -1.
func decimalsIn(text string, whole *regexp.Regexp) (n int) {
	all := decimalPlaces().FindAllStringSubmatch(text, -1)
	if n = -1; all == nil && whole.MatchString(text) {
		n = 0
	}
	for _, m := range all {
		places, err := strconv.Atoi(m[1])
		if err != nil {
			places = slices.Index(strings.Fields("zero one two three four five six"), strings.ToLower(m[1]))
		}
		n = max(n, places)
	}
	return n
}

// lack returns what is wrong with the files that are asked for, or "". given are those that there are.
func (f form) lack(given []compare.File) string {
	for _, name := range f.files {
		i := slices.IndexFunc(given, func(g compare.File) bool { return g.Name == name && g.Digest != "" })
		if i < 0 {
			return fmt.Sprintf("the file %s, which is asked for, has not been written to the current folder", name)
		}
		if lack := given[i].Lack(); lack != "" {
			return fmt.Sprintf("the file %s, which is asked for, does not have %s", name, lack)
		}
	}
	return ""
}

// problem returns what is wrong with an answer's form, or "".
func (f form) problem(answer string) string {
	if saidIn(f.words, answer) || len(f.files) > 0 && strings.Contains(answer, f.files[0]) {
		return ""
	}
	for _, rule := range rules {
		said := rule.says().FindStringSubmatch(f.words)
		if said != nil && !rule.fits(said, f.words, answer) {
			return fmt.Sprintf("the form asks for “%s”, and the answer is another",
				brief.OneLine(brief.Clip(said[0], 200)))
		}
	}
	for _, token := range aToken().FindAllString(answer, -1) {
		m := append(exact().FindStringSubmatch(token), "", "", "")
		if power, _ := strconv.Atoi(m[2]); f.decimals >= 0 && len(m[1])-power > f.decimals {
			return fmt.Sprintf("the answer has %s, and its form asks for %d decimals", token, f.decimals)
		}
	}
	return ""
}

var (
	aToken = lazy.Regexp(`[\pL\d_.]*\d[eE][-+]\d+|[\pL\d_.]+`)
	exact  = lazy.Regexp(`^\d*\.(\d+)(?:[eE]([-+]?\d+))?\.*$`)
)

// bare returns an answer without the marks around it.
func bare(answer string) string { return strings.Trim(answer, " .\"'“”‘’") }

// saidIn reports whether a text names the words of an answer, which has no digits, in quotation marks,
// after "answer" or before "if": forms name what else the answer may be.
func saidIn(text, answer string) bool {
	if answer = bare(answer); answer == "" || strings.ContainsFunc(answer, unicode.IsDigit) {
		return false
	}
	is := regexp.QuoteMeta(answer)
	return regexp.MustCompile(`(?i)\b(?:answer|say|write|print|return|reply|output|otherwise|else)` +
		`(?:\s+(?:with|by|is|be))?[^\pL\pN]+` + is + `(?:\PL|$)|(?:\PL|^)` + is + `,?\s+(?:if|when|where)\b|` +
		`["'“‘]` + is + `\.?["'”’]`).MatchString(text)
}

// anObject matches what a program prints of an object that is no value, or is empty.
var anObject = lazy.Regexp(`^Empty DataFrame\b|^(?:Series|\w*Index|array)\(\[\]|<[^<>\n]+ at 0x[0-9a-fA-F]+>|` +
	`^<(?:class|bound method) `)

// unfit returns what is wrong with the answer that a last cell has printed, or with its sentences, or
// "": the form is not kept, it is no answer, or the sentences have other figures.
func (r *run) unfit(ctx context.Context, v record.Verdict, a record.Attempt) (string, error) {
	answer, f := strings.TrimSpace(a.Execution.Stdout()), formOf(r.t.Task)
	named := saidIn(f.words, answer)
	switch {
	case v.Inconclusive && (named || compare.IsNone(answer)):
		return "", nil
	case v.Inconclusive:
		return "the verdict is that the data hold no answer, and the cell prints " + brief.Clip(answer, 100), nil
	case !named && (anObject().MatchString(answer) || compare.IsBlank(answer)):
		return "it is no answer: " + brief.OneLine(brief.Clip(answer, 100)), nil
	}
	files, err := r.filesGiven(ctx, r.work, r.chain(), a.Code, answer)
	problem := f.problem(answer)
	if r.work.host == nil {
		problem = cmp.Or(f.lack(files), problem)
	}
	if problem != "" || err != nil {
		return problem, err
	}
	said := record.SummaryOf(a.Execution)
	missing, other := compare.Missing(answer, said), compare.Foreign(said, f.words+r.t.Task.Question+r.printed())
	if missing != "" && other != "" {
		return fmt.Sprintf("the summary says %s, which no cell has printed, in place of the answer, %s",
			other, missing), nil
	}
	return "", nil
}

// What question and form say of the order of items.
const anExtreme = `(?:\w+est|most|least|worst|high|low)`

var (
	anyOrder = lazy.Regexp(`(?i)\bany\s+order\b|\border\s+(?:does\s+not|doesn't)\b|\bunordered\b`)
	// "sort of" and "rank" as the name of a column are no orders
	inOrder = lazy.Regexp(`(?i)\b(?:order(?:ed)?\s+(?:by|from)|in\s+(?:\w+\s+)?order|sorted|ranked|` +
		`(?:sort|rank(?:ing)?)\s+(?:\w+\s+){0,3}by|ascending|descending|by\s+(?:de|in)creasing|top|` +
		anExtreme + `\s+(?:first|to\s+` + anExtreme + `)|from\s+(?:the\s+)?(?:\w+est|most|least)|` +
		`chronological\w*|alphabetical\w*|in\s+(?:the\s+)?(?:sequence|reverse)|a(?:\s+to\s+|-)z|` +
		`(?:ab|auf)steigend\w*|sortiert\w*|geordnet\w*|(?:dé)?croissante?s?)\b`)
	// "which stores", "what are the names of the stores", "a list of stores"
	manyNames = lazy.Regexp(`(?i)\b(?:which|what\s+(?:are|(?:sort|kind|type)s?\s+of)|who\s+are|list|` +
		`name\s+all|names)\s+(?:[\w-]+\s+){0,4}?[\w-]{2,}(?:[^\Wsiue]|[^\Wo]e)s\b`)
	// "the winner and the loser", "by month", "in each quarter", "from north to south", "the steps"
	haveRoles = lazy.Regexp(`(?i)\b(?:and|by|per|each|every|from|respectively|followed|steps|stages|` +
		`\w{2,}est|most|least|first|last|second|worst|min\w*|max\w*)\b`)
)

// asked returns what question and form say of the answer, for comparisons.
func asked(t *record.Trajectory) compare.Asked {
	words := t.Task.Question + "\n" + t.Task.Guidelines
	return compare.Asked{Decimals: formOf(t.Task).decimals, Order: orderIn(words), None: t.Inconclusive()}
}

// orderIn reads from question and form whether the order of an answer's items matters. It may, unless
// they ask for names and have no word that gives each a role, such as the largest and the smallest.
func orderIn(words string) compare.Order {
	switch {
	case anyOrder().MatchString(words):
		return compare.Free
	case inOrder().MatchString(words):
		return compare.Fixed
	case manyNames().MatchString(words) && !haveRoles().MatchString(words):
		return compare.Names
	}
	return compare.Unsaid
}

// printed returns what the accepted cells have printed.
func (r *run) printed() string {
	var b strings.Builder
	for _, round := range r.t.Accepted() {
		b.WriteString(round.Accepted().Execution.PlainText() + "\n")
	}
	return b.String()
}
