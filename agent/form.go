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
	json     bool     // JSON text
	jsonKind string   // "list", "object"; "": any
	keys     []string // of that object
	choices  []string // one of these
	labels   []string // each occurs: @mean[…]
	files    []string // each is written
	named    []string // files that are no data: one that is all of the answer is written
	number   bool     // it has a number
	alone    bool     // it is one number, perhaps with a unit, or one name
	between  []string // the bounds of its number, as they are written; nil: none
	positive bool     // it is above zero
	items    int      // so many, between commas or semicolons; 0: not said
	dates    string   // how dates are written, "YYYY-MM-DD"
	sorted   bool     // names in the order of the alphabet
	words    string   // the guidelines: what stands there may be the answer
}

// numberKind matches what a form calls a number.
const numberKind = `(?:(?:single|whole|real|decimal|natural|positive)\s+)*(?:number|integer|float|percentage)`

// aFile matches the name of a file.
const aFile = `[\pL\d_.-]+\.(?:csv|tsv|tab|txt|md|jsonl?|geojson|xml|ya?ml|parquet|feather|xlsx?|ods|docx?|` +
	`pptx|png|jpe?g|svg|gif|webp|pdf|html?|npy|npz|pkl|pickle|joblib|h5|hdf5|sqlite|db|sql|py|ipynb|zip|gz)`

// many matches a number of items.
const many = `(\d|two|three|four|five|six)\s+(?:\w+\s+)?(?:numbers|values|names|items)`

var (
	decimalPlaces = lazy.Regexp(`(?i)\b(\d{1,2}|one|two|three|four|five|six)\s+(?:decimals?\b|(?:decimal|digits?\s+after)\b)`)
	wholeNumber   = lazy.Regexp(`(?i)\b(?:whole\s+number|(?:an|one|single|nearest|only)\s+integer|integer\s+(?:value|only))\b`)
	asWholeNumber = lazy.Regexp(`(?i)\b(?:as|to)\s+(?:an?|the\s+nearest)\s+(?:whole\s+number|integer)\b`)
	jsonForm      = lazy.Regexp(`(?i)\b(?:as|a|valid|in)\s+JSON\b(?:\s+(list|array|object)\b)?`)
	jsonKeys      = lazy.Regexp(`(?i)\bkeys:?\s+((?:["'“‘][^"'”’\n]{1,40}["'”’](?:\s*,?\s+and\s+|\s*,\s*)?)+|` +
		`\w+(?:,\s*\w+)*,?\s+and\s+\w+(?:[.;\n]|$))`)
	aNumber = lazy.Regexp(`(?i)\b(?:an?|one)\s+` + numberKind + `\b(\s+of\b)?`)
	onlyOne = lazy.Regexp(`(?i)\b(?:(?:just|only)\s+an?|exactly\s+one|a\s+single)\s+(?:` +
		numberKind + `|name)\b|\bone\s+name\b`)
	positive = lazy.Regexp(`(?i)(?:^|[^-\pL])positive\s+(?:whole\s+)?(?:number|integer|float|percentage|value)\b`)
	negative = lazy.Regexp(`(?i)negative`)
	perEach  = lazy.Regexp(`(?i)\b(?:each|every|per)\b`)
	several  = lazy.Regexp(`(?i)\b(?:each|every|per|list|followed|and)\b`)
	between  = lazy.Regexp(`(?i)\b(?:number|integer|float|percentage|fraction|share|proportion|` +
		`probability|value|score|decimal|correlation|coefficient)\s+(?:that\s+is\s+)?(?:between|from|(?:with)?in)\s+` +
		`(?:the\s+range\s+)?(?:(?:of|from)\s+)?\[?(-?\d+(?:\.\d+)?)%?\s*(?:and|to|,|-|–)\s*` +
		`(-?\d+(?:\.\d+)?)\b`)
	label    = lazy.Regexp(`@([A-Za-z_]\w*)\[`)
	choice   = lazy.Regexp(`(?i)\b(?:either|one\s+of|must\s+be|answer\s+with)\b[:\s]+((?:["'“‘][^"'”’\n]{1,40}["'”’][\s,]*(?:or\s+|and\s+)?){2,})`)
	eitherOf = lazy.Regexp(`(?i)^\W*(?:(?:just|only|answer|with|must|be)\W+)*` +
		`(?:["'“‘]([^"'“”‘’\n]{1,40})["'”’]\s+or\s+["'“‘]([^"'“”‘’\n]{1,40})["'”’]|(yes|true)\s+or\s+(no|false))\W*$`)
	oneLetter = lazy.Regexp(`(?:^|\bone of|\bletter|\b[Aa]nswer(?: with)?)\W*([A-Z](?:\s*,\s*[A-Z])*,?\s+or\s+[A-Z])\W*$`)
	manyItems = lazy.Regexp(`(?i)\b` + many + `,?\s+(?:that\s+are\s+)?separated\s+by\b|` +
		`\bexactly\s+` + many + `\b|^\W*(?:the\s+)?(?:top\s+)?` + many + `\W*$`)
	dateForm = lazy.Regexp(`\b(?:YYYY[-./]MM[-./]DD|(?:DD[-./]MM|MM[-./]DD)[-./]YYYY)\b`)
	aDate    = lazy.Regexp(`(?i)\b(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|` +
		`(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}|` +
		`\d{1,2}\.?\s+(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*)\b`)
	dateMarks    = strings.NewReplacer("YYYY", `\d{4}`, "MM", `\d\d`, "DD", `\d\d`, ".", `\.`)
	alphabetical = lazy.Regexp(`(?i)\balphabetical(?:ly|\s+order)\s*(?:[.,;?!\n]|$)`)
	otherwise    = lazy.Regexp(`(?i)\b(?:by|ties?|descending|reverse)\b`)
	exponent     = lazy.Regexp(`\b\d+\.(\d+)[eE]([-+]?\d+)\b`)
	quoted       = lazy.Regexp(`["'“‘]([^"'”’\n]{1,40})["'”’]`)
	fileName     = lazy.Regexp(`(?i)\b(?:save|saved|write|written|store|stored|export|named|called|output|as)\b[^.\n]{0,60}?["'` + "`" + `]?(` + aFile + `)\b`)
	anyFile      = lazy.Regexp(`(?i)` + aFile + `\b`)
)

