package bench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
)

// scoreKramaBench scores by the answer's type. There are two incompatible
// versions of its public code. Upstream is the one of June 2025 (mitdbg @96b8253),
// behind the published numbers of its authors and of DS-STAR:
//
//	both sides are made text first      3.0 is not 3; lists are compared by character
//	an answer that is no number         counts one half (numeric_approximate)
//	list_approximate                    matches what is more than nine times off; not in the total
//	string_approximate                  a paraphrase, else ROUGE-1 if BLEU is over 0.2
//
// Only a response without an answer, which that code rates 1 where a number is
// approximate, is 0 here. Fixed is the version since (November and December 2025,
// and the fork of January 2026, bobbai00 @cead5ec), which compares values by their
// type, and beside that puts right
//
//	a list where the type says string_exact (environment-hard-20): compared as a list
//	right answers corrected in November 2025, in a copy from before: see kramaCorrected
//
// A text that is paraphrased is told by the Judge.
func scoreKramaBench(ctx context.Context, s Scorer, t Task, a *Answer) (Score, error) {
	gold, err := parseJSON(string(t.Gold))
	if err != nil {
		return Score{}, fmt.Errorf("the right answer: %w", err)
	}
	score := Score{}
	kind := t.Kind
	if s.Compat == Fixed {
		if to, ok := kramaCorrected[t.ID]; ok && pyStr(gold) == to[0] {
			score.Detail = fmt.Sprintf("the right answer is %s since November 2025, not %s", to[1], to[0])
			if gold, err = parseJSON(to[1]); err != nil {
				gold = to[1]
			}
		}
		if _, list := gold.([]value); list && kind == "string_exact" {
			kind = "list_exact"
		}
	}
	metrics := map[Compat]map[string]kramaMetric{Fixed: kramaMetrics, Upstream: juneMetrics}[s.Compat]
	metric, ok := metrics[kind]
	if !ok {
		return Score{}, fmt.Errorf("there is no answer type %q; there are %s", kind, strings.Join(slices.Sorted(maps.Keys(metrics)), ", "))
	}
	score.Metric, score.Uncounted = metric.name, metric.name == juneListApproximate
	if a == nil {
		return score, nil
	}
	said, err := parseJSON(string(a.Value))
	if err != nil {
		return Score{}, fmt.Errorf("the answer: %w", err)
	}
	judge := func(answer, gold string) (bool, error) {
		if s.Judge == nil {
			return false, &NeedError{t.ID, "a model that judges paraphrases"}
		}
		return s.Judge(ctx, answer, gold)
	}
	score.Value, score.Parts, err = metric.score(said, gold, judge)
	if math.IsNaN(score.Value) {
		score.Value = 0 // pandas leaves it out of the sum, not out of the support
	}
	return score, err
}

// kramaCorrected are right answers before and after they were corrected.
var kramaCorrected = map[string][2]string{
	"archeology-easy-8":  {"55", "52"},
	"archeology-hard-12": {"422", "409"},
	"environment-easy-3": {"267", "268"},
	"legal-hard-1":       {"13427.5676", "12964.8727"},
	"legal-hard-2": {"Atlanta-Sandy Springs-Roswell GA Metropolitan Statistical Area",
		"Miami-Fort Lauderdale-West Palm Beach FL Metropolitan Statistical Area"},
	"legal-hard-15": {"593524", "243377"},
}

// A kramaMetric scores an answer of one type and gives what else its metrics say.
type kramaMetric struct {
	name  string
	score func(said, gold value, judge judgeTexts) (float64, map[string]float64, error)
}

type judgeTexts func(answer, gold string) (bool, error)

