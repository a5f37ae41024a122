package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
)

// A quotation must have minQuoted words to settle a point, since names of columns and files have
// fewer; one of an output minPrinted words and numbers, or the whole line.
const minQuoted, minPrinted = 4, 3

// A source is a text that evidence may quote.
type source struct {
	place string // see [record.Reading.From]
	text  string
}

// sources returns what may settle a point: the words of the asker and of other people, documents
// among the files, and definitions that bind. What a program or a model says of the files settles
// nothing, nor do values.
func (r *run) sources() []source {
	said := func(note string) source { return source{record.FromNote, note} }
	document := func(d record.Description) source { return source{d.File, documentIn(d)} }
	bound := func(d record.Definition) source { return source{d.String(), d.Term + "\n\n" + d.Text} }
	asked := []source{{record.FromQuestion, r.t.Task.Question}, {record.FromForm, r.t.Task.Guidelines}}
	return slices.Concat(asked, lists.Map(r.t.Told(), said), lists.Map(r.t.Descriptions, document),
		lists.Map(r.t.Question.Definitions, bound)) // last: a sentence of both is theirs
}

// documentIn returns the text of a document in a description, or what a person says of a file. The latter may
// have come with the data, and counts only if the user has approved it.
func documentIn(d record.Description) string {
	m := documentBegins().FindStringIndex(d.Text)
	switch {
	case d.Whole:
		return d.Text
	case d.Corrected:
		return d.Said
	case !d.Profile || m == nil || strings.HasPrefix(d.Kind, "JSON") || d.Kind == "XML":
		return "" // values
	}
	return cutMark().ReplaceAllString(d.Text[m[1]:], "\n\n")
}

// cutMark matches the mark of what is cut of a document, which names it in part.
var cutMark = lazy.Regexp(`(?m)^\[… \d+ characters cut here.*…\]$`)

// documentBegins matches the line above the text of a document in a profile.
var documentBegins = lazy.Regexp(`(?m)^(?:the beginning of the |parts of the )?text:\n`)

// ground replaces the evidence of readings by the sentences that it quotes, with their places. A
// point whose evidence stands nowhere is open.
func (r *run) ground(readings []record.Reading) {
	sources := r.sources()
	for i := range readings {
		reading := &readings[i]
		reading.Evidence, reading.From = grounds(reading.Evidence, sources)
		reading.Settled = reading.Settled && reading.Evidence != ""
	}
}

var (
	quotation = lazy.Regexp(`["“„«]([^"“”„«»]+)["”“»]`)
	itsPlace  = lazy.Regexp(`\s*\([^()]*\)\W*$`)
)

// grounds returns the sentences that evidence quotes, each with its place, and the place that
// weighs most: a document's more than the question's. It returns "" unless all that is quoted
// stands in some source.
func grounds(evidence string, sources []source) (sentences, from string) {
	var quotes []string
	for _, m := range quotation().FindAllStringSubmatch(evidence, -1) {
		if len(wordsOf(m[1])) >= minQuoted {
			quotes = append(quotes, m[1])
		}
	}
	whole := []string{itsPlace().ReplaceAllString(evidence, "")} // has quotes within the quotation
	for _, all := range [][]string{quotes, whole} {
		var found []string
		from := ""
		for _, quote := range all {
			for _, s := range slices.Backward(sources) {
				if sentence := s.find(quote); sentence != "" {
					found = append(found, sentence)
					if from == "" || from == record.FromQuestion || from == record.FromForm {
						from = s.place
					}
					break
				}
			}
		}
		if len(found) > 0 && len(found) == len(all) {
			return strings.Join(found, "; "), from
		}
	}
	return "", ""
}

// outputWith returns the line that a quotation was cut from, with the step that printed it; "" if no
// accepted cell has, if a word that denies it was left out, or if any cell has the quotation in its code, so
// that it may say nothing of the data.
func (r *run) outputWith(quote string) string {
	words := func(text string) string { // each between blanks
		return " " + strings.Join(aWord().FindAllString(strings.ToLower(text), -1), " ") + " "
	}
	said := words(quote)
	for _, q := range append(slices.Clone(r.t.Questions), r.t.Question) {
		for _, step := range q.Accepted() {
			if strings.Contains(words(step.Accepted().Code), said) {
				return ""
			}
		}
	}
	for i, step := range r.t.Accepted() {
		for line := range strings.Lines(step.Accepted().Execution.PlainText()) {
			before, after, stands := strings.Cut(words(line), said)
			n := strings.Count(said, " ") - 1 // words
			enough := n >= minPrinted || n > 1 && before+after == ""
			if stands && enough && !denies(before+" "+after) {
				return fmt.Sprintf("step %d printed: “%s”", i+1, brief.OneLine(brief.Clip(line, 300)))
			}
		}
	}
	return ""
}

