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
	decimals int      // at most; -1: not said
	files    []string // each is written
	named    []string // files that are no data: one that is all of the answer is written
	words    string   // the guidelines: what stands there may be the answer
}

// Parts of the patterns below.
const (
	numberKind = `(?:(?:single|whole|real|decimal|natural|positive)\s+)*(?:number|integer|float|percentage)`
	aFile      = `[\pL\d_.-]+\.(?:csv|tsv|tab|txt|md|jsonl?|geojson|xml|ya?ml|parquet|feather|xlsx?|ods|docx?|` +
		`pptx|png|jpe?g|svg|gif|webp|pdf|html?|npy|npz|pkl|pickle|joblib|h5|hdf5|sqlite|db|sql|py|ipynb|zip|gz)`
	isQuoted = `["'“‘][^"'“”‘’\n]{1,40}["'”’]`
)

// rules are what the first match of a pattern in the guidelines says, unless another one matches,
// too. said has the match with its groups.
var rules = []struct {
	says, unless func() *regexp.Regexp
	fits         func(said []string, answer string) bool
}{
	{lazy.Regexp(`(?i)\b(?:as|a|valid|in)\s+JSON\b(?:\s+(list|array|object)\b)?`), never,
		func(said []string, answer string) bool {
			var value any
			err := json.Unmarshal([]byte(answer), &value)
			_, isList := value.([]any)
			_, isObject := value.(map[string]any)
			kind := strings.ToLower(said[1])
			return err == nil && (kind == "" || kind == "object" && isObject || kind != "object" && isList)
		}},
	{lazy.Regexp(`(?s)@[A-Za-z_]\w*\[.*`), never, func(said []string, answer string) bool {
		lacks := func(label string) bool {
			_, value, has := strings.Cut(answer, label)
			return !has || strings.HasPrefix(strings.TrimSpace(value), "]")
		}
		return !slices.ContainsFunc(label().FindAllString(said[0], -1), lacks)
	}},
	{lazy.Regexp(`(?im)(?:\b(?:either|one\s+of|must\s+be|answer\s+with)\b[:\s]+|\A\W*?(?:(?:just|only)\s+)?)` +
		`((?:` + isQuoted + `[\s,]*(?:or\s+|and\s+)?){2,}|(?:yes|true)\s+or\s+(?:no|false))\s*(?:[.;]|$)`), never,
		func(said []string, answer string) bool {
			all := quoted().FindAllString(said[1], -1)
			if all == nil {
				all = strings.Split(said[1], " or ")
			}
			is := func(one string) bool { return strings.EqualFold(bare(answer), bare(one)) }
			return slices.ContainsFunc(all, is)
		}},
	{lazy.Regexp(`(?i)\b(?:an?|one)\s+` + numberKind + `\b(\s+of\b)?`), label,
		func(said []string, answer string) bool {
			return said[1] != "" || strings.ContainsFunc(answer, unicode.IsDigit)
		}},
	{lazy.Regexp(`(?i)\b(?:(?:just|only)\s+an?|exactly\s+one|a\s+single)\s+(?:` + numberKind + `|name)\b|\bone\s+name\b`),
		lazy.Regexp(`(?i)\b(?:each|every|per|list|followed|and)\b|@[a-z_]\w*\[`),
		func(said []string, answer string) bool { // perhaps with a unit
			_, isNumber := compare.Number(answer)
			isName := !strings.ContainsAny(answer, "\n;") && !strings.HasPrefix(answer, "[")
			return isNumber || isName && strings.HasSuffix(strings.ToLower(said[0]), "name")
		}},
	{lazy.Regexp(`(?i)\b(?:number|integer|float|percentage|fraction|share|proportion|` +
		`probability|value|score|decimal|correlation|coefficient)\s+(?:that\s+is\s+)?(?:between|from|(?:with)?in)\s+` +
		`(?:the\s+range\s+)?(?:(?:of|from)\s+)?\[?(-?\d+(?:\.\d+)?)%?\s*(?:and|to|,|-|–)\s*` +
		`(-?\d+(?:\.\d+)?)\b`), never, func(said []string, answer string) bool {
		value, isNumber := compare.Number(answer)
		least, _ := strconv.ParseFloat(said[1], 64)
		most, _ := strconv.ParseFloat(said[2], 64)
		return !isNumber || value >= least && value <= most
	}},
}

// What else question and guidelines say.
var (
	never         = lazy.Regexp(`[^\s\S]`)
	label         = lazy.Regexp(`@[A-Za-z_]\w*\[`)
	quoted        = lazy.Regexp(isQuoted)
	decimalPlaces = lazy.Regexp(`(?i)\b(\d{1,2}|one|two|three|four|five|six)\s+(?:decimals?\b|(?:decimal|digits?\s+after)\b)`)
	wholeNumber   = lazy.Regexp(`(?i)\b(?:whole\s+number|(?:an|one|single|nearest|only)\s+integer|integer\s+(?:value|only))\b`)
	asWholeNumber = lazy.Regexp(`(?i)\b(?:as|to)\s+(?:an?|the\s+nearest)\s+(?:whole\s+number|integer)\b`)
	fileName      = lazy.Regexp(`(?i)\b(?:save|saved|write|written|store|stored|export|named|called|output|as)\b[^.\n]{0,60}?["'` + "`" + `]?(` + aFile + `)\b`)
	anyFile       = lazy.Regexp(`(?i)` + aFile + `\b`)
)

