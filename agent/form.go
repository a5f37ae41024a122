package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	sorted   bool     // names are in the order of the alphabet
}

// Parts of the patterns below.
const (
	numberKind = `(?:(?:single|whole|real|decimal|natural|positive)\s+)*(?:number|integer|float|percentage)`
	aFile      = `[\pL\d_.-]+\.(?:csv|tsv|tab|txt|md|jsonl?|geojson|xml|ya?ml|parquet|feather|xlsx?|ods|docx?|` +
		`pptx|png|jpe?g|svg|gif|webp|pdf|html?|npy|npz|pkl|pickle|joblib|h5|hdf5|sqlite|db|sql|py|ipynb|zip|gz)`
	many     = `(\d|two|three|four|five|six)\s+(?:\w+\s+)?(?:numbers|values|names|items)`
	isQuoted = `["'“‘][^"'“”‘’\n]{1,40}["'”’]`
	aMonth   = `(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*`
	aForm    = `\b(?:YYYY[-./]MM[-./]DD|(?:DD[-./]MM|MM[-./]DD)[-./]YYYY)\b`
)

// What guidelines say of an answer.
var (
	jsonForm = lazy.Regexp(`(?i)\b(?:as|a|valid|in)\s+JSON\b(?:\s+(list|array|object)\b)?`)
	jsonKeys = lazy.Regexp(`(?i)\bkeys:?\s+((?:["'“‘][^"'”’\n]{1,40}["'”’](?:\s*,?\s+and\s+|\s*,\s*)?)+|` +
		`\w+(?:,\s*\w+)*,?\s+and\s+\w+(?:[.;\n]|$))`)
	never   = lazy.Regexp(`[^\s\S]`)
	perEach = lazy.Regexp(`(?i)\b(?:each|every|per)\b`)
	labels  = lazy.Regexp(`(?s)@[A-Za-z_]\w*\[.*`)
	label   = lazy.Regexp(`@[A-Za-z_]\w*\[`)
	choice  = lazy.Regexp(`(?i)\b(?:either|one\s+of|must\s+be|answer\s+with)\b[:\s]+((?:["'“‘][^"'”’\n]{1,40}["'”’][\s,]*(?:or\s+|and\s+)?){2,})`)
	// either of two, and nothing else
	eitherOf = lazy.Regexp(`(?i)^\W*(?:(?:just|only|answer|with|must|be)\W+)*(` + isQuoted + `\s+or\s+` + isQuoted +
		`|(?:yes|true)\s+or\s+(?:no|false))\W*$`)
	oneLetter = lazy.Regexp(`(?:^|\bone of|\bletter|\b[Aa]nswer(?: with)?)\W*([A-Z](?:\s*,\s*[A-Z])*,?\s+or\s+[A-Z])\W*$`)
	manyItems = lazy.Regexp(`(?i)\b` + many + `,?\s+(?:that\s+are\s+)?separated\s+by\b|` +
		`\bexactly\s+` + many + `\b|^\W*(?:the\s+)?(?:top\s+)?` + many + `\W*$`)
	dateForm = lazy.Regexp(aForm)
	twoDates = lazy.Regexp(`(?s)` + aForm + `.*` + aForm)
	aNumber  = lazy.Regexp(`(?i)\b(?:an?|one)\s+` + numberKind + `\b(\s+of\b)?`)
	onlyOne  = lazy.Regexp(`(?i)\b(?:(?:just|only)\s+an?|exactly\s+one|a\s+single)\s+(?:` +
		numberKind + `|name)\b|\bone\s+name\b`)
	several  = lazy.Regexp(`(?i)\b(?:each|every|per|list|followed|and)\b|@[a-z_]\w*\[`)
	positive = lazy.Regexp(`(?i)(?:^|[^-\pL])positive\s+(?:whole\s+)?(?:number|integer|float|percentage|value)\b`)
	negative = lazy.Regexp(`(?i)negative`)
	between  = lazy.Regexp(`(?i)\b(?:number|integer|float|percentage|fraction|share|proportion|` +
		`probability|value|score|decimal|correlation|coefficient)\s+(?:that\s+is\s+)?(?:between|from|(?:with)?in)\s+` +
		`(?:the\s+range\s+)?(?:(?:of|from)\s+)?\[?(-?\d+(?:\.\d+)?)%?\s*(?:and|to|,|-|–)\s*` +
		`(-?\d+(?:\.\d+)?)\b`)
)