// akin reports whether most of the words that say something in one of two texts, and some, are in the other.
// Endings of words do not count.
func akin(one, other string) bool {
	const asking = "whether which what does this that with from should they the and are for has was its how " +
		"all them those only were not yes"
	words := func(text string) (all []string) {
		for _, w := range wordsOf(strings.ToLower(text)) {
			if w[0] < 'a' || w[0] > 'z' || len(w) > 2 && !strings.Contains(asking, w) {
				all = append(all, string([]rune(w)[:min(5, len([]rune(w)))]))
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	few, many := words(one), words(other)
	if len(few) > len(many) {
		few, many = many, few
	}
	shared := lists.Where(few, func(w string) bool { return slices.Contains(many, w) })
	return len(shared) > max(2, len(few)/2)
}

// find returns the sentence, of people's words the clause, that a quotation was cut from, with its
// place; "" if there is none, if a word that denies it was left out, or if a document asks it.
func (s source) find(quote string) string {
	words := wordsOf(quote)
	if len(words) < minQuoted {
		return ""
	}
	stands := regexp.MustCompile(`(?i)(?:^|` + noWord + `)(` + strings.Join(words, `[^\pL\pN]*`) + `)(?:$|` + noWord + `)`)
	for _, m := range stands.FindAllStringSubmatchIndex(s.text, -1) {
		from, to := s.around(m[2], m[3])
		before, after := s.text[from:m[2]], s.text[m[3]:to] // what the quotation has left out
		asks := !s.said() && strings.ContainsAny(after, "?？")
		if asks || denies(before+" "+after) {
			continue
		}
		sentence := strings.Join(strings.Fields(s.text[from:to]), " ")
		if len(sentence) > 600 {
			sentence = quote
		}
		return fmt.Sprintf("“%s” (%s)", sentence, s.place)
	}
	return ""
}

// What can stand before or after a word. Of scripts without blanks, each character is a word.
const (
	unspaced = `[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]`
	noWord   = `(?:[^\pL\pN]|` + unspaced + `)`
)

var oneWord = lazy.Regexp(unspaced + `|[\pL\pN]+`)

func wordsOf(text string) []string { return oneWord().FindAllString(text, -1) }

// The ends of sentences, and those of clauses. What ends with a colon goes on in the list below it.
var (
	sentenceEnd = lazy.Regexp(`(?:[^\s.]{2}|\d)[.!?]+["'”)\]*_]*(?:\s+|$)|[。！？]|` +
		`[^:\s]\s*\n\s*\n\s*|\n\s*(?:\||#)[\s#]*`)
	clauseEnd = lazy.Regexp(`[,;:.!?]["'”)\]]*(?:\s+|$)|[，；。！？]|\n`)
)

// around returns where the sentence or clause begins and ends that has a part of the text.
func (s source) around(begin, end int) (from, to int) {
	ends := sentenceEnd()
	if s.said() {
		ends = clauseEnd()
	}
	to = len(s.text)
	for _, m := range ends.FindAllStringIndex(s.text, -1) {
		if m[1] <= begin {
			from = m[1]
		} else if m[1] >= end {
			return from, m[1]
		}
	}
	return from, to
}

// said reports whether a source is what a person says of the question.
func (s source) said() bool {
	return s.place == record.FromQuestion || s.place == record.FromForm || s.place == record.FromNote
}

// denies reports whether a sentence says another thing without some of its text. What a list says of the value
// false denies nothing, as in "true: it counts; false: others count".
func denies(text string) bool {
	if ofTrue().MatchString(text) {
		text = ofFalse().ReplaceAllString(text, ";")
	}
	return denials().MatchString(text)
}

var (
	ofTrue  = lazy.Regexp("(?i)\\b(?:true|yes)[`\"'’”]?\\s*[:=]")
	ofFalse = lazy.Regexp("(?i)[;,(|]\\s*[`\"'‘“]?(?:false|no)[`\"'’”]?\\s*[:=]")
)

// denials are words without which a sentence says the opposite, or more.
var denials = lazy.Regexp(`(?i)(?:^|[^\pL\pN])(?:not?|never|none|nor|neither|cannot|without|except|unless|` +
	`only|exclud\w+|omit\w*|ignor\w+|false|mistake\w*|wrong\w*|refuse[sd]?|until|before|` +
	`nicht|keine?[nmrs]?|nie|niemals|ohne|außer|nur|falsch|bis|ne|pas|jamais|sans|sauf|seulement|faux|` +
	`nunca|jamás|sin|salvo|excepto|solo|sólo|senza)(?:$|[^\pL\pN])|n['’]t(?:$|[^\pL\pN])|[不没沒未無无非]`)
