package agent

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/record"
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
}

var (
	decimalPlaces = lazy.Regexp(`(?i)\b(\d{1,2}|one|two|three|four|five|six)\s+(?:decimals?\b|(?:decimal|digits?\s+after)\b)`)
	wholeNumber   = lazy.Regexp(`(?i)\b(?:whole\s+number|an\s+integer|integer\s+(?:value|only))\b`)
	asWholeNumber = lazy.Regexp(`(?i)\b(?:as|to)\s+(?:an?|the\s+nearest)\s+(?:whole\s+number|integer)\b`)
	jsonForm      = lazy.Regexp(`(?i)\b(?:as|a|valid|in)\s+JSON\b`)
	label         = lazy.Regexp(`@([A-Za-z_]\w*)\[`)
	choice        = lazy.Regexp(`(?i)\b(?:either|one\s+of|must\s+be|answer\s+with)\b[:\s]+((?:["'“‘][^"'”’\n]{1,40}["'”’][\s,]*(?:or\s+|and\s+)?){2,})`)
	quoted        = lazy.Regexp(`["'“‘]([^"'”’\n]{1,40})["'”’]`)
	fileName      = lazy.Regexp(`(?i)\b(?:save|saved|write|written|store|stored|export|named|called|output|as)\b[^.\n]{0,60}?["'` + "`" + `]?([\w.-]+\.(?:csv|json|png|jpg|svg|pdf|xlsx|parquet|txt|npy|html))\b`)
)

var smallNumbers = []string{"zero", "one", "two", "three", "four", "five", "six"}

// formOf reads the form from a task's question and guidelines. What it does not recognise is not
// checked.
func formOf(task record.Task) form {
	f := form{decimals: -1}
	guidelines := task.Guidelines
	both := task.Question + "\n" + guidelines
	places := map[int]bool{}
	for _, m := range decimalPlaces().FindAllStringSubmatch(both, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			n = slices.Index(smallNumbers, strings.ToLower(m[1]))
		}
		places[n] = true
	}
	switch {
	case len(places) > 1: // each for another part
	case len(places) == 1:
		for n := range places {
			f.decimals = n
		}
	case wholeNumber().MatchString(guidelines) || asWholeNumber().MatchString(task.Question):
		f.decimals = 0
	}
	f.json = jsonForm().MatchString(guidelines)
	for _, m := range label().FindAllStringSubmatch(guidelines, -1) {
		f.labels = append(f.labels, m[1])
	}
	if m := choice().FindStringSubmatch(guidelines); m != nil {
		for _, q := range quoted().FindAllStringSubmatch(m[1], -1) {
			f.choices = append(f.choices, q[1])
		}
	}
	isData := func(name string) bool {
		return slices.ContainsFunc(task.Files, func(d record.File) bool { return path.Base(d.Name) == name })
	}
	for _, m := range fileName().FindAllStringSubmatch(both, -1) {
		if name := m[1]; !isData(name) && !slices.Contains(f.files, name) { // "stored in sales.csv"
			f.files = append(f.files, name)
		}
	}
	return f
}

var decimalNumber = lazy.Regexp(`[-+]?\d+\.(\d+)`)

// problem returns what is wrong with an answer's form, or "". written is the folder of the cells.
func (f form) problem(answer string, written fs.FS) string {
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
	for _, m := range decimalNumber().FindAllStringSubmatch(answer, -1) {
		if f.decimals >= 0 && len(m[1]) > f.decimals {
			return fmt.Sprintf("the answer has %s, and its form asks for %d decimals", m[0], f.decimals)
		}
	}
	for _, name := range f.files {
		if written == nil {
			break
		}
		if info, err := fs.Stat(written, name); err != nil || info.Size() == 0 {
			return fmt.Sprintf("the file %s, which is asked for, has not been written to the current "+
				"folder", name)
		}
	}
	return ""
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
		`absteigend\w*|aufsteigend\w*|sortiert\w*|geordnet\w*)\b`)
	// "which stores", "what are the names of the stores", "a list of stores"
	manyNames = lazy.Regexp(`(?i)\b(?:which|what\s+(?:are|(?:sort|kind|type)s?\s+of)|who\s+are|list|` +
		`names)\s+(?:[\w-]+\s+){0,4}?[\w-]{2,}(?:[^\Wsiue]|[^\Wo]e)s\b`)
	aRole = lazy.Regexp(`(?i)\b(?:\w{2,}est|most|least|first|last|second|worst|min\w*|max\w*|` +
		`respectively|followed)\b`)
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
	case len(roles) < 2 && !roles["respectively"] && manyNames().MatchString(words):
		return compare.Names
	}
	return compare.Unsaid
}