// rules are what the first match of a pattern in the guidelines says, unless another one matches,
// too. said has the match with its groups.
var rules = []struct {
	says, unless func() *regexp.Regexp
	fits         func(said []string, answer string) bool
}{
	{jsonForm, never, func(said []string, answer string) bool {
		var value any
		err := json.Unmarshal([]byte(answer), &value)
		_, isList := value.([]any)
		_, isObject := value.(map[string]any)
		kind := strings.ToLower(said[1])
		return err == nil && (kind == "" || kind == "object" && isObject || kind != "object" && isList)
	}},
	{jsonKeys, perEach, func(said []string, answer string) bool {
		var object map[string]any
		isObject := json.Unmarshal([]byte(answer), &object) == nil
		lacks := func(key string) bool { _, has := object[key]; return !has }
		return !isObject || !slices.ContainsFunc(listed(said[1]), lacks)
	}},
	{labels, never, func(said []string, answer string) bool {
		lacks := func(label string) bool {
			_, value, has := strings.Cut(answer, label)
			return !has || strings.HasPrefix(strings.TrimSpace(value), "]")
		}
		return !slices.ContainsFunc(label().FindAllString(said[0], -1), lacks)
	}},
	{choice, never, isListed},
	{eitherOf, choice, isListed},
	{oneLetter, choice, isListed},
	{manyItems, perEach, func(said []string, answer string) bool {
		n, items := smallNumber(said[1]+said[2]+said[3]), itemsOf(answer)
		few := len(items) < n && (len(items) > 1 || len(strings.Fields(answer)) < n)
		return !few && compare.Count(answer) <= n
	}},
	{dateForm, twoDates, func(said []string, answer string) bool {
		asked := regexp.MustCompile(`\b` + dateMarks.Replace(said[0]) + `\b`)
		return !aDate().MatchString(asked.ReplaceAllString(answer, ""))
	}},
	{aNumber, labels, func(said []string, answer string) bool {
		return said[1] != "" || strings.ContainsFunc(answer, unicode.IsDigit)
	}},
	{onlyOne, several, func(said []string, answer string) bool { // perhaps with a unit
		_, isNumber := compare.Number(answer)
		isName := !strings.ContainsAny(answer, "\n;") && !strings.HasPrefix(answer, "[")
		return isNumber || isName && strings.HasSuffix(strings.ToLower(said[0]), "name")
	}},
	{positive, negative, func(_ []string, answer string) bool {
		value, isNumber := compare.Number(answer)
		return !isNumber || value > 0
	}},
	{between, never, func(said []string, answer string) bool {
		value, isNumber := compare.Number(answer)
		least, _ := strconv.ParseFloat(said[1], 64)
		most, _ := strconv.ParseFloat(said[2], 64)
		return !isNumber || value >= least && value <= most
	}},
}

// What else question and guidelines say.
var (
	decimalPlaces = lazy.Regexp(`(?i)\b(\d{1,2}|one|two|three|four|five|six)\s+(?:decimals?\b|(?:decimal|digits?\s+after)\b)`)
	wholeNumber   = lazy.Regexp(`(?i)\b(?:whole\s+number|(?:an|one|single|nearest|only)\s+integer|integer\s+(?:value|only))\b`)
	asWholeNumber = lazy.Regexp(`(?i)\b(?:as|to)\s+(?:an?|the\s+nearest)\s+(?:whole\s+number|integer)\b`)
	alphabetical  = lazy.Regexp(`(?i)\balphabetical(?:ly|\s+order)\s*(?:[.,;?!\n]|$)`)
	otherwise     = lazy.Regexp(`(?i)\b(?:by|ties?|descending|reverse)\b`)
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
	f.sorted = alphabetical().MatchString(both) && !otherwise().MatchString(both)
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

// smallNumber reads digits, or the word for a number.
func smallNumber(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		n = slices.Index(strings.Fields("zero one two three four five six"), strings.ToLower(text))
	}
	return n
}

