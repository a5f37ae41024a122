package tables

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dsstar/agent/bench/runner"
	"dsstar/agent/brief"
)

// Compare compares two runs of one benchmark over the tasks of which both have a score, as Markdown:
// the means, whether the difference may be chance, and the tasks that changed.
func Compare(a, b runner.Result) (string, error) {
	if a.Bench != b.Bench {
		return "", fmt.Errorf("%s is a run of %s, and %s of %s", a.Path, a.Bench, b.Path, b.Bench)
	}
	ofB := map[string]runner.Record{}
	for _, record := range b.Records {
		ofB[record.Task] = record
	}
	both, test := [2]runner.Result{}, "McNemar"
	var changed [2][][]string // better, worse
	for _, was := range a.Records {
		is := ofB[was.Task]
		if figure(was, "score") == nil || figure(is, "score") == nil {
			continue
		}
		for i, record := range []runner.Record{was, is} {
			both[i].Items = append(both[i].Items, runner.Item{ID: was.Task})
			both[i].Records = append(both[i].Records, record)
			if *record.Score != math.Trunc(*record.Score) {
				test = "sign"
			}
		}
		if k := cmp.Compare(*was.Score, *is.Score); k != 0 {
			word := map[int]string{-1: "better", 1: "worse"}[k]
			changed[max(0, k)] = append(changed[max(0, k)], []string{was.Task, was.Level, word, said(was), said(is)})
		}
	}
	var rows [][]string
	for _, name := range []string{"score", "cost", "calls", "input tokens", "output tokens", "seconds"} {
		x, y := measured(both[0], name, column{}.has), measured(both[1], name, column{}.has)
		difference := absent
		if x != nil && y != nil {
			difference = number(y.Value - x.Value)
		}
		rows = append(rows, []string{name, valueText(x), valueText(y), difference})
	}
	better, worse := len(changed[0]), len(changed[1])
	return fmt.Sprintf("A: %s with %s (%s)\nB: %s with %s (%s)\n\n%s\n%d better in B, %d worse: p = %.4f (%s "+
		"test, two-sided, exact)\n\n%s", named(a), a.Model, a.Path, named(b), b.Model, b.Path,
		grid([]string{fmt.Sprintf("Over %d tasks", len(both[0].Items)), "A", "B", "B - A"}, rows), better, worse,
		signTest(better, worse), test,
		grid([]string{"Task", "Level", "B is", "A", "B"}, slices.Concat(changed[:]...))), nil
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

func said(r runner.Record) string {
	return fmt.Sprintf("%.4g: %s (%s)", *r.Score, brief.Clip(brief.OneLine(r.Answer), 60),
		cmp.Or(r.Cause, "right"))
}
