package agent

import (
	"strings"
	"unicode"

	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

// minQuoted is the number of words from which a quotation may settle a point: names of columns and
// files are shorter.
const minQuoted = 4

// reopenUnfounded opens the points that the model calls settled by words which stand nowhere in what
// it was shown.
func (r *standard) reopenUnfounded(readings []record.Reading) error {
	parts, _ := r.unseen()
	shown, err := r.Prompts.Text(parts...)
	if err != nil {
		return err
	}
	words := plainWords(shown)
	for i := range readings {
		reading := &readings[i]
		reading.Settled = reading.Settled && stands(reading.Evidence, words)
	}
	return nil
}

var quotation = lazy.Regexp(`["“„«]([^"“”„«»]+)["”“»]`)

// stands reports whether a quotation stands in a text: at least half of its runs of three words do,
// as models shorten and mend what they quote.
func stands(evidence, text string) bool {
	var quotes []string
	for _, m := range quotation().FindAllStringSubmatch(evidence, -1) {
		quotes = append(quotes, m[1])
	}
	if quotes == nil {
		quotes = []string{evidence}
	}
	total, found, words := 0, 0, 0
	for _, quote := range quotes {
		all := strings.Fields(plainWords(quote))
		words += len(all)
		for i := range max(len(all)-2, 0) {
			total++
			if strings.Contains(text, " "+strings.Join(all[i:i+3], " ")+" ") {
				found++
			}
		}
	}
	return words >= minQuoted && found > 0 && 2*found >= total
}

// plainWords returns the words of a text in lower case, each between blanks. Of scripts without
// blanks, each character is a word.
func plainWords(text string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			b.WriteString(" " + string(c) + " ")
		case unicode.IsLetter(c) || unicode.IsDigit(c):
			b.WriteRune(c)
		default:
			b.WriteByte(' ')
		}
	}
	return " " + strings.Join(strings.Fields(b.String()), " ") + " "
}
