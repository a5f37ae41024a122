package agent

import (
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
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/lazy"
)

// A form is what question and guidelines say about an answer that a program can check.
type form struct {
	decimals int      // at most; -1: not said
	json     bool     // JSON text
	choices  []string // one of these
	labels   []string // each occurs: @mean[…]
	files    []string // each is written
	named    []string // files that are no data: one that is all of the answer is written
	number   bool     // it has a number
	alone    bool     // it is one number, perhaps with a unit, or one name
	between  []string // the bounds of its number, as they are written; nil: none
	items    int      // so many at least, between commas or semicolons
	words    string   // the guidelines: what stands there may be the answer
}

// numberKind matches what a form calls a number.
const numberKind = `(?:(?:single|whole|real|decimal|natural|positive)\s+)*(?:number|integer|float|percentage)`

// aFile matches the name of a file.
const aFile = `[\pL\d_.-]+\.(?:csv|tsv|tab|txt|md|jsonl?|geojson|xml|ya?ml|parquet|feather|xlsx?|ods|docx?|` +
	`pptx|png|jpe?g|svg|gif|webp|pdf|html?|npy|npz|pkl|pickle|joblib|h5|hdf5|sqlite|db|sql|py|ipynb|zip|gz)`

var (
	decimalPlaces = lazy.Regexp(`(?i)\b(\d{1,2}|one|two|three|four|five|six)\s+(?:decimals?\b|(?:decimal|digits?\s+after)\b)`)
	wholeNumber   = lazy.Regexp(`(?i)\b(?:whole\s+number|(?:an|one|single|nearest|only)\s+integer|integer\s+(?:value|only))\b`)
	asWholeNumber = lazy.Regexp(`(?i)\b(?:as|to)\s+(?:an?|the\s+nearest)\s+(?:whole\s+number|integer)\b`)
	jsonForm      = lazy.Regexp(`(?i)\b(?:as|a|valid|in)\s+JSON\b`)
	aNumber       = lazy.Regexp(`(?i)\b(?:an?|one)\s+` + numberKind + `\b(\s+of\b)?`)
	onlyOne       = lazy.Regexp(`(?i)\b(?:(?:just|only)\s+an?|exactly\s+one|a\s+single)\s+(?:` +
		numberKind + `|name)\b|\bone\s+name\b`)
	several = lazy.Regexp(`(?i)\b(?:each|every|per|list|followed|and)\b`)
	between = lazy.Regexp(`(?i)\b(?:number|integer|float|percentage|fraction|share|proportion|` +
		`probability|value|score|decimal)\s+(?:that\s+is\s+)?(?:between|from|(?:with)?in)\s+` +
		`(?:the\s+range\s+)?(?:(?:of|from)\s+)?\[?(-?\d+(?:\.\d+)?)%?\s*(?:and|to|,|-|–)\s*` +
		`(-?\d+(?:\.\d+)?)\b`)
	label    = lazy.Regexp(`@([A-Za-z_]\w*)\[`)
	choice   = lazy.Regexp(`(?i)\b(?:either|one\s+of|must\s+be|answer\s+with)\b[:\s]+((?:["'“‘][^"'”’\n]{1,40}["'”’][\s,]*(?:or\s+|and\s+)?){2,})`)
	eitherOf = lazy.Regexp(`(?i)^\W*(?:(?:just|only|answer|with|must|be)\W+)*` +
		`(?:["'“‘](\w+)["'”’]\s+or\s+["'“‘](\w+)["'”’]|(yes|true)\s+or\s+(no|false))\W*$`)
	manyItems = lazy.Regexp(`(?i)\b(\d|two|three|four|five|six)\s+(?:\w+\s+)?(?:numbers|values|names|words|items),?\s+` +
		`(?:that\s+are\s+)?separated\s+by\b`)
	quoted   = lazy.Regexp(`["'“‘]([^"'”’\n]{1,40})["'”’]`)
	fileName = lazy.Regexp(`(?i)\b(?:save|saved|write|written|store|stored|export|named|called|output|as)\b[^.\n]{0,60}?["'` + "`" + `]?(` + aFile + `)\b`)
	anyFile  = lazy.Regexp(`(?i)` + aFile + `\b`)
)

