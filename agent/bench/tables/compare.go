package tables

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/brief"
)

// Compare compares two runs of one benchmark over the tasks that both have, as Markdown. The score
// of a repeated task is the mean of its repeats.
func Compare(a, b runner.Result) (string, error) {
	if a.Bench != b.Bench {
		return "", fmt.Errorf("%s is a run of %s, and %s of %s", a.Path, a.Bench, b.Path, b.Bench)
	}
	text := fmt.Sprintf("A: %s (%s)\nB: %s (%s)\n\n", named(a), a.Path, named(b), b.Path) +
		scoresOf(common(a, b), common(b, a))
	for _, d := range a.Differs(b.About) {
		text += fmt.Sprintf("- %s: %s in A, %s in B\n", d.Name, cmp.Or(d.Was, "the default"),
			cmp.Or(d.Is, "the default"))
	}
	return text, nil
}

// common returns what a run has of the tasks of which both have a result, by their ids.
func common(r, other runner.Result) runner.Result {
	has := map[string]bool{}
	for _, one := range other.Records {
		has[one.Task] = true
	}
	all := byTask(r, nil)
	r.Items, r.Records = nil, nil
	for _, t := range all {
		if t.records != nil && has[t.ID] {
			r.Items, r.Records = append(r.Items, t.Item), append(r.Records, t.records...)
		}
	}
	slices.SortFunc(r.Items, func(a, b runner.Item) int { return strings.Compare(a.ID, b.ID) })
	return r
}

// scoresOf compares the scores of runs of the same tasks and what they cost: the means, whether the
// difference may be chance, and the tasks that changed, with those that got better first.
func scoresOf(a, b runner.Result) string {
	var x, y []float64
	var changed [2][][]string // better, worse
	test, ofB := "McNemar", byTask(b, nil)
	for i, t := range byTask(a, nil) {
		was, okA := t.mean("score", len(t.records))
		is, okB := ofB[i].mean("score", len(ofB[i].records))
		if !okA || !okB {
			continue
		}
		x, y = append(x, was), append(y, is)
		if was != math.Trunc(was) || is != math.Trunc(is) {
			test = "sign"
		}
		if math.Abs(was-is) > 1e-9 {
			k := int(share[is < was])
			changed[k] = append(changed[k], []string{t.ID, t.Level, []string{"better", "worse"}[k],
				said(was, t.records[0]), said(is, ofB[i].records[0])})
		}
	}
	rows := [][]string{line("Score %", 2, bench.Share(x), bench.Share(y))}
	for _, f := range []struct { // means over tasks
		measure, name string
		decimals      int
	}{{"cost", "US dollars a task", 4}, {"calls", "Model calls a task", 1},
		{"tokens", "Tokens a task", 0}, {"seconds", "Seconds a task", 1}} {
		rows = append(rows, line(f.name, f.decimals, measured(a, f.measure, nil), measured(b, f.measure, nil)))
	}
	better, worse := len(changed[0]), len(changed[1])
	text := grid([]string{fmt.Sprintf("Over %d tasks", len(x)), "A", "B", "B - A"}, rows) +
		fmt.Sprintf("\n%d better in B, %d worse: p = %.4f (%s test, two-sided, exact)\n\n", better,
			worse, signTest(better, worse), test)
	if better+worse > 0 {
		text += grid([]string{"Task", "Level", "B is", "A", "B"}, slices.Concat(changed[:]...)) + "\n"
	}
	return text
}

// signTest returns the two-sided exact p-value for the numbers of tasks that got better and
// worse. For right and wrong answers this is McNemar's exact test.
func signTest(better, worse int) float64 {
	n, sum := better+worse, new(big.Int)
	for k := range min(better, worse) + 1 {
		sum.Add(sum, new(big.Int).Binomial(int64(n), int64(k)))
	}
	p, _ := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
	return min(1, 2*p)
}

// line compares two figures; nil is unknown.
func line(name string, decimals int, a, b *bench.Value) []string {
	difference := absent
	if a != nil && b != nil {
		difference = fmt.Sprintf("%+.*f", decimals, b.Value-a.Value)
	}
	return []string{name, valueText(a, decimals), valueText(b, decimals), difference}
}

func said(score float64, r runner.Record) string {
	return fmt.Sprintf("%.4g: %s (%s)", score, brief.Clip(brief.OneLine(r.Answer), 60),
		cmp.Or(r.Cause, "right"))
}