// formOf reads the form from a task's question and guidelines. What it does not recognise is not
// checked.
func formOf(task record.Task) form {
	f := form{words: strings.ReplaceAll(task.Guidelines, "\u2212", "-")}
	both, said := task.Question+"\n"+f.words, false
	if f.decimals, said = decimalsIn(f.words, wholeNumber()); !said {
		f.decimals, _ = decimalsIn(task.Question, asWholeNumber())
	}
	isData := func(name string) bool {
		return slices.ContainsFunc(task.Files, func(d record.File) bool { return path.Base(d.Name) == name })
	}
	for _, m := range fileName().FindAllStringSubmatch(both, -1) {
		if name := m[1]; !isData(name) && !slices.Contains(f.files, name) { // "stored in sales.csv"
			f.files = append(f.files, name)
		}
	}
	f.named = slices.DeleteFunc(anyFile().FindAllString(both, -1), isData)
	return f
}

// decimalsIn returns how many decimals a text asks for, and whether it says anything of them; -1 if
// each part of the answer has others.
func decimalsIn(text string, whole *regexp.Regexp) (n int, said bool) {
	places := map[int]bool{}
	for _, m := range decimalPlaces().FindAllStringSubmatch(text, -1) {
		var err error
		if n, err = strconv.Atoi(m[1]); err != nil {
			n = slices.Index(strings.Fields("zero one two three four five six"), strings.ToLower(m[1]))
		}
		places[n] = true
	}
	switch {
	case len(places) == 1:
		return n, true
	case len(places) == 0 && whole.MatchString(text):
		return 0, true
	}
	return -1, len(places) > 0
}

// lack returns what is wrong with the files that are asked for, or "". given are those that there are.
func (f form) lack(answer string, given []compare.File) string {
	asked := f.files
	if whole := bare(answer); slices.Contains(f.named, whole) {
		asked = append(slices.Clip(asked), whole)
	}
	for _, name := range asked {
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
		if said != nil && !rule.unless().MatchString(f.words) && !rule.fits(said, answer) {
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
	return regexp.MustCompile(`(?i)\b(?:answer|say|write|print|return|respond|reply|output|otherwise|else)` +
		`(?:\s+(?:with|by|is|be))?[^\pL\pN]+` + is + `(?:\PL|$)|(?:\PL|^)` + is + `,?\s+(?:if|when|where|in\s+case)\b|` +
		`["'“‘]` + is + `\.?["'”’]`).MatchString(text)
}

// noValue matches an answer, or one that stands in brackets or after a label, that is what a program
// prints in place of a value.
var noValue = lazy.Regexp(`(?:^|[\[:=($€£]\s*)[-+]?(?:nan|NaN|inf|Infinity|None|NaT|<NA>)\s*(?:$|[\])}%])|` +
	`^Empty DataFrame\b|^(?:Series|\w*Index|array)\(\[\]|<[^<>\n]+ at 0x[0-9a-fA-F]+>|^<(?:class|bound method) `)

// unfit returns what is wrong with the answer that a last cell has printed, or with its sentences, or
// "": the form is not kept, it is no answer, or the sentences have other figures.
func (r *run) unfit(ctx context.Context, v record.Verdict, a record.Attempt) (string, error) {
	answer, words := strings.TrimSpace(a.Execution.Stdout()), r.t.Task.Guidelines
	if v.Inconclusive {
		if compare.IsNone(answer) || saidIn(words, answer) {
			return "", nil
		}
		return "the verdict is that the data hold no answer, and the cell prints " + brief.Clip(answer, 100), nil
	}
	if isNone := noValue().MatchString(answer) || compare.IsBlank(answer); isNone && !saidIn(words, answer) {
		return "it is no answer: " + brief.OneLine(brief.Clip(answer, 100)), nil
	}
	f := formOf(r.t.Task)
	files, err := r.filesGiven(ctx, r.work, r.chain(), a.Code, answer)
	problem := f.problem(answer)
	if r.work.host == nil {
		problem = cmp.Or(f.lack(answer, files), problem)
	}
	if problem != "" || err != nil {
		return problem, err
	}
	said := record.SummaryOf(a.Execution)
	missing, other := compare.Missing(answer, said), compare.Foreign(said, words+r.t.Task.Question+r.printed())
	if missing != "" && other != "" {
		return fmt.Sprintf("the summary says %s, which no cell has printed, in place of the answer, %s",
			other, missing), nil
	}
	return "", nil
}

// printed returns what the accepted cells have printed.
func (r *run) printed() string {
	var b strings.Builder
	for _, round := range r.t.Accepted() {
		a, _ := round.Accepted()
		b.WriteString(a.Execution.PlainText() + "\n")
	}
	return b.String()
}