var smallNumbers = []string{"zero", "one", "two", "three", "four", "five", "six"}

// formOf reads the form from a task's question and guidelines. What it does not recognise is not
// checked.
func formOf(task record.Task) form {
	guidelines := task.Guidelines
	f := form{words: guidelines}
	both := task.Question + "\n" + guidelines
	said := false
	if f.decimals, said = decimalsIn(guidelines, wholeNumber()); !said {
		f.decimals, _ = decimalsIn(task.Question, asWholeNumber())
	}
	if m := aNumber().FindStringSubmatch(guidelines); m != nil {
		f.number = m[1] == ""
	}
	f.alone = onlyOne().MatchString(guidelines) && !several().MatchString(guidelines)
	if m := between().FindStringSubmatch(guidelines); m != nil {
		f.between = m[1:]
	}
	f.json = jsonForm().MatchString(guidelines)
	for _, m := range label().FindAllStringSubmatch(guidelines, -1) {
		f.labels = append(f.labels, m[1])
		f.number, f.alone = false, false
	}
	if m := choice().FindStringSubmatch(guidelines); m != nil {
		for _, q := range quoted().FindAllStringSubmatch(m[1], -1) {
			f.choices = append(f.choices, q[1])
		}
	}
	if m := eitherOf().FindStringSubmatch(guidelines); m != nil && len(f.choices) == 0 {
		f.choices = []string{m[1] + m[3], m[2] + m[4]}
	}
	if m := manyItems().FindStringSubmatch(guidelines); m != nil {
		f.items = smallNumber(m[1])
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

// smallNumber reads digits, or one of smallNumbers.
func smallNumber(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		n = slices.Index(smallNumbers, strings.ToLower(text))
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

// problem returns what is wrong with an answer's form, or "". written is the folder of the cells.
func (f form) problem(answer string, written fs.FS) string {
	files := f.files
	if whole := strings.Trim(answer, " .\"'"); slices.Contains(f.named, whole) {
		files = append(slices.Clip(files), whole)
	}
	for _, name := range files {
		if written == nil {
			break
		}
		if info, err := fs.Stat(written, name); err != nil || info.Size() == 0 {
			return fmt.Sprintf("the file %s, which is asked for, has not been written to the current "+
				"folder", name)
		}
		if lack := lackOf(written, name); lack != "" {
			return fmt.Sprintf("the file %s, which is asked for, does not have %s", name, lack)
		}
	}
	if saidIn(f.words, answer) || len(f.files) > 0 && strings.Contains(answer, f.files[0]) {
		return ""
	}
	if f.json && !json.Valid([]byte(answer)) {
		return "the answer is not valid JSON, and the form asks for JSON"
	}
	for _, l := range f.labels {
		if !strings.Contains(answer, "@"+l+"[") {
			return "the answer lacks the label @" + l + "[…] of its form"
		}
	}
	is := func(c string) bool { return strings.EqualFold(strings.Trim(answer, " .\"'"), c) }
	if len(f.choices) > 1 && !slices.ContainsFunc(f.choices, is) {
		return "the answer must be one of: " + strings.Join(f.choices, ", ")
	}
	separators := func(c rune) bool { return strings.ContainsRune(",;\n", c) }
	if n := len(strings.FieldsFunc(answer, separators)); n < f.items {
		return fmt.Sprintf("the form asks for %d items, and the answer has %d", f.items, n)
	}
	return f.numberProblem(answer)
}

// lackOf is [compare.File.Lack] for a file; "" if it cannot be read.
func lackOf(folder fs.FS, name string) string {
	f, err := folder.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	file, err := compare.ReadFile(name, f)
	if err != nil {
		return ""
	}
	return file.Lack()
}

// numberProblem returns what is wrong with the numbers of an answer, and with their count, or "".
func (f form) numberProblem(answer string) string {
	value, isNumber := compare.Number(answer)
	switch {
	case f.number && !strings.ContainsFunc(answer, unicode.IsDigit):
		return "the form asks for a number, and the answer has none"
	case f.number && f.alone && !isNumber:
		return "the form asks for one number and nothing else"
	case f.alone && !f.number && (strings.ContainsAny(answer, "\n;") || strings.HasPrefix(answer, "[")):
		return "the form asks for one name, and the answer has several"
	case f.between != nil && isNumber && (value < bound(f.between[0]) || value > bound(f.between[1])):
		return fmt.Sprintf("the answer must be between %s and %s", f.between[0], f.between[1])
	}
	mark := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '.' && c != '_' }
	for _, word := range strings.FieldsFunc(answer, mark) {
		whole, fraction, _ := strings.Cut(strings.TrimRight(word, "."), ".")
		digits := !strings.ContainsFunc(whole+fraction, func(c rune) bool { return !unicode.IsDigit(c) })
		if f.decimals >= 0 && digits && len(fraction) > f.decimals {
			return fmt.Sprintf("the answer has %s, and its form asks for %d decimals", word, f.decimals)
		}
	}
	return ""
}

// bound returns the value of a bound, which is a number.
func bound(text string) float64 {
	value, _ := strconv.ParseFloat(text, 64)
	return value
}

// saidIn reports whether a text has the words of an answer, which has no digits: forms name what else
// the answer may be.
func saidIn(text, answer string) bool {
	answer = strings.Trim(answer, " .\"'")
	if answer == "" || strings.ContainsFunc(answer, unicode.IsDigit) {
		return false
	}
	for _, at := range regexp.MustCompile("(?i)"+regexp.QuoteMeta(answer)).FindAllStringIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		after, _ := utf8.DecodeRuneInString(text[at[1]:])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) {
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
func (r *standard) unfit(v record.Verdict, last notebook.Execution) string {
	answer, words := strings.TrimSpace(last.Stdout()), r.t.Task.Guidelines
	if v.Inconclusive {
		if compare.IsNone(answer) || saidIn(words, answer) {
			return ""
		}
		return "the verdict is that the data hold no answer, and the cell prints " + brief.Clip(answer, 100)
	}
	if isNone := noValue().MatchString(answer) || compare.IsBlank(answer); isNone && !saidIn(words, answer) {
		return "it is no answer: " + brief.OneLine(brief.Clip(answer, 100))
	}
	if problem := r.formProblem(answer); problem != "" {
		return problem
	}
	said := record.SummaryOf(last)
	if missing := compare.Missing(answer, said); missing != "" {
		if other := compare.Foreign(said, words+r.t.Task.Question+r.printed()); other != "" {
			return fmt.Sprintf("the summary says %s, which no cell has printed, in place of the answer, %s",
				other, missing)
		}
	}
	return ""
}

// printed returns what the accepted cells have printed.
func (r *workspace) printed() string {
	var b strings.Builder
	for _, n := range r.t.AcceptedRounds() {
		a, _ := r.t.Rounds[n].Accepted()
		b.WriteString(a.Execution.PlainText() + "\n")
	}
	return b.String()
}

// formProblem is [form.problem] for the run's task and files.
func (r *standard) formProblem(answer string) string {
	f := formOf(r.t.Task)
	root := r.filesWritten()
	if root == nil {
		return f.problem(answer, nil)
	}
	defer root.Close()
	return f.problem(answer, root.FS())
}

var (
	anyOrder = lazy.Regexp(`(?i)\bany\s+order\b|\border\s+(?:does\s+not|doesn't)\b|\bunordered\b`)
	// "sort of" and "rank" as the name of a column are no orders
	inOrder = lazy.Regexp(`(?i)\b(?:order(?:ed)?\s+(?:by|from)|in\s+(?:\w+\s+)?order|sorted|` +
		`sort\s+(?:\w+\s+){0,3}by|ranked|rank(?:ing)?\s+(?:\w+\s+){0,2}by|ascending|descending|` +
		`\w+est\s+first|most\s+first|least\s+first|by\s+(?:de|in)creasing|top|` +
		`from\s+(?:the\s+)?(?:\w+est|most|least)|chronological\w*|alphabetical\w*|` +
		`in\s+(?:the\s+)?(?:sequence|reverse)|a(?:\s+to\s+|-)z|` +
		`(?:\w+est|worst|high|low)\s+to\s+(?:\w+est|worst|high|low)|` +
		`absteigend\w*|aufsteigend\w*|sortiert\w*|geordnet\w*|(?:dé)?croissante?s?)\b`)
	// "which stores", "what are the names of the stores", "a list of stores", with their clause
	manyNames = lazy.Regexp(`(?i)\b((?:which|what\s+(?:are|(?:sort|kind|type)s?\s+of)|who\s+are|list|` +
		`name\s+all|names)\s+(?:[\w-]+\s+){0,4}?[\w-]{2,}(?:[^\Wsiue]|[^\Wo]e)s|` +
		`welchen?\s+(?:\pL+\s+){0,3}?(?-i:\p{Lu})\pL+[nrs]|quel(?:le)?s\s+(?:\pL+\s+){0,3}?\pL+[sx])` +
		`((?:[^\pL\d.?!\n][^.?!\n]*)?)(?:[.?!\n]|$)`)
	// the names come by something else, or are those of steps, or of two things
	inSteps   = lazy.Regexp(`(?i)^,?\s*(?:by|per|and|nach|je|pro|und|par|et)\b`)
	stepNames = lazy.Regexp(`(?i)\b(?:and|und|et)\b|\b(?:ranks|steps|stages|phases)$`)
	asking    = lazy.Regexp(`(?i)(?:^|[.?!\n])\s*(?:which|what|who|list|name|give|find|return|report|` +
		`welche|quel)[^.?!\n]*|[^.?!\n]*\?`)
	// "the winner and the loser", "in January and February", "in each quarter", "from north to south"
	hasRoles = lazy.Regexp(`(?i)\b(?:and|und|et)\s+(?:(?:the|their|its|a|der|die|das|le|la|les)\s+)?` +
		`[\pL\d-]+\s*(?:$|[,;?.!]|\b(?:of|in|for|names?|von|de)\b)|\b(?:of|in|for)\s+(?:each|every)\b|` +
		`\b\d{4}\s*,\s*\d{4}\b|\bfrom\b.+\bto\b|\bvon\b.+\b(?:bis|nach)\b|\bde\b.+\sà\s`)
	aRange = lazy.Regexp(`(?i)\bbetween\s+\S+\s+and\s+\S+`)
	aRole  = lazy.Regexp(`(?i)\b(?:\w{2,}est|most|least|first|last|second|worst|min\w*|max\w*|` +
		`respectively|followed|meisten|wenigsten|\pL+[sßz]te[nrs]?|le\s+plus|le\s+moins)\b`)
)

// asked returns what question and form say of the answer, for comparisons.
func asked(t *record.Trajectory) compare.Asked {
	words := t.Task.Question + "\n" + t.Task.Guidelines
	return compare.Asked{Words: words, Decimals: formOf(t.Task).decimals, Order: orderIn(words),
		None: t.Inconclusive()}
}

// orderIn reads from question and form whether the order of an answer's items matters. It does where
// each has a role, the largest and the smallest.
func orderIn(words string) compare.Order {
	roles := map[string]bool{}
	for _, role := range aRole().FindAllString(words, -1) {
		roles[strings.ToLower(role)] = true
	}
	switch {
	case anyOrder().MatchString(words):
		return compare.Free
	case inOrder().MatchString(words):
		return compare.Fixed
	case len(roles) < 2 && !roles["respectively"] && asksNames(words):
		return compare.Names
	}
	return compare.Unsaid
}

// asksNames reports whether a text asks for a set of names: nothing in the clause, or in another
// sentence that asks, gives each a role.
func asksNames(words string) bool {
	words = aRange().ReplaceAllString(words, "")
	if slices.ContainsFunc(asking().FindAllString(words, -1), hasRoles().MatchString) {
		return false
	}
	clauses := manyNames().FindAllStringSubmatch(words, -1)
	return len(clauses) > 0 && !slices.ContainsFunc(clauses, func(m []string) bool {
		return stepNames().MatchString(m[1]) || inSteps().MatchString(m[2]) || hasRoles().MatchString(m[0])
	})
}
