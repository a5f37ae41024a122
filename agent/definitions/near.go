package definitions

import (
	"slices"
	"strings"
	"unicode"

	"dsstar/agent/describe/profile"
	"dsstar/agent/memory/lesson"
	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
)

// Near returns the places of definitions whose terms the question uses, those to which they refer by name,
// and then the nearest by words, each with those to which it refers, while room bytes last. For those
// that are omitted there is no room although the question uses them.
func Near(all []Definition, question string, room int) (near, omitted []int) {
	byName, texts, taken := map[string][]int{}, make([]string, len(all)), map[int]bool{}
	for i, d := range all {
		for _, key := range d.keys() {
			byName[key] = append(byName[key], i)
		}
		texts[i] = d.Term + " " + strings.Join(d.Also, " ") + " " + d.Text
	}
	take := func(which ...int) {
		slices.Sort(which)
		for _, i := range which {
			if size := all[i].size(); !taken[i] && size <= room {
				taken[i], room, near = true, room-size, append(near, i)
			}
		}
	}
	named := func(text string) (found []int) {
		for phrase := range phrases(text) {
			found = append(found, byName[phrase]...)
		}
		return found
	}
	asked := named(question)
	take(asked...) // in order from then on
	omitted = slices.DeleteFunc(slices.Compact(asked), func(i int) bool { return taken[i] })
	const half = 0.5
	order, n := profile.Near(question, texts, half)
	for followed, next := 0, 0; ; followed++ {
		for ; followed == len(near) && next < n; next++ {
			take(order[next])
		}
		if followed == len(near) {
			return near, omitted
		}
		take(named(all[near[followed]].Text + "\n" + all[near[followed]].Code)...)
	}
}

// Used says whether the question uses the term or another name of it.
func (d Definition) Used(question string) bool {
	asked := phrases(question)
	return slices.ContainsFunc(d.keys(), func(key string) bool { return asked[key] })
}

var (
	fences     = lazy.Regexp("(?ms)^ {0,3}(?:```.*?^ {0,3}```|~~~.*?^ {0,3}~~~)")
	filters    = lazy.Regexp(`(?mi)^\W*filters?\b\W*:.*$`)
	spans      = lazy.Regexp("`[^`\n]+`")
	literals   = lazy.Regexp(`'[^']*'|"[^"]*"|[\w./-]+\.(?i:csv|tsv|xlsx?|jsonl?|parquet|db)\b|\w+\s*\(`)
	identifier = lazy.Regexp(`[\p{L}_][\p{L}\p{N}_]*`)
	compared   = lazy.Regexp("[\\p{L}_][\\p{L}\\p{N}_]*[\\s`]*(?:[=<>!~]|IN\\b|NOT\\b|IS\\b|LIKE\\b|BETWEEN\\b)")
)

// noNames are words of conditions that are no names.
var noNames = strings.Fields("and as between by case distinct else end false from group if in is like " +
	"none not null on or order select then true when where")

// Ignored returns what of its own some code does not have: the name of its function, else the
// columns of its filters, else the names in backticks. It is "" if the code has one of them, or if
// the definition has none.
func (d Definition) Ignored(code string) string {
	text := fences().ReplaceAllString(d.Text, "\n")
	names := compared().FindAllString(literals().ReplaceAllString(
		strings.Join(filters().FindAllString(text, -1), "\n"), " "), -1)
	if f, _ := lesson.ToolIn(d.Code, ""); f.Name != "" {
		names = []string{f.Name}
	} else if len(names) == 0 {
		names = spans().FindAllString(text, -1)
	}
	names = identifier().FindAllString(literals().ReplaceAllString(strings.Join(names, " "), " "), -1)
	has := lesson.Words(strings.ToLower(code))
	var lacks []string
	for _, name := range names {
		if low := strings.ToLower(name); has[low] && !slices.Contains(noNames, low) {
			return ""
		} else if !slices.Contains(noNames, low) && !slices.Contains(lacks, name) {
			lacks = append(lacks, name)
		}
	}
	return strings.Join(lacks[:min(len(lacks), 5)], ", ")
}

var (
	humps = lazy.Regexp(`(\p{Ll})(\p{Lu})`)
	aside = lazy.Regexp(`\s*\([^()]*\)$`)
)

// keys are the names of the term as [phrases] has them. An aside such as "(EUR)" is in no question.
func (d Definition) keys() []string {
	keys := []string{key(d.Term), key(aside().ReplaceAllString(d.Term, ""))}
	keys = append(keys, lists.Map(d.Also, key)...)
	return slices.DeleteFunc(keys, func(key string) bool { return key == "" })
}

// key is the same for a name in the plural, in another letter case or with other spaces.
func key(name string) string { return strings.Join(words(name), "") }

// phrases are the keys of all that a text could name, of up to eight words.
func phrases(text string) map[string]bool {
	all, list := map[string]bool{}, words(text)
	for i := range list {
		phrase := ""
		for _, w := range list[i:min(len(list), i+8)] {
			phrase += w
			all[phrase] = true
		}
	}
	return all
}

// words are the words of a text, roughly without what makes them plural, in small letters. Two
// capital letters stay: US is no "us".
func words(text string) []string {
	all := strings.FieldsFunc(humps().ReplaceAllString(text, "$1 $2"), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c)
	})
	for i, w := range all {
		if all[i] = strings.TrimSuffix(w, "s"); len(all[i]) == 2 && all[i] == strings.ToUpper(all[i]) {
			continue
		}
		if w = strings.ToLower(w); len(w) > 3 && !strings.HasSuffix(w, "ss") {
			w = strings.TrimSuffix(strings.TrimSuffix(w, "s"), "e") // boxes, box
			if stem, is := strings.CutSuffix(w, "y"); is {
				w = stem + "i" // countries, country
			}
		}
		all[i] = w
	}
	return all
}
