package bench

import (
	"math"
	"regexp"
	"strings"
)

// juneListApproximate is the metric that KramaBench's first version computes and
// leaves out of its total.
const juneListApproximate = "f1_approximate (not in the total)"

// juneMetrics are those of KramaBench's first version, which sees text only.
var juneMetrics = map[string]kramaMetric{
	"numeric_exact": {"success", juneSuccess},
	"string_exact":  {"success", juneSuccess},
	"numeric_approximate": {"rae_score", func(said, gold value, _ judgeTexts) (float64, map[string]float64, error) {
		x, ok := kramaNumber(juneText(said))
		y, okToo := kramaNumber(juneText(gold))
		if !ok || !okToo {
			return 0.5, nil, nil // an error counts as a relative error of 1
		}
		return relativeScore(x, y, 0.5), errorParts(x, y), nil
	}},
	"string_approximate": {"string_bootstrap", func(said, gold value, judge judgeTexts) (float64, map[string]float64, error) {
		s, g := juneText(said), juneText(gold)
		b, r := bleu(s, g), rouge(s, g)
		parts := map[string]float64{"bleu": b, "rouge": r[2]}
		same, err := judge(s, g)
		switch {
		case err != nil || same:
			return one(same), parts, err
		case b > 0.2:
			return r[2], parts, nil
		}
		return 0, parts, nil
	}},
	"list_exact": {"f1", func(said, gold value, _ judgeTexts) (float64, map[string]float64, error) {
		s, g := juneText(said), juneText(gold)
		f, _, err := juneF1(s, g)
		r := rouge(s, g)
		return f, map[string]float64{"precision": r[0], "recall": r[1]}, err
	}},
	"list_approximate": {juneListApproximate, juneApproximate},
}

// juneText is what that version makes of any answer.
func juneText(v value) string { return pyStrip(pyStr(v)) }

func juneSuccess(said, gold value, _ judgeTexts) (float64, map[string]float64, error) {
	return one(sameWords(juneText(said), juneText(gold))), nil, nil
}

// juneF1 looks each character of one text up in the other.
func juneF1(said, gold string) (float64, map[string]float64, error) {
	norm := func(s string) []string {
		var chars []string
		for _, r := range s {
			chars = append(chars, pyLower(pyStrip(string(r))))
		}
		return chars
	}
	saids, golds := norm(said), norm(gold)
	if len(golds) == 0 {
		return one(len(saids) == 0), nil, nil
	}
	first := map[string]int{}
	for i, c := range saids {
		if _, ok := first[c]; !ok {
			first[c] = i
		}
	}
	met, found := map[int]bool{}, 0
	for _, c := range golds {
		if i, ok := first[c]; ok {
			met[i] = true
			found++
		}
	}
	return fOne(found, len(golds), len(met), len(saids))
}

// juneApproximate needs str() of the right list to be JSON, which it is for
// numbers, whose matches then never count for precision.
func juneApproximate(said, gold value, judge judgeTexts) (float64, map[string]float64, error) {
	right, ok := parsed(juneText(gold), false)
	if !ok {
		return 0, nil, nil
	}
	golds, ok := each(right)
	if juneText(gold) == "" || !ok {
		return 0, nil, nil
	}
	answer, ok := parsed(juneText(said), true)
	if !ok {
		return 0, nil, nil
	}
	saids, ok := each(answer)
	if !ok {
		return 0, nil, nil
	}
	met, found := map[int]bool{}, 0
	for _, g := range golds {
		for i, s := range saids {
			text, isText := g.(string)
			if isText {
				same, err := judge(pyStr(s), text)
				if err != nil {
					return 0, nil, err
				}
				if same {
					met[i] = true
					found++
					break
				}
				continue
			}
			x, ok := kramaNumber(s)
			y, okToo := number(g)
			if !ok || !okToo || y == 0 {
				return 0, nil, nil // an exception
			}
			if 1/(1+math.Abs(x-y)/math.Abs(y)) < 0.1 {
				found++
				break
			}
		}
	}
	if len(golds) == 0 { // found before by len() of its text, which is not 0
		return 0, nil, nil
	}
	return fOne(found, len(golds), len(met), len(saids))
}

// bleu is nltk's sentence_bleu([gold], said) of two strings, that is, over
// characters, without smoothing.
func bleu(said, gold string) float64 {
	s, g := []rune(said), []rune(gold)
	logs := 0.0
	for n := 1; n <= 4; n++ {
		mine, theirs := grams(s, n), grams(g, n)
		same, all := 0, 0
		for gram, count := range mine {
			same += min(count, theirs[gram])
			all += count
		}
		if same == 0 {
			if n == 1 {
				return 0
			}
			logs += math.Log(2.2250738585072014e-308) / 4 // the least normal number stands for none
			continue
		}
		logs += math.Log(float64(same)/float64(all)) / 4
	}
	if len(s) < len(g) {
		logs += 1 - float64(len(g))/float64(len(s))
	}
	return math.Exp(logs)
}

func grams(s []rune, n int) map[string]int {
	found := map[string]int{}
	for i := 0; i+n <= len(s); i++ {
		found[string(s[i:i+n])]++
	}
	return found
}

var notRougeWord = regexp.MustCompile(`[^a-z0-9]+`)

// rouge is ROUGE-1 of rouge_score without a stemmer: precision, recall, F.
func rouge(said, gold string) [3]float64 {
	words := func(s string) (map[string]int, int) {
		fields := strings.Fields(notRougeWord.ReplaceAllString(pyLower(s), " "))
		count := map[string]int{}
		for _, w := range fields {
			count[w]++
		}
		return count, len(fields)
	}
	mine, n := words(said)
	theirs, m := words(gold)
	same := 0
	for w, count := range mine {
		same += min(count, theirs[w])
	}
	p, r := float64(same)/float64(max(n, 1)), float64(same)/float64(max(m, 1))
	if p+r == 0 {
		return [3]float64{p, r, 0}
	}
	return [3]float64{p, r, 2 * p * r / (p + r)}
}