// decimalsIn returns how many decimals a text asks for, and whether it says anything of them; -1 if
// each part of the answer has others.
func decimalsIn(text string, whole *regexp.Regexp) (n int, said bool) {
	places := map[int]bool{}
	for _, m := range decimalPlaces().FindAllStringSubmatch(text, -1) {
		n = smallNumber(m[1])
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

// problem returns what is wrong with an answer's form, or "". written is the folder of the cells;
// nil: it is not known.
func (f form) problem(answer string, written fs.FS) string {
	asked := f.files
	if whole := bare(answer); slices.Contains(f.named, whole) {
		asked = append(slices.Clip(asked), whole)
	}
	for _, name := range asked {
		if problem := fileProblem(written, name); problem != "" {
			return fmt.Sprintf("the file %s, which is asked for, %s", name, problem)
		}
	}
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
	if f.sorted && !isSorted(itemsOf(answer)) {
		return "the form asks for the order of the alphabet, and the answer has another"
	}
	return f.tooExact(answer)
}

// fileProblem returns what is wrong with a file that cells were to write, or "".
func fileProblem(written fs.FS, name string) string {
	if written == nil {
		return ""
	}
	const missing = "has not been written to the current folder"
	f, err := written.Open(name)
	if err != nil {
		return missing
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() == 0 {
		return missing
	}
	file, err := compare.ReadFile(name, f)
	if lack := file.Lack(); err == nil && lack != "" {
		return "does not have " + lack
	}
	return ""
}

// bare returns an answer without the marks around it.
func bare(answer string) string { return strings.Trim(answer, " .\"'") }

// isListed reports whether an answer is one of those that are said.
func isListed(said []string, answer string) bool {
	is := func(one string) bool { return strings.EqualFold(bare(answer), one) }
	return slices.ContainsFunc(listed(said[1]), is)
}

var (
	aDate = lazy.Regexp(`(?i)\b(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|` +
		aMonth + `\.?\s+\d{1,2}|\d{1,2}\.?\s+` + aMonth + `)\b`)
	dateMarks = strings.NewReplacer("YYYY", `\d{4}`, "MM", `\d\d`, "DD", `\d\d`, ".", `\.`)
	quoted    = lazy.Regexp(`["'“‘]([^"'”’\n]{1,40})["'”’]`)
	unsaid    = lazy.Regexp(`[.,;\s]+(?:(?:and|or)\s+)?`)
)

// listed returns what stands in quotation marks in a text or, if nothing does, its words.
func listed(text string) (all []string) {
	for _, m := range quoted().FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	if all == nil {
		all = unsaid().Split(text, -1)
	}
	return slices.DeleteFunc(all, func(one string) bool { return one == "" })
}

// itemsOf returns the items of an answer.
func itemsOf(answer string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(answer, " and ", ","),
		func(c rune) bool { return strings.ContainsRune(",;\n", c) })
}

// isSorted reports whether names can be in the order of the alphabet, with or without spaces.
func isSorted(names []string) bool {
	unsure := func(c rune) bool { return c > unicode.MaxASCII || unicode.IsDigit(c) || c == ':' }
	other := func(c rune) bool { return !unicode.IsLetter(c) }
	folded, letters := slices.Clone(names), slices.Clone(names)
	for i, name := range names {
		folded[i] = strings.ToLower(strings.Trim(name, " \t\"'[]"))
		letters[i] = strings.Join(strings.FieldsFunc(folded[i], other), "")
	}
	return slices.IsSorted(names) || slices.IsSorted(folded) || slices.IsSorted(letters) ||
		strings.ContainsFunc(strings.Join(names, ""), unsure)
}

var (
	aToken = lazy.Regexp(`[\pL\d_.]*\d[eE][-+]\d+|[\pL\d_.]+`)
	exact  = lazy.Regexp(`^\d*\.(\d+)(?:[eE]([-+]?\d+))?\.*$`)
)

// tooExact says which number of an answer has more decimals than are asked for, or returns "".
func (f form) tooExact(answer string) string {
	for _, token := range aToken().FindAllString(answer, -1) {
		m := append(exact().FindStringSubmatch(token), "", "", "")
		if power, _ := strconv.Atoi(m[2]); f.decimals >= 0 && len(m[1])-power > f.decimals {
			return fmt.Sprintf("the answer has %s, and its form asks for %d decimals", token, f.decimals)
		}
	}
	return ""
}

// Before and after words that a form names as an answer.
var (
	beforeAnswer = lazy.Regexp(`(?i)\b(?:answer|say|write|print|return|respond|reply|output|otherwise|` +
		`else)(?:\s+(?:with|by|is|be))?\W+$`)
	afterAnswer = lazy.Regexp(`(?i)^,?\s+(?:if|when|where|in\s+case)\b`)
	openQuote   = lazy.Regexp(`["'“‘]$`)
	closeQuote  = lazy.Regexp(`^\.?["'”’]`)
)

// saidIn reports whether a text names the words of an answer, which has no digits, in quotation marks,
// after "answer" or before "if": forms name what else the answer may be.
func saidIn(text, answer string) bool {
	answer = bare(answer)
	if answer == "" || strings.ContainsFunc(answer, unicode.IsDigit) {
		return false
	}
	for _, at := range regexp.MustCompile("(?i)"+regexp.QuoteMeta(answer)).FindAllStringIndex(text, -1) {
		before, after := text[:at[0]], text[at[1]:]
		first, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		isNamed := beforeAnswer().MatchString(before) || afterAnswer().MatchString(after) ||
			openQuote().MatchString(before) && closeQuote().MatchString(after)
		if isNamed && !unicode.IsLetter(first) && !unicode.IsLetter(next) {
			return true
		}
	}
	return false
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
	there := r.chain(a.Code)
	there.Steps = append(there.Steps, a.Code)
	f := formOf(r.t.Task)
	problem, err := look(ctx, r.work, "form", there, []any{answer, f.files, f.named, words},
		func(context.Context) (string, error) {
			root := r.work.filesWritten()
			if root == nil {
				return f.problem(answer, nil), nil
			}
			defer root.Close()
			return f.problem(answer, root.FS()), nil
		})
	if problem != "" || err != nil {
		return problem, err
	}
	said := record.SummaryOf(a.Execution)
	if missing := compare.Missing(answer, said); missing != "" {
		if other := compare.Foreign(said, words+r.t.Task.Question+r.printed()); other != "" {
			return fmt.Sprintf("the summary says %s, which no cell has printed, in place of the answer, %s",
				other, missing), nil
		}
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