var smallNumbers = []string{"zero", "one", "two", "three", "four", "five", "six"}

// formOf reads the form from a task's question and guidelines. What it does not recognise is not
// checked.
func formOf(task record.Task) form {
	guidelines := strings.ReplaceAll(task.Guidelines, "\u2212", "-")
	f := form{words: guidelines}
	both := task.Question + "\n" + guidelines
	said := false
	if f.decimals, said = decimalsIn(guidelines, wholeNumber()); !said {
		f.decimals, _ = decimalsIn(task.Question, asWholeNumber())
	}
	f.readNumber(guidelines)
	f.readChoices(guidelines)
	if m := jsonForm().FindStringSubmatch(guidelines); m != nil {
		f.json, f.jsonKind = true, strings.Replace(strings.ToLower(m[1]), "array", "list", 1)
	}
	for _, m := range label().FindAllStringSubmatch(guidelines, -1) {
		f.labels = append(f.labels, m[1])
		f.number, f.alone = false, false
	}
	if !perEach().MatchString(guidelines) {
		f.readItems(guidelines)
	}
	f.sorted = alphabetical().MatchString(both) && !otherwise().MatchString(both)
	if all := dateForm().FindAllString(guidelines, -1); len(all) == 1 {
		f.dates = all[0]
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

// readNumber reads what the guidelines say of a number.
func (f *form) readNumber(guidelines string) {
	if m := aNumber().FindStringSubmatch(guidelines); m != nil {
		f.number = m[1] == ""
	}
	f.alone = onlyOne().MatchString(guidelines) && !several().MatchString(guidelines)
	if m := between().FindStringSubmatch(guidelines); m != nil {
		f.between = m[1:]
	}
	f.positive = positive().MatchString(guidelines) && !negative().MatchString(guidelines)
}

// readChoices reads what the answer is one of.
func (f *form) readChoices(guidelines string) {
	if m := choice().FindStringSubmatch(guidelines); m != nil {
		f.choices = quotedIn(m[1])
	}
	if m := eitherOf().FindStringSubmatch(guidelines); m != nil && len(f.choices) == 0 {
		f.choices = []string{m[1] + m[3], m[2] + m[4]}
	}
	if m := oneLetter().FindStringSubmatch(guidelines); m != nil && len(f.choices) == 0 {
		f.choices = regexp.MustCompile("[A-Z]").FindAllString(m[1], -1)
	}
}

// quotedIn returns what stands in quotation marks.
func quotedIn(text string) (all []string) {
	for _, q := range quoted().FindAllStringSubmatch(text, -1) {
		all = append(all, q[1])
	}
	return all
}

// readItems reads which items the answer has.
func (f *form) readItems(guidelines string) {
	if m := manyItems().FindStringSubmatch(guidelines); m != nil {
		f.items = smallNumber(m[1] + m[2] + m[3])
	}
	if m := jsonKeys().FindStringSubmatch(guidelines); m != nil {
		if f.keys = quotedIn(m[1]); f.keys == nil {
			f.keys = strings.FieldsFunc(strings.ReplaceAll(m[1], " and ", ","),
				func(c rune) bool { return strings.ContainsRune(",.; \n", c) })
		}
	}
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
	if f.json {
		if problem := f.jsonProblem(answer); problem != "" {
			return problem
		}
	}
	for _, l := range f.labels {
		if _, value, ok := strings.Cut(answer, "@"+l+"["); !ok {
			return "the answer lacks the label @" + l + "[…] of its form"
		} else if strings.HasPrefix(strings.TrimSpace(value), "]") {
			return "the answer has no value for the label @" + l + "[…]"
		}
	}
	is := func(c string) bool { return strings.EqualFold(strings.Trim(answer, " .\"'"), c) }
	if len(f.choices) > 1 && !slices.ContainsFunc(f.choices, is) {
		return "the answer must be one of: " + strings.Join(f.choices, ", ")
	}
	if problem := f.itemsProblem(answer); problem != "" {
		return problem
	}
	return f.numberProblem(answer)
}

// jsonProblem returns what is wrong with an answer that is to be JSON, or "".
func (f form) jsonProblem(answer string) string {
	var value any
	if json.Unmarshal([]byte(answer), &value) != nil {
		return "the answer is not valid JSON, and the form asks for JSON"
	}
	_, isList := value.([]any)
	object, isObject := value.(map[string]any)
	if f.jsonKind == "list" && !isList || f.jsonKind == "object" && !isObject {
		return "the form asks for a JSON " + f.jsonKind + ", and the answer is none"
	}
	for _, key := range f.keys {
		if _, ok := object[key]; isObject && !ok {
			return "the answer lacks the key " + key + " of its form"
		}
	}
	return ""
}

// itemsProblem returns what is wrong with the number of an answer's items, with their order, or with
// how its dates are written, or "".
func (f form) itemsProblem(answer string) string {
	items := strings.FieldsFunc(strings.ReplaceAll(answer, " and ", ","),
		func(c rune) bool { return strings.ContainsRune(",;\n", c) })
	isFew := len(items) < f.items && (len(items) > 1 || len(strings.Fields(answer)) < f.items)
	if n := compare.Count(answer); f.items > 0 && (isFew || n > f.items) {
		return fmt.Sprintf("the form asks for %d items, and the answer has %d", f.items, n)
	}
	if f.sorted && !isSorted(items) {
		return "the form asks for the order of the alphabet, and the answer has another"
	}
	if f.dates != "" {
		asked := regexp.MustCompile(`\b` + dateMarks.Replace(f.dates) + `\b`)
		if date := aDate().FindString(asked.ReplaceAllString(answer, "")); date != "" {
			return fmt.Sprintf("the answer has %s, and the form asks for dates as %s", date, f.dates)
		}
	}
	return ""
}

// isSorted reports whether names can be in the order of the alphabet, with or without spaces.
func isSorted(names []string) bool {
	letters := func(c rune) rune {
		if unicode.IsLetter(c) {
			return c
		}
		return -1
	}
	var folded, bare []string
	for _, name := range names {
		name = strings.ToLower(strings.Trim(name, " \t\"'[]"))
		if strings.ContainsFunc(name, func(c rune) bool { return c > unicode.MaxASCII || unicode.IsDigit(c) || c == ':' }) {
			return true
		}
		folded, bare = append(folded, name), append(bare, strings.Map(letters, name))
	}
	return slices.IsSorted(folded) || slices.IsSorted(bare) || slices.IsSorted(names)
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
	case f.positive && isNumber && value <= 0:
		return "the form asks for a positive number"
	case f.between != nil && isNumber && (value < bound(f.between[0]) || value > bound(f.between[1])):
		return fmt.Sprintf("the answer must be between %s and %s", f.between[0], f.between[1])
	}
	for _, m := range exponent().FindAllStringSubmatch(answer, -1) {
		if power, _ := strconv.Atoi(m[2]); f.decimals >= 0 && len(m[1])-power > f.decimals {
			return fmt.Sprintf("the answer has %s, and its form asks for %d decimals", m[0], f.decimals)
		}
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
	answer = strings.Trim(answer, " .\"'")
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
func (r *standard) unfit(ctx context.Context, v record.Verdict, a record.Attempt) (string, error) {
	last := a.Execution
	answer, words := strings.TrimSpace(last.Stdout()), r.t.Task.Guidelines
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
	problem, err := look(ctx, r.work, "form", there, []any{answer, f.files, f.named, r.t.Task.Guidelines},
		func(context.Context) (string, error) { return r.formProblem(f, answer), nil })
	if problem != "" || err != nil {
		return problem, err
	}
	said := record.SummaryOf(last)
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
	for _, n := range r.t.AcceptedRounds() {
		a, _ := r.t.Rounds[n].Accepted()
		b.WriteString(a.Execution.PlainText() + "\n")
	}
	return b.String()
}

// formProblem is [form.problem] for the run's task and files.
func (r *standard) formProblem(f form, answer string) string {
	root := r.work.filesWritten()
	if root == nil {
		return f.problem(answer, nil)
	}
	defer root.Close()
	return f.problem(answer, root.FS())
}
