package bench

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
)

// scoreDABStep compares text with text by the rules of the leaderboard
// (dabstep_benchmark/evaluation/scorer.py in its space; the paper's appendix
// tells others). What Fixed puts right, with upstream's verdict:
//
//	-0.94 ~ 0.94            right   a minus sign is not read; with it, -12.34 ~ -12.3 are
//	                                rounded as without
//	1e5 ~ 100000            wrong   nor is an exponent
//	E:13.57 ~ F:13.57       right   words beside a number are not read
//	2023-01-05 ~ 2023-09-30 right   nor are further numbers
//	0,99 ~ 0.99             wrong   a comma between digits always groups thousands …
//	1,2 ~ 1, 2              wrong   … never decimals or items
//	a: 2, a: 1.0 ~ …        varies  items are paired by their place in sorted text
//	NexPay ~ any with it    right   one word is right in whatever text has it
//
// An answer that is not there is wrong; upstream's code fails on it.
func scoreDABStep(_ context.Context, s Scorer, t Task, a *Answer) (Score, error) {
	score := Score{Metric: "accuracy"}
	if a == nil {
		return score, nil
	}
	rules := answerRules{fixed: s.Compat == Fixed}
	if rules.same(a.Text(), (&Answer{Value: t.Gold}).Text()) {
		score.Value = 1
	}
	return score, nil
}

// answerRules are DABStep's, as they are or with their faults put right.
type answerRules struct{ fixed bool }

var (
	groupedNumber = regexp.MustCompile(`^\$?(?:\p{Nd}{1,3}(?:,\p{Nd}{3})+(?:\.\p{Nd}+)?|\p{Nd}+[.,]\p{Nd}+)$`)
	firstNumber   = regexp.MustCompile(`\p{Nd}*\.\p{Nd}+|\p{Nd}+\.?\p{Nd}*`)
	signedNumber  = regexp.MustCompile(`[+-]?(?:\p{Nd}*\.\p{Nd}+|\p{Nd}+\.?\p{Nd}*)(?:e[+-]?\p{Nd}+)?`)
	wordRun       = regexp.MustCompile(pyWord + `+`)
	listMark      = regexp.MustCompile(`[,;]`)
	decimalComma  = regexp.MustCompile(`^([+-]?\p{Nd}+),(\p{Nd}+)$`)
)

// same returns whether two texts are the same answer.
func (r answerRules) same(a, b string) bool {
	a, b = pyLower(pyStrip(a)), pyLower(pyStrip(b))
	if groupedNumber.MatchString(a) || groupedNumber.MatchString(b) {
		if same, both := r.sameNumber(a, b); same || !r.fixed {
			return same && both
		}
		// The comma may separate decimals, or items.
		if x, y := decimalComma.ReplaceAllString(a, "$1.$2"), decimalComma.ReplaceAllString(b, "$1.$2"); x != a || y != b {
			if same, _ := r.sameNumber(x, y); same {
				return true
			}
		}
		return strings.Contains(a, ",") && strings.Contains(b, ",") && r.sameList(a, b)
	}
	if strings.ContainsAny(a, ",;") || strings.ContainsAny(b, ",;") {
		return r.sameList(a, b)
	}
	if same, both := r.sameNumber(a, b); both {
		return same
	}
	return r.sameText(a, b)
}

// sameNumber compares the first numbers of two texts; both is whether both have
// one.
func (r answerRules) sameNumber(a, b string) (same, both bool) {
	x, y := r.numbers(a), r.numbers(b)
	if len(x) == 0 || len(y) == 0 {
		return false, false
	}
	if !closeNumbers(x[0], y[0]) {
		return false, true
	}
	if !r.fixed {
		return true, true
	}
	if len(x) > 1 && len(y) > 1 && !slices.EqualFunc(x, y, closeNumbers) {
		return false, true
	}
	beside := func(s string) []string {
		return wordRun.FindAllString(signedNumber.ReplaceAllString(s, " "), -1)
	}
	p, q := beside(a), beside(b)
	return len(p) == 0 || len(q) == 0 || subset(p, q) || subset(q, p), true
}

// numbers are those in a text: upstream reads only the first, without its sign.
func (r answerRules) numbers(s string) []float64 {
	s = strings.NewReplacer(",", "", "$", "").Replace(s)
	if !r.fixed {
		if f, ok := pyFloat(firstNumber.FindString(s)); ok {
			return []float64{f}
		}
		return nil
	}
	var found []float64
	for _, at := range signedNumber.FindAllStringIndex(s, -1) {
		text := s[at[0]:at[1]]
		if at[0] > 0 && strings.ContainsRune("+-", rune(text[0])) && !strings.ContainsRune(" \t(:=[", rune(s[at[0]-1])) {
			text = text[1:] // a dash between two things
		}
		if f, ok := pyFloat(text); ok {
			found = append(found, f)
		}
	}
	return found
}

// closeNumbers compares with the decimals of the less exact of the two.
func closeNumbers(a, b float64) bool {
	if a == b {
		return true
	}
	if math.Abs(a) >= 1 || math.Abs(b) >= 1 { // upstream has no signs
		n := min(decimals(a), decimals(b))
		if pyRound(a, n) == pyRound(b, n) {
			return true
		}
	}
	return isClose(a, b, 1e-4, 1e-4)
}

// decimals counts what follows the point of repr(f): 1 for 12.0, and 5 for
// 1.5e+16, as the public code does.
func decimals(f float64) int {
	_, after, _ := strings.Cut(pyRepr(f), ".")
	return len(after)
}

func (r answerRules) sameList(a, b string) bool {
	x, y := items(a), items(b)
	if slices.Equal(x, y) {
		return true
	}
	if len(x) != len(y) {
		return false
	}
	const few = 100 // more are not tried against each other: it takes their square
	if !r.fixed || len(x) > few {
		return slices.EqualFunc(x, y, r.same)
	}
	left := slices.Clone(y)
	for _, item := range x {
		i := slices.IndexFunc(left, func(other string) bool { return r.same(item, other) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

// items are those of a list in text, sorted as text.
func items(s string) []string {
	s = strings.TrimSuffix(strings.TrimPrefix(pyStrip(s), "["), "]")
	var found []string
	for _, item := range listMark.Split(s, -1) {
		if item = pyStrip(item); item != "" {
			found = append(found, item)
		}
	}
	slices.Sort(found)
	return found
}

func (r answerRules) sameText(a, b string) bool {
	if notWord.ReplaceAllString(a, "") == notWord.ReplaceAllString(b, "") {
		return true
	}
	x, y := wordRun.FindAllString(a, -1), wordRun.FindAllString(b, -1)
	if (len(x) == 1 || len(y) == 1) && len(x) > 0 && len(y) > 0 {
		if r.fixed && len(x) != len(y) {
			return onlyLettersMore(x, y) || onlyLettersMore(y, x)
		}
		return subset(x, y) || subset(y, x)
	}
	return alike(a, b, 0.95)
}

// onlyLettersMore returns whether longer has the words of shorter and beside
// them only single letters, as "B. BE" has an option's letter.
func onlyLettersMore(shorter, longer []string) bool {
	return subset(shorter, longer) && !slices.ContainsFunc(longer, func(w string) bool {
		return len([]rune(w)) > 1 && !slices.Contains(shorter, w)
	})
}

func subset(x, y []string) bool {
	return !slices.ContainsFunc(x, func(w string) bool { return !slices.Contains(y, w) })
}