var kramaMetrics = map[string]kramaMetric{
	"numeric_exact": {"success", kramaSuccess},
	"string_exact":  {"success", kramaSuccess},
	"numeric_approximate": {"rae_score", func(said, gold value, _ judgeTexts) (float64, map[string]float64, error) {
		x, ok := kramaNumber(said)
		y, okToo := kramaNumber(gold)
		if !ok || !okToo {
			return 0, nil, nil
		}
		return relativeScore(x, y, 0), errorParts(x, y), nil
	}},
	"string_approximate": {"llm_paraphrase", func(said, gold value, judge judgeTexts) (float64, map[string]float64, error) {
		same, err := judge(pyStr(said), pyStr(gold))
		return one(same), nil, err
	}},
	"list_exact": {"f1", func(said, gold value, _ judgeTexts) (float64, map[string]float64, error) {
		return kramaF1(said, gold, nil)
	}},
	"list_approximate": {"f1_approximate", kramaF1},
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// kramaNumber is a number, or text that is one; "12%" is 0.12.
func kramaNumber(v value) (float64, bool) {
	s, ok := v.(string)
	if !ok {
		return number(v)
	}
	if strings.HasSuffix(s, "%") {
		f, ok := pyFloat(strings.Trim(s, "%"))
		return f / 100, ok
	}
	return pyFloat(s)
}

// relativeScore is 1/(1+e) for the relative error e, or zero where that has no
// value because the right answer is 0.
func relativeScore(said, gold, zero float64) float64 {
	if gold == 0 {
		return zero
	}
	return 1 / (1 + math.Abs(said-gold)/math.Abs(gold))
}

func errorParts(said, gold float64) map[string]float64 {
	parts := map[string]float64{"mean_absolute_error": math.Abs(said - gold), "mean_squared_error": (said - gold) * (said - gold)}
	if gold != 0 {
		parts["mean_relative_absolute_error"] = math.Abs(said-gold) / math.Abs(gold)
	}
	for name, part := range parts {
		if math.IsNaN(part) || math.IsInf(part, 0) {
			delete(parts, name) // JSON has no such number
		}
	}
	return parts
}

// kramaSuccess rounds the answer to what the right one shows; text is equal but
// for case and blanks around.
func kramaSuccess(said, gold value, _ judgeTexts) (float64, map[string]float64, error) {
	switch g := gold.(type) {
	case bool, *big.Int, float64:
		x, ok := kramaNumber(said)
		if !ok || math.IsNaN(x) {
			return 0, nil, nil
		}
		whole, isWhole := said.(*big.Int)
		if y, float := g.(float64); float {
			n := shownDecimals(y)
			if isWhole { // stays whole, which counts over 2^53
				return one(isNumber(pyRound(y, n), roundInt(whole, n))), nil, nil
			}
			return one(pyRound(x, n) == pyRound(y, n)), nil, nil
		}
		y, ok := g.(*big.Int)
		if !ok {
			f, _ := number(g)
			y = big.NewInt(int64(f))
		}
		if isWhole {
			return one(whole.Cmp(y) == 0), nil, nil
		}
		return one(isNumber(math.RoundToEven(x), y)), nil, nil
	case string:
		s, ok := said.(string)
		return one(ok && sameWords(s, g)), nil, nil
	}
	return one(pyEqual(said, gold)), nil, nil
}

// isNumber returns whether f is exactly i.
func isNumber(f float64, i *big.Int) bool {
	return !math.IsInf(f, 0) && new(big.Float).SetInt(i).Cmp(big.NewFloat(f)) == 0
}

// roundInt is round(i, n) of a whole number.
func roundInt(i *big.Int, n int) *big.Int {
	if n >= 0 {
		return i
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-n)), nil)
	units, rest := new(big.Int).QuoRem(new(big.Int).Abs(i), unit, new(big.Int))
	if half := rest.Lsh(rest, 1).Cmp(unit); half > 0 || half == 0 && units.Bit(0) == 1 {
		units.Add(units, big.NewInt(1))
	}
	units.Mul(units, unit)
	if i.Sign() < 0 {
		units.Neg(units)
	}
	return units
}

// sameWords is s.strip().lower() == t.strip().lower().
func sameWords(s, t string) bool { return pyLower(pyStrip(s)) == pyLower(pyStrip(t)) }

// shownDecimals are the decimals of str(f), of its mantissa less the exponent.
func shownDecimals(f float64) int {
	mantissa, exponent, _ := strings.Cut(pyRepr(f), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	var e int
	fmt.Sscan(exponent, &e) // none is 0
	return len(fraction) - e
}

// kramaF1 compares lists, without regard to order. Numbers are equal to 1e-6,
// texts as words are; with a judge (list_approximate), to one per cent and as the
// judge says. Two equal right items may be met by one of the answer.
func kramaF1(said, gold value, judge judgeTexts) (float64, map[string]float64, error) {
	s, saidText := said.(string)
	g, goldText := gold.(string)
	if judge == nil && saidText && goldText {
		return one(sameWords(s, g)), nil, nil
	}
	_, saidList := said.([]value)
	var ok bool
	if goldText && (saidList || judge != nil) { // otherwise its characters are the items
		if gold, ok = parsed(g, false); !ok {
			return 0, nil, nil
		}
	}
	if saidText {
		if said, ok = parsed(s, true); !ok {
			return 0, nil, nil
		}
	}
	golds, ok := each(gold)
	saids, okToo := each(said)
	if !ok || !okToo {
		return 0, nil, nil
	}
	if len(golds) == 0 {
		return one(len(saids) == 0), nil, nil
	}
	met, found := map[int]bool{}, 0
	for _, right := range golds {
		for i, item := range saids {
			same, err := sameItem(item, right, judge)
			if err != nil {
				return 0, nil, err
			}
			if same {
				met[i] = true
				found++
				break
			}
		}
	}
	return fOne(found, len(golds), len(met), len(saids))
}

// parsed is a text as the value it writes; literal lets it be Python's own.
func parsed(s string, literal bool) (value, bool) {
	v, err := parseJSON(s)
	if err != nil && literal {
		v, err = parseLiteral(strings.TrimLeft(s, " \t"))
	}
	return v, err == nil
}

func sameItem(said, gold value, judge judgeTexts) (bool, error) {
	if g, ok := gold.(string); ok {
		if judge != nil {
			return judge(pyStr(said), g)
		}
		return sameWords(pyStr(said), g), nil
	}
	y, ok := number(gold)
	if !ok {
		return judge == nil && pyEqual(said, gold), nil
	}
	x, ok := kramaNumber(said)
	if !ok {
		return false, nil
	}
	off := math.Abs(x-y) / max(math.Abs(y), 1e-12)
	if judge != nil {
		return off <= 0.01, nil
	}
	return off < 1e-6, nil
}

// fOne is the harmonic mean of found/right and met/said.
func fOne(found, right, met, said int) (float64, map[string]float64, error) {
	recall, precision := float64(found)/float64(right), 0.0
	if said > 0 {
		precision = float64(met) / float64(said)
	}
	parts := map[string]float64{"precision": precision, "recall": recall}
	if precision+recall == 0 {
		return 0, parts, nil
	}
	return 2 * precision * recall / (precision + recall), parts, nil
}
